package workspace

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/store"
)

// FullTwins lists the other folders of a conversation that still have records.
func (w *Workspace) FullTwins(e store.Entry) (full []string) {
	for _, name := range e.Twins {
		if w.Store.HasRecords(name) {
			full = append(full, name)
		}
	}
	return full
}

// MergeTwins moves the records of a conversation in several folders into the logs of the
// first folder, before a write that the user asked for.
func (w *Workspace) MergeTwins(e store.Entry) error {
	if len(e.Twins) == 0 || w.GitOperation() != "" {
		return nil
	}
	c, err := w.Store.Open(e)
	if err != nil {
		return err
	}
	defer c.Close()
	if w.Away(c) != "" {
		return nil
	}
	return c.Update(func(*store.Tx, *schema.Session) error { return nil })
}

// Twinned returns the folders of a conversation if several have records of it, so that
// the writer merges them. If the cache has no current index of the conversations, it
// builds one; that is rare, because folders must have come or gone.
func (w *Workspace) Twinned(id string) (store.Entry, bool) {
	known, ok := w.readIDs()
	if !ok {
		w.KeepIDs()
		known, ok = w.readIDs()
	}
	folders := known.Folders[schema.IDKey(strings.ToLower(id))]
	if !ok || len(folders) == 0 || !slices.ContainsFunc(folders[1:], w.Store.HasRecords) {
		return store.Entry{}, false
	}
	return store.Entry{Path: folders[0], Twins: folders[1:]}, true
}
