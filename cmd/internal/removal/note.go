package removal

import (
	"context"
	"errors"
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// A Note is the record of one removal, made before anything is deleted.
type Note struct {
	r      *Removed
	entry  store.Entry
	place  registry.Place
	before bool                 // whether it was already removed elsewhere
	record string               // the removal file; empty if it already existed
	noted  []int                // indexes of sources
	unbind [][]registry.Binding // their previous bindings
}

// Note records a removal in the user's registry and for other machines. roots maps agent
// and native id (joined by a newline) to the lines that forks of the conversation's
// sessions may begin with.
func (r *Removed) Note(ctx context.Context, e store.Entry, roots map[string][]string) (n *Note, err error) {
	n = &Note{r: r, entry: e, place: r.here.KnowClones(ctx)}
	gone, err := r.removed(e.Session.ID)
	if err == nil && gone {
		n.before, err = r.Conversation(e.Session.ID)
	}
	if err != nil {
		return n, err
	}
	for i, src := range e.Session.Sources {
		gone := registry.Removal{Place: n.place, Segment: segmentOf(e, src), Roots: roots[src.Agent+"\n"+src.NativeID]}
		var dropped []registry.Binding
		if err := r.registry.Sessions.Update(src.Agent, src.NativeID, func(s *registry.Session) {
			s.Removed = append(s.Removed, gone)
			dropped = s.Unbind(r.here.Same, func(seg registry.Segment) bool {
				return seg.From == src.From || schema.SameConversation(seg.ID, e.Session.ID)
			})
		}); err != nil {
			return n, err
		}
		n.noted, n.unbind = append(n.noted, i), append(n.unbind, dropped)
	}
	if err := r.registry.Removed.Add(schema.IDKey(e.Session.ID), n.place); err != nil {
		return n, err
	}
	if r.resumed == nil || r.resumed[schema.IDKey(e.Session.ID)] {
		if err := r.dropResumed(e.Session.ID); err != nil {
			return n, err
		}
	}
	n.record, err = r.files.record(e)
	return n, err
}

func segmentOf(e store.Entry, src schema.Source) registry.Segment {
	return registry.Segment{Path: e.Path, ID: e.Session.ID, From: src.From, After: src.After}
}

// TakeBack undoes what Note recorded.
func (n *Note) TakeBack() error {
	var errs []error
	for j, i := range n.noted {
		src := n.entry.Session.Sources[i]
		errs = append(errs, n.r.registry.Sessions.Update(src.Agent, src.NativeID, func(s *registry.Session) {
			for k, r := range slices.Backward(s.Removed) {
				if r.Workspace == n.place.Workspace && r.Segment == segmentOf(n.entry, src) {
					s.Removed = slices.Delete(s.Removed, k, k+1)
					break
				}
			}
			for _, b := range n.unbind[j] {
				s.Bind(b.Place, func(p registry.Place) bool { return p.Workspace == b.Workspace }, b.Segments)
			}
		}))
	}
	if !n.before {
		errs = append(errs, n.r.registry.Removed.BringBack(schema.IDKey(n.entry.Session.ID), func(p registry.Place) bool { return p.Workspace == n.place.Workspace }))
	}
	if n.record != "" {
		errs = append(errs, n.r.store.RemoveFile(n.record))
	}
	return errors.Join(errs...)
}
