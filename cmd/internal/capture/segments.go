package capture

import (
	"errors"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/schema"
	"cortext/store"
)

// segmentsOf lists the segments of a native session: first the one that begins with the
// session, then the others. Only the transcript shows their true order.
func (bd *Binder) segmentsOf(all []store.Entry, agent, nativeID string) ([]binding.Segment, error) {
	var list []binding.Segment
	known, err := bd.ws.Registry.Sessions.Get(agent, nativeID)
	if err != nil {
		return nil, err
	}
	for _, r := range known.In(bd.ws.Here.Same) {
		list = append(list, binding.Segment{Segment: r})
	}
	for _, e := range slices.Backward(all) { // the most recently active comes last
		for i, src := range e.Session.Sources {
			if src.Agent != agent || src.NativeID != nativeID {
				continue
			}
			s := binding.Segment{Segment: registry.Segment{Path: e.Path, ID: e.Session.ID, From: src.From, After: src.After, Fork: i > 0 && src.After == ""}}
			at := slices.IndexFunc(list, func(have binding.Segment) bool { return have.From == s.From })
			if at < 0 {
				list = append(list, s)
			} else if schema.SameConversation(list[at].ID, s.ID) {
				s.Resumed = list[at].Resumed
				list[at] = s // its folder here
			}
		}
	}
	gone, err := bd.ws.Removed.Segments(agent, nativeID)
	if err != nil {
		return nil, err
	}
	if !binding.HasBeginning(list) {
		s, ok, err := bd.unlisted(all, nativeID, gone)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, s)
		}
	}
	for _, r := range gone {
		if at := slices.IndexFunc(list, func(have binding.Segment) bool { return have.From == r.From }); at >= 0 {
			list[at].Removed = true // its folder is on another machine or branch
		} else {
			list = append(list, binding.Segment{Segment: r, Removed: true})
		}
	}
	if first := binding.Opening(list); first > 0 {
		s := list[first]
		list = slices.Insert(slices.Delete(list, first, first+1), 0, s)
	}
	return list, nil
}

// unlisted finds a segment of a session in the log of a conversation that no source lists,
// because git removed its session.json. It ignores removed conversations.
func (bd *Binder) unlisted(all []store.Entry, nativeID string, gone []registry.Segment) (s binding.Segment, found bool, err error) {
	for _, e := range all {
		if !e.LeftByMerge() || slices.ContainsFunc(gone, func(r registry.Segment) bool { return r.Path == e.Path }) {
			continue
		}
		conv, err := bd.ws.Store.Open(e)
		if err != nil {
			return s, false, err
		}
		first, begins, err := beginningIn(conv, nativeID)
		if err = errors.Join(err, conv.Close()); err != nil {
			return s, false, err
		}
		if first == nil {
			continue
		}
		s.Segment = registry.Segment{Path: e.Path, ID: e.Session.ID, From: binding.MessageFrom + first.ID}
		if begins {
			s.From, s.After = "", first.ParentID
		}
		return s, true, nil
	}
	return s, false, nil
}

// beginningIn returns the first message of a session in a log, or nil. begins reports
// whether the session begins with it: then it follows no message, or a message of another
// session in the log. The first message of a later segment follows a message of its own
// session that is elsewhere.
func beginningIn(conv *store.Conversation, nativeID string) (first *schema.Message, begins bool, err error) {
	others := map[string]bool{}
	for m, err := range store.Undamaged(conv.Messages()) {
		switch {
		case err != nil:
			return nil, false, err
		case m.Source != nativeID:
			others[m.ID] = true
		case first == nil:
			first = &m
		}
	}
	return first, first != nil && (first.ParentID == "" || others[first.ParentID]), nil
}
