package registry

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"cortext/schema"
)

// RemovedConversations are the conversations that the user removed on this machine, by id
// key.
type RemovedConversations struct{ files files }

func (l RemovedConversations) file(key string) string { return l.files.file("removed", key) }

// Add records that the user removed a conversation, by its id key, from the workspace
// at a place. This includes the messages of sessions that are unknown here.
func (l RemovedConversations) Add(key string, p Place) error {
	return l.files.locked(func() error {
		places, err := l.from(key)
		if err != nil {
			return err
		}
		return l.files.write(l.file(key), append(places, p))
	})
}

// BringBack undoes Add.
func (l RemovedConversations) BringBack(key string, same func(Place) bool) error {
	if places, err := l.from(key); l.files.known() && err == nil && len(places) == 0 {
		return nil // which also works where nothing can be locked or written
	}
	return l.files.locked(func() error {
		places, err := l.from(key)
		if err != nil || len(places) == 0 {
			return err
		}
		places = slices.DeleteFunc(places, same)
		if len(places) == 0 {
			return os.Remove(l.file(key))
		}
		return l.files.write(l.file(key), places)
	})
}

// Has reports whether the user removed a conversation from a workspace.
func (l RemovedConversations) Has(key string, same func(Place) bool) (bool, error) {
	places, err := l.from(key)
	return slices.ContainsFunc(places, same), err
}

// Any reports whether the user removed any conversation on this machine.
func (l RemovedConversations) Any() bool {
	files, err := os.ReadDir(l.files.path("removed"))
	return len(files) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// from returns the places that a conversation was removed from.
func (l RemovedConversations) from(key string) (places []Place, err error) {
	err = readAny(l.file(key), &places, "mend the file or delete it")
	return places, err
}

// A Removing is a removal of a conversation in progress. Its note is deleted when the
// removal ends, so a leftover note means that the removal was killed.
type Removing struct {
	ID    string   `json:"id"`    // of the conversation
	Paths []string `json:"paths"` // of its folders, relative to the workspace
}

// UnfinishedRemovals are the notes of the removals in progress in one workspace.
type UnfinishedRemovals struct{ notes }

// UnfinishedRemovals returns the notes of the removals in progress in a workspace.
func (r Registry) UnfinishedRemovals(workspace string) UnfinishedRemovals {
	return UnfinishedRemovals{r.files.notesOf("removing", workspace)}
}

// Begin records that a conversation is being removed.
func (l UnfinishedRemovals) Begin(v Removing) error { return l.write(schema.IDKey(v.ID), v) }

// End removes the note of Begin.
func (l UnfinishedRemovals) End(id string) error { return l.remove(schema.IDKey(id)) }

// List returns the removals in progress.
func (l UnfinishedRemovals) List() (list []Removing) {
	for _, id := range l.ids() {
		var v Removing
		if l.read(id, &v) {
			list = append(list, v)
		}
	}
	return list
}
