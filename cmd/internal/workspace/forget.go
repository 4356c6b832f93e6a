package workspace

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// A removal is recorded before anything is deleted, so a kill in between brings nothing
// back. A failed removal is undone; otherwise what is left would remain and never be
// captured again.

// A removalNote holds what was recorded for a removal.
type removalNote struct {
	w      *Workspace
	entry  store.Entry
	place  registry.Place
	before bool                 // it was already removed elsewhere
	record string               // the file for other machines; empty if it already existed
	noted  []int                // indexes of sources
	unbind [][]registry.Binding // for each of them
}

// noteRemoval records a removal in the user's registry and for other machines.
func (w *Workspace) noteRemoval(e store.Entry, place registry.Place, roots map[string][]string) (n *removalNote, err error) {
	n = &removalNote{w: w, entry: e, place: place}
	if n.before, err = w.ConversationRemoved(e.Session.ID); err != nil {
		return n, err
	}
	for i, src := range e.Session.Sources {
		gone := registry.Removal{Place: place, Segment: segmentOf(e, src), Roots: roots[src.Agent+"\n"+src.NativeID]}
		var dropped []registry.Binding
		if err := w.Registry.Update(src.Agent, src.NativeID, func(s *registry.Session) {
			s.Removed = append(s.Removed, gone)
			s.Bindings = slices.DeleteFunc(s.Bindings, func(b registry.Binding) bool {
				same := w.SamePlace(b.Place)
				if same {
					dropped = append(dropped, b)
				}
				return same
			})
		}); err != nil {
			return n, err
		}
		n.noted, n.unbind = append(n.noted, i), append(n.unbind, dropped)
	}
	if err := errors.Join(w.Registry.Remove(schema.IDKey(e.Session.ID), place), w.dropKept(e.Session.ID)); err != nil {
		return n, err
	}
	known := w.Store.ListFiles(RemovedDir)
	if err := w.writeRemoval(e); err != nil {
		return n, err
	}
	for _, name := range w.Store.ListFiles(RemovedDir) {
		if !slices.Contains(known, name) && removalOf(name, e.Session.ID) {
			n.record = path.Join(RemovedDir, name)
		}
	}
	return n, nil
}

func segmentOf(e store.Entry, src schema.Source) registry.Segment {
	return registry.Segment{Path: e.Path, ID: e.Session.ID, From: src.From, After: src.After}
}

// takeBack undoes what noteRemoval recorded.
func (n *removalNote) takeBack() error {
	var errs []error
	for j, i := range n.noted {
		src := n.entry.Session.Sources[i]
		errs = append(errs, n.w.Registry.Update(src.Agent, src.NativeID, func(s *registry.Session) {
			for k, r := range slices.Backward(s.Removed) {
				if r.Workspace == n.place.Workspace && r.Segment == segmentOf(n.entry, src) {
					s.Removed = slices.Delete(s.Removed, k, k+1)
					break
				}
			}
			s.Bindings = append(s.Bindings, n.unbind[j]...)
		}))
	}
	if !n.before {
		errs = append(errs, n.w.Registry.BringBack(schema.IDKey(n.entry.Session.ID), func(p registry.Place) bool { return p.Workspace == n.place.Workspace }))
	}
	if n.record != "" {
		errs = append(errs, n.w.Store.RemoveFile(n.record))
	}
	return errors.Join(errs...)
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

// removalFailed undoes the record of a failed removal and reports what is left. If
// nothing is left, the removal stands.
func (w *Workspace) removalFailed(n *removalNote, paths []string, cause error) error {
	left := w.remains(paths)
	if len(left) == 0 {
		return errors.Join(cause, w.Registry.EndRemoval(n.place.Workspace, n.entry.Session.ID))
	}
	if err := n.takeBack(); err != nil {
		return fmt.Errorf("%w; what is left is in %s, and that it is not removed could not be noted (%w): cortext rm removes it, cortext import captures it again",
			cause, strings.Join(left, ", "), err)
	}
	return errors.Join(fmt.Errorf("%w; what is left is in %s, and is captured as before: when that is mended, run cortext rm again", cause, strings.Join(left, ", ")),
		w.Registry.EndRemoval(n.place.Workspace, n.entry.Session.ID))
}

// interrupted warns of removals that were killed.
func (w *Workspace) interrupted() (warnings []string) {
	here := realDir(w.Store.Root())
	for _, v := range w.Registry.Removals(here) {
		left := w.remains(v.Paths)
		if len(left) == 0 {
			_ = w.Registry.EndRemoval(here, v.ID) // the deletion was already complete
			continue
		}
		warnings = append(warnings, fmt.Sprintf("the removal of %s was interrupted: cortext rm %s finishes it", strings.Join(left, ", "), path.Base(left[0])))
	}
	return warnings
}
