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
// newline) to the lines with which forks of its sessions may begin.
func (w *Workspace) Forget(ctx context.Context, e store.Entry, roots map[string][]string) error {
	if op := w.Tree.Operation(); op != "" {
		return fmt.Errorf("%s: finish or abort it, then remove the conversation", underWay(op))
	}
	if err := e.Unread(); err != nil {
		return fmt.Errorf("remove %q: which sessions it has cannot be known: %w", e.Path, err)
	}
	paths := append([]string{e.Path}, e.Twins...)
	removals := w.unfinishedRemovals()
	if err := removals.Begin(registry.Removing{ID: e.Session.ID, Paths: paths}); err != nil {
		return err
	}
	note, err := w.Removed.Note(ctx, e, roots)
	if err == nil {
		err = w.deleteFolders(paths)
	}
	if err == nil {
		return removals.End(e.Session.ID)
	}
	left := w.remains(paths)
	if len(left) == 0 { // the removal succeeded
		return errors.Join(err, removals.End(e.Session.ID))
	}
	if undoErr := note.TakeBack(); undoErr != nil {
		return fmt.Errorf("%w; what is left is in %s, and the record of the removal remains (%w): cortext rm removes the rest, cortext import captures it again",
			err, strings.Join(left, ", "), undoErr)
	}
	return errors.Join(fmt.Errorf("%w; what is left is in %s and is still captured: fix the problem and run cortext rm again", err, strings.Join(left, ", ")),
		removals.End(e.Session.ID))
}

// unfinishedRemovals returns the notes of the removals in progress in this workspace.
func (w *Workspace) unfinishedRemovals() registry.UnfinishedRemovals {
	return w.Registry.UnfinishedRemovals(w.Here.Workspace())
}

// deleteFolders deletes the folders of a conversation.
func (w *Workspace) deleteFolders(paths []string) error {
	for _, name := range paths {
		c, err := w.Conversation(name)
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
func (w *Workspace) remains(paths []string) []string {
	waiting := w.Store.WaitingPaths()
	return slices.DeleteFunc(slices.Clone(paths), func(name string) bool {
		c, err := w.Store.Conversation(name)
		if err == nil {
			_ = c.Close()
		}
		return errors.Is(err, store.ErrNotFound) && !slices.Contains(waiting, name)
	})
}

// interrupted warns of removals that were killed.
func (w *Workspace) interrupted() (warnings []string) {
	removals := w.unfinishedRemovals()
	for _, v := range removals.List() {
		left := w.remains(v.Paths)
		if len(left) == 0 {
			_ = removals.End(v.ID) // the deletion was already complete
			continue
		}
		warnings = append(warnings, fmt.Sprintf("the removal of %s was interrupted: cortext rm %s finishes it", strings.Join(left, ", "), path.Base(left[0])))
	}
	return warnings
}
