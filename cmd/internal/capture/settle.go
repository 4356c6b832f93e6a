package capture

import (
	"errors"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// settle moves waiting records into the logs whose folders are back. With restore it
// moves all waiting records and everything that git took, and recreates the folders.
func (c *Capture) settle(restore bool) error {
	if c.ws.Tree.Operation() != "" {
		return nil
	}
	var errs []error
	for _, path := range c.ws.Store.WaitingPaths() {
		conv, err := c.ws.Store.Waiting(path, "")
		if err == nil {
			err = c.settleOne(conv, path, restore)
		}
		errs = append(errs, err)
	}
	if !restore {
		return errors.Join(errs...)
	}
	for _, path := range c.ws.Store.TakenPaths() {
		conv, err := c.ws.Store.Taken(path)
		if err == nil {
			err = c.settleOne(conv, path, restore)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, c.mend())...)
}

// mend rewrites every session.json that a merge deleted or left conflict markers in. Git
// deletes it if one side removed the conversation and the other added to a log. Calls
// without a message are leftovers of a removed conversation.
func (c *Capture) mend() error {
	entries, err := c.ws.Store.List()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !e.LeftByMerge() || e.Session.MessageCount == 0 {
			continue
		}
		conv, err := c.ws.Conversation(e.Path)
		var gone bool
		if err == nil {
			gone, err = c.holdsRemoved(conv)
		}
		if err == nil && !gone && c.ws.Tree.Away(conv) == "" {
			_, err = c.ws.Finish(conv, workspace.Finishing{Recount: true})
		}
		if conv != nil {
			err = errors.Join(err, conv.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// holdsRemoved reports whether a log has messages of a session whose conversation the
// user removed, here or elsewhere. Such a folder is left as it is.
func (c *Capture) holdsRemoved(conv *store.Conversation) (bool, error) {
	asked := map[string]bool{}
	for m, err := range conv.Messages() {
		if err != nil || asked[m.Source] {
			continue // check reports what cannot be read
		}
		asked[m.Source] = true
		for _, agent := range c.ws.Env.Agents {
			if gone, err := c.ws.Removed.Segments(agent.Name(), m.Source); err != nil || len(gone) > 0 {
				return len(gone) > 0, err
			}
		}
	}
	return false, nil
}

// settleOne moves the kept records of a conversation if its folder is in the work tree,
// here or under another name, or if restore is set. It deletes kept records of a
// conversation that the user has since removed.
func (c *Capture) settleOne(kept *store.Conversation, path string, restore bool) (err error) {
	s, _, err := kept.Session()
	if err = errors.Join(err, kept.Close()); err != nil {
		return err
	}
	if gone, err := c.ws.Removed.Conversation(s.ID); err != nil || gone {
		return errors.Join(err, kept.DeleteWaiting())
	}
	conv, err := c.findFolder(&Segment{Segment: registry.Segment{Path: path, ID: s.ID}})
	if err != nil {
		return err
	}
	if conv == nil {
		if !restore || c.ws.Tree.Outside(path) {
			return nil
		}
		if conv, err = c.ws.Store.MakeFolder(path, s.ID); err != nil {
			return err
		}
	}
	defer conv.Close()
	if restore {
		conv.TakeBack(path)
	}
	if c.ws.Tree.Away(conv) != "" || !conv.HasMore() {
		return nil
	}
	return conv.Update(func(tx *store.Tx, _ *schema.Session) error {
		return c.ws.FinishIn(tx, conv, workspace.Finishing{Recount: true})
	})
}
