package capture

import (
	"errors"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// waiting moves the records that wait outside the work tree into the logs. It recreates
// no folder unless the user asks for that.
type waiting struct {
	ws    *workspace.Workspace
	homes homes
}

// moveBack moves waiting records into the logs whose folders are back. With Restore it
// moves all waiting records and everything that git removed, and recreates the folders.
func (w *waiting) moveBack(o SyncOptions) error {
	if w.ws.Tree.Operation() != "" {
		return nil
	}
	var errs []error
	for _, path := range w.ws.Store.Kept().WaitingPaths() {
		conv, err := w.ws.Store.Kept().Waiting(path, "")
		if err == nil {
			err = w.moveOne(conv, path, o)
		}
		errs = append(errs, err)
	}
	if !o.Restore {
		return errors.Join(errs...)
	}
	for _, path := range w.ws.Store.Kept().TakenPaths() {
		conv, err := w.ws.Store.Kept().Taken(path)
		if err == nil {
			err = w.moveOne(conv, path, o)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, w.rewriteLost(), w.completeForks())...)
}

// rewriteLost rewrites every session.json that a merge deleted or left conflict markers in.
// Git deletes it if one side removed the conversation and the other added to a log. Calls
// without a message are leftovers of a removed conversation.
func (w *waiting) rewriteLost() error {
	entries, err := w.ws.Store.Outlines()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !e.LeftByMerge() || e.Session.MessageCount == 0 {
			continue
		}
		conv, err := w.ws.Conversation(e.Path)
		var gone bool
		if err == nil {
			gone, err = w.holdsRemoved(conv)
		}
		if err == nil && !gone && w.ws.Tree.Away(conv) == "" {
			_, err = w.ws.Finish(conv, workspace.Finishing{Recount: true})
		}
		if conv != nil {
			err = errors.Join(err, conv.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// completeForks adds to each fork what it lacks of the messages that it shares with the
// conversation it was forked from. If git took both, the session of the fork may have been captured
// before that of the other, when rejoin did not find them.
func (w *waiting) completeForks() error {
	entries, err := w.ws.Store.Outlines()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if l := e.Session.Links; l == nil || l.MessageID == "" || e.Waiting || len(e.Damage) > 0 {
			continue
		}
		conv, err := w.ws.Open(e)
		if err == nil && w.ws.Tree.Away(conv) == "" {
			err = w.completeFork(conv, e.Session)
		}
		if conv != nil {
			err = errors.Join(err, conv.Close())
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (w *waiting) completeFork(conv *store.Conversation, s *schema.Session) error {
	tx, err := conv.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if held, err := tx.Holds(s.Links.MessageID); err != nil || held {
		return err
	}
	shared, _, err := fork.Shared(w.ws.Conversations, s)
	if err != nil || len(shared.Messages) == 0 {
		return nil // a check reports what is missing
	}
	lacking := map[string]bool{}
	for _, m := range shared.Messages {
		held, err := tx.Holds(m.ID)
		if err != nil {
			return err
		}
		lacking[m.ID] = !held
	}
	shared.Messages = slices.DeleteFunc(shared.Messages, func(m schema.Message) bool { return !lacking[m.ID] })
	shared.Tools = slices.DeleteFunc(shared.Tools, func(t schema.Tool) bool { return !lacking[t.MessageID] })
	if err := tx.Append(shared); err != nil {
		return err
	}
	if err := w.ws.FinishIn(tx, conv, workspace.Finishing{Recount: true}); err != nil {
		return err
	}
	return tx.Commit()
}

// holdsRemoved reports whether a log has messages of a session whose conversation the
// user removed, here or elsewhere. Such a folder is left as it is.
func (w *waiting) holdsRemoved(conv *store.Conversation) (bool, error) {
	asked := map[string]bool{}
	for m, err := range conv.Messages() {
		if err != nil || asked[m.Source] {
			continue // check reports what cannot be read
		}
		asked[m.Source] = true
		for _, agent := range w.ws.Env.Agents {
			if gone, err := w.ws.Removed.Segments(agent.Name(), m.Source); err != nil || len(gone) > 0 {
				return len(gone) > 0, err
			}
		}
	}
	return false, nil
}

// moveOne moves the kept records of a conversation if its folder is in the work tree,
// here or under another name, or if Restore is set. It deletes kept records of a
// conversation that the user has since removed.
func (w *waiting) moveOne(kept *store.Conversation, path string, o SyncOptions) (err error) {
	s, _, err := kept.Session()
	if err = errors.Join(err, kept.Close()); err != nil {
		return err
	}
	if gone, err := w.ws.Removed.Conversation(s.ID); err != nil || gone {
		return errors.Join(err, w.ws.Store.Kept().Delete(kept))
	}
	conv, err := w.homes.findFolder(&binding.Segment{Segment: registry.Segment{Path: path, ID: s.ID}})
	if err != nil {
		return err
	}
	if conv == nil {
		if !o.Restore || w.ws.Tree.Outside(path) {
			return nil
		}
		if conv, err = w.ws.Store.Kept().MakeFolder(path, s.ID); err != nil {
			return err
		}
	}
	defer conv.Close()
	if o.Restore {
		conv.TakeBack(path)
	}
	if w.ws.Tree.Away(conv) != "" || !conv.HasMore() {
		return nil
	}
	return conv.Update(func(tx *store.Tx, _ *schema.Session) error {
		return w.ws.FinishIn(tx, conv, workspace.Finishing{Recount: true})
	})
}
