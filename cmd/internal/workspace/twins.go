package workspace

import (
	"cortext/schema"
	"cortext/store"
)

// FullTwins lists the other folders of a conversation that still have records.
func (c Conversations) FullTwins(e store.Entry) (full []string) {
	for _, name := range e.Twins {
		if c.Store.HasRecords(name) {
			full = append(full, name)
		}
	}
	return full
}

// MergeTwins moves the records of a conversation in several folders into the logs of the
// first folder, before a write that the user asked for.
func (c Conversations) MergeTwins(e store.Entry) error {
	if len(e.Twins) == 0 || c.Tree.Operation() != "" {
		return nil
	}
	first, err := c.Store.Open(e)
	if err != nil {
		return err
	}
	defer first.Close()
	if c.Tree.Away(first) != "" {
		return nil
	}
	return first.Update(func(*store.Tx, *schema.Session) error { return nil })
}
