package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"cortext/cmd/internal/registry"
	"cortext/store"
)

// A removal is recorded before anything is deleted, so a kill in between brings nothing
// back. A failed removal is undone; otherwise what is left would remain and never be
// captured again.

// Forget removes a conversation with its folder and records that its parts of the agents'
// transcripts must not be captured again. roots maps agent and native id (joined by a
// newline) to the lines that forks of its sessions may begin with.
func (w *Workspace) Forget(ctx context.Context, e store.Entry, roots map[string][]string) error {
	if op := w.Tree.Operation(); op != "" {
		return fmt.Errorf("%s: finish or abort it, then remove the conversation", underWay(op))
	}
	if err := e.Unread(); err != nil {
		return fmt.Errorf("remove %q: cannot find out which sessions it has: %w", e.Path, err)
	}
	paths := e.Folders()
	r := w.removing()
	if err := r.notes.Begin(registry.Removing{ID: e.Session.ID, Paths: paths}); err != nil {
		return err
	}
	note, err := w.Removed.Note(ctx, e, roots)
	if err == nil {
		err = r.delete(paths)
	}
	if err == nil {
		return errors.Join(r.notes.End(e.Session.ID), w.Repository.Forget(ctx, e, paths...))
	}
	left := r.remains(paths)
	if len(left) == 0 { // the removal succeeded
		return errors.Join(err, r.notes.End(e.Session.ID))
	}
	if undoErr := note.TakeBack(); undoErr != nil {
		return fmt.Errorf("%w; what is left is in %s, and the record of the removal remains (%w): cortext rm removes the rest, cortext import captures it again",
			err, strings.Join(left, ", "), undoErr)
	}
	return errors.Join(fmt.Errorf("%w; what is left is in %s and is still captured: fix the problem and run cortext rm again", err, strings.Join(left, ", ")),
		r.notes.End(e.Session.ID))
}

// removing deletes the folders of conversations, with a note for as long as that takes.
type removing struct {
	conversations Conversations
	notes         registry.UnfinishedRemovals
}

func (w *Workspace) removing() removing {
	return removing{w.Conversations, w.Registry.UnfinishedRemovals(w.Here.Workspace())}
}

// delete deletes the folders of a conversation.
func (r removing) delete(paths []string) error {
	for _, name := range paths {
		c, err := r.conversations.Conversation(name)
		if err != nil {
			return err
		}
		if err := errors.Join(c.Delete(), c.Close()); err != nil {
			return err
		}
	}
	return nil
}

// remains returns the folders of a conversation that still have something in them.
func (r removing) remains(paths []string) []string {
	waiting := r.conversations.Store.Kept().WaitingPaths()
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		c, err := r.conversations.Store.Conversation(name)
		if err == nil {
			_ = c.Close()
		}
		return errors.Is(err, store.ErrNotFound) && !slices.Contains(waiting, name)
	})
}

// interrupted warns of removals that were killed.
func (r removing) interrupted() (warnings []string) {
	for _, v := range r.notes.List() {
		left := r.remains(v.Paths)
		if len(left) == 0 {
			_ = r.notes.End(v.ID) // the deletion was already complete
			continue
		}
		warnings = append(warnings, fmt.Sprintf("the removal of %s was interrupted: cortext rm %s finishes it", strings.Join(left, ", "), path.Base(left[0])))
	}
	return warnings
}
