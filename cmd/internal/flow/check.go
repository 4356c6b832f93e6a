package flow

import (
	"context"
	"iter"
	"path"

	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// Check is [workspace.Workspace.Check] and also reports conversations whose missing
// messages only a checkpoint shows.
func (w *Workspace) Check(ctx context.Context, note func(string)) iter.Seq[store.Damage] {
	return func(yield func(store.Damage) bool) {
		named := map[string]bool{}
		for d := range w.Workspace.Check(ctx, note) {
			named[d.File] = true
			if !yield(d) {
				return
			}
		}
		entries, err := w.Store.List()
		if err != nil {
			note("which messages were captured was not compared: " + err.Error())
		}
		for _, e := range entries {
			file := path.Join(e.Path, store.MessagesLog)
			if gone, err := w.Removed.Conversation(e.Session.ID); named[file] || err == nil && gone {
				continue
			}
			lost, err := w.shortened(ctx, e)
			if err != nil {
				note(file + ": " + err.Error())
			}
			switch {
			case lost == nil:
			case lost.Staged(ctx, w.Tree):
				note(lost.String())
			case !yield(lost.Damage()):
				return
			}
		}
	}
}

// shortened returns what is missing of a conversation according to a checkpoint, or nil.
func (w *Workspace) shortened(ctx context.Context, e store.Entry) (*workspace.Lost, error) {
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	n, is, err := w.Shortened(c, e.Session)
	if err != nil || !is {
		return nil, err
	}
	return w.Tree.FindLost(ctx, c, n)
}
