package registry

import "cortext/schema"

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
