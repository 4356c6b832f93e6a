package capture

import (
	"errors"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// segmentsOf lists the segments of a native session: first the one that begins with the
// session, then the others. Only the transcript shows their true order.
func (bd *Binder) segmentsOf(all []store.Entry, agent, nativeID string) ([]Segment, error) {
	var list []Segment
	known, err := bd.ws.Registry.Session(agent, nativeID)
	if err != nil {
		return nil, err
	}
	for _, r := range known.In(bd.ws.Here.Same) {
		list = append(list, Segment{Segment: r})
	}
	for _, e := range slices.Backward(all) { // the most recently active comes last
		for i, src := range e.Session.Sources {
			if src.Agent != agent || src.NativeID != nativeID {
				continue
			}
			s := Segment{Segment: registry.Segment{Path: e.Path, ID: e.Session.ID, From: src.From, After: src.After, Fork: i > 0 && src.From == "" && src.After == ""}}
			at := slices.IndexFunc(list, func(have Segment) bool { return have.From == s.From })
			if at < 0 {
				list = append(list, s)
			} else if schema.SameConversation(list[at].ID, s.ID) {
				s.Kept = list[at].Kept
				list[at] = s // the folder that it has here
			}
		}
	}
	gone, err := bd.ws.Removed.Segments(agent, nativeID)
	if err != nil {
		return nil, err
	}
	if !hasBeginning(list) {
		s, ok, err := bd.unlisted(all, nativeID, gone)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, s)
		}
	}
	for _, r := range gone {
		if at := slices.IndexFunc(list, func(have Segment) bool { return have.From == r.From }); at >= 0 {
			list[at].Removed = true // its folder is on another machine or branch
		} else {
			list = append(list, Segment{Segment: r, Removed: true})
		}
	}
	first := slices.IndexFunc(list, func(s Segment) bool { return s.From == "" })
	if first > 0 {
		s := list[first]
		list = slices.Insert(slices.Delete(list, first, first+1), 0, s)
	}
	return list, nil
}

// unlisted finds a segment of a session in the log of a conversation whose session.json
// git took, so that no source lists it, and that was not removed.
func (bd *Binder) unlisted(all []store.Entry, nativeID string, gone []registry.Segment) (s Segment, found bool, err error) {
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
		s.Segment = registry.Segment{Path: e.Path, ID: e.Session.ID, From: messageFrom + first.ID}
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
	for m, err := range conv.Messages() {
		var damage *store.Damage
		switch {
		case errors.As(err, &damage):
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

// continues reports whether a session with these segments continues one that was
// captured.
func continues(segments []Segment) bool {
	return len(segments) > 0 && (segments[0].After != "" || segments[0].Fork)
}

// messageFrom prefixes the From of a segment that is identified by its first message, as
// in a fork of a session, whose prompts have other ids.
const messageFrom = "message:"

// timeFrom prefixes the From of a segment whose agent gives its prompts no ids (Claude
// Code before 2.1.197). The rest is the time when the prompt was submitted.
const timeFrom = "time:"

// submitted is the longest time between an agent's call of the hook and the timestamp of
// the prompt it writes. With a coarse clock, the timestamp may also be earlier.
const submitted = 2 * time.Second

// startIn returns the message that a segment begins with, or "" if it begins with the
// session or before the part that was read.
func (s Segment) startIn(t *inject.Transcript) string {
	at, byTime := strings.CutPrefix(s.From, timeFrom)
	message, byMessage := strings.CutPrefix(s.From, messageFrom)
	for _, cmd := range t.Commands {
		switch {
		case s.From == "":
		case byTime && s.Start != "":
			if cmd.Message == s.Start {
				return s.Start
			}
		case byTime && !cmd.Time.Before(schema.Time(at).Time().Add(-submitted)), byMessage && cmd.Message == message, cmd.PromptID == s.From:
			return cmd.Message
		}
	}
	return ""
}

// inOrder sorts segments into session order and returns the index of the segment that the
// transcript begins in. roots are the lines that it began with before. Segments that have
// not started yet sort last.
func inOrder(segments []Segment, t *inject.Transcript, roots []string) int {
	place := func(s Segment) int {
		id := s.startIn(t)
		if s.isOpen(t, roots) {
			return -1
		}
		for i, cmd := range t.Commands {
			if cmd.Message == id {
				return i
			}
		}
		return len(t.Commands)
	}
	slices.SortStableFunc(segments, func(a, b Segment) int { return place(a) - place(b) })
	at := 0
	for i, s := range segments {
		if place(s) < 0 {
			at = i
		}
	}
	return at
}

// isOpen reports whether a transcript begins in a segment, as far as the segment shows.
// roots are the lines that it began with before. A segment that had started, but does not
// start in a transcript that lost its beginning, begins before the transcript.
func (s Segment) isOpen(t *inject.Transcript, roots []string) bool {
	cut := len(roots) > 0 && !slices.Contains(t.Roots, roots[0])
	return s.From == "" || s.startIn(t) == "" && (cut && s.Start != "" || strings.HasPrefix(s.From, messageFrom))
}

// firstOf returns the first segment with the same conversation as segment i. A session
// may return to a conversation.
func firstOf(segments []Segment, i int) int {
	return slices.IndexFunc(segments, func(s Segment) bool { return s.Path == segments[i].Path && !s.Removed })
}

// beginsAnew reports whether a session began a conversation rather than resumed one.
func beginsAnew(segments []Segment) bool {
	i := firstSegment(segments)
	return i >= 0 && segments[i].After == ""
}

// firstSegment returns the index of the segment that begins with the session, or -1.
func firstSegment(segments []Segment) int {
	for i, s := range segments {
		if s.From == "" {
			return i
		}
	}
	return -1
}

// begun reports whether the start of a segment was read.
func (s Segment) begun() bool { return s.From == "" || s.Start != "" }

// hasBeginning reports whether one of the segments begins with the session.
func hasBeginning(segments []Segment) bool {
	return slices.ContainsFunc(segments, func(s Segment) bool { return s.From == "" })
}
