package workspace

import (
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
	if len(e.Twins) == 0 || w.Tree.Operation() != "" {
		return nil
	}
	c, err := w.Store.Open(e)
	if err != nil {
		return err
	}
	defer c.Close()
	if w.Tree.Away(c) != "" {
		return nil
	}
	return c.Update(func(*store.Tx, *schema.Session) error { return nil })
}
