package capture

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A session may go through several conversations: a /workspace command begins a new one
// or resumes another. The agent's hooks report this at once. If no hook ran, the
// transcript shows it, and the same conversations result.

// ReopenWord after the query of /workspace.resume resumes a completed conversation,
// because a hook cannot ask the user.
const ReopenWord = "reopen"

// moves reports whether a command moves a session into another conversation.
func moves(cmd inject.Command) bool {
	return cmd.Begins() || cmd.Name == "resume" && cmd.Arguments != ""
}

// from returns the From value of a segment that a command begins.
func from(cmd inject.Command) string {
	if cmd.PromptID != "" {
		return cmd.PromptID
	}
	return messageFrom + cmd.Message
}

// followCommands adds segments for the commands in a transcript that no hook reported and
// that were not captured before as part of another conversation.
func (c *Capture) followCommands(t *inject.Transcript, b *Binding, in *reading, again bool) error {
	known := map[string]int{} // message -> the segment that begins with it
	for i, s := range in.segments {
		if id := s.startIn(t); id != "" {
			known[id] = i
		}
	}
	at, first := b.At, !b.Commanded
	if again {
		at, first = max(firstSegment(in.segments), 0), true
	}
	in.followed = map[string]bool{}
	var was *passed
	for _, cmd := range t.Commands {
		if !moves(cmd) {
			continue
		}
		isFirst := first && cmd.Begins()
		first = first && !isFirst
		i, ok := known[cmd.Message]
		switch {
		case ok:
			at = i
			continue
		case in.segments[at].Removed && in.reached == "", // it may belong to what was removed
			isFirst && c.isBeginning(in, b, cmd),
			cmd.Begins() && c.ws.Prompts.Check(cmd.Name) != nil: // not one of our commands
			continue
		}
		if was == nil {
			var err error
			if was, err = passedBy(t, in, again); err != nil {
				return err
			}
		}
		into, captured := was.captured[cmd.Message]
		var h *home
		var err error
		gone := false // git took what was captured of it, and nobody asked for it back
		if captured && into == "" && cmd.Begins() && !(isFirst && beginsAnew(in.segments)) {
			var known bool
			if known, err = c.isKnown(partID(t, cmd)); err != nil {
				return err
			}
			gone = !known && in.o.Mode != PutBack
			captured = gone
		}
		switch {
		case in.segments[at].Removed && was.unknown:
			continue
		case gone:
			h = &home{segment: &Segment{Segment: registry.Segment{From: from(cmd)}, Removed: true}}
		case captured && (into == "" || into == in.segments[at].Path),
			in.o.Prompted && was.lastPrompt == cmd.Message && !was.answered,
			!captured && !cmd.Begins() && b.Hooked: // the hook resumed none, for a reason
			continue
		case captured: // a capture was killed before it recorded the segment
			h, err = in.back(cmd, into)
		default:
			h, err = c.follow(t, in, cmd)
		}
		if err != nil {
			return err
		}
		switch {
		case h != nil && h.segment.Path != in.segments[at].Path:
			at = len(in.segments)
			in.followed[h.segment.From] = true
			in.segments, in.homes = append(in.segments, *h.segment), append(in.homes, h)
		case h == nil && was.lastPrompt != cmd.Message:
			c.warnings.add(fmt.Sprintf("%s session %s: which conversation %q took up cannot be known: what followed stays in %s",
				t.Agent, t.NativeID, cmd.Line()+" "+cmd.Arguments, in.segments[at].Path))
		}
	}
	return nil
}

// isKnown reports whether a conversation is here or was removed.
func (c *Capture) isKnown(id string) (bool, error) {
	if gone, err := c.ws.Removed.Conversation(id); err != nil || gone {
		return gone, err
	}
	_, ok, err := c.ws.ByConversation(id)
	return ok, err
}

// partID returns the id of the conversation that a command begins.
func partID(t *inject.Transcript, cmd inject.Command) string {
	return schema.DerivedPartID(t.Agent, t.NativeID, from(cmd), typedAt(t, cmd))
}

// typedAt returns when a command was typed, as far as the agent records it.
func typedAt(t *inject.Transcript, cmd inject.Command) time.Time {
	if cmd.Time.IsZero() {
		return t.First
	}
	return cmd.Time
}

// isBeginning reports whether the first command of a session began the conversation that
// begins with the session. It did not if the session was in that conversation before, or
// if the conversation was removed; removed conversations stay removed.
func (c *Capture) isBeginning(in *reading, b *Binding, cmd inject.Command) bool {
	i := firstSegment(in.segments)
	switch {
	case i < 0 || in.segments[i].Removed:
		return false
	case in.o.staged != nil && in.homes[i].conv == in.o.staged:
		return in.o.begins == cmd.Message
	case cmd.PromptID != "" && cmd.PromptID == b.Prompt:
		return true
	case in.segments[i].After != "" && !in.segments[i].Fork:
		return false
	}
	s, _, err := in.homes[i].conv.Session()
	if err != nil {
		return true
	}
	begun := s.AgentConfig // if session.json was rebuilt from the logs, it may lack the arguments, or both
	said := strings.TrimSpace(begun.Arguments)
	return begun.Command == "" || begun.Command == cmd.Line() && (said == "" || said == cmd.Arguments || s.MessageCount == 0)
}

// passed holds what followCommands needs to know about the messages of a transcript.
type passed struct {
	captured   map[string]string // by id: the conversation it was captured into; empty: one whose log lacks it
	lastPrompt string
	answered   bool // a model answered it
	unknown    bool // what was captured before is unknown: the transcript was rewritten
}

func passedBy(t *inject.Transcript, in *reading, again bool) (*passed, error) {
	p := &passed{captured: map[string]string{}}
	for _, h := range in.homes {
		for _, conv := range []*store.Conversation{h.tree, h.conv} {
			if conv == nil {
				continue
			}
			ids, err := conv.MessageIDs()
			if err != nil {
				return nil, err
			}
			for id := range ids {
				p.captured[id] = h.segment.Path
			}
		}
	}
	var before []string
	reached := !again || in.reached == ""
	err := t.Each(func(sub string, b inject.Batch) error {
		for _, m := range b.Messages {
			if sub != "" {
				break
			}
			if m.Role == schema.User {
				p.lastPrompt, p.answered = m.ID, false
			} else {
				p.answered = true
			}
			if before = append(before, m.ID); m.ID == in.reached {
				reached = true
				for _, id := range before {
					if _, ok := p.captured[id]; !ok {
						p.captured[id] = ""
					}
				}
			}
		}
		return nil
	})
	p.unknown = !reached
	return p, err
}

// follow returns the home of a segment that a command begins, or nil if the session stays
// in its conversation.
func (c *Capture) follow(t *inject.Transcript, in *reading, cmd inject.Command) (*home, error) {
	s := &Segment{Segment: registry.Segment{From: from(cmd)}}
	if cmd.Begins() {
		return c.followBegin(t, in, cmd, s)
	}
	e, ok, err := c.resumedBy(in, cmd)
	if err != nil || !ok {
		return nil, err
	}
	if h, err := in.back(cmd, e.Path); h != nil || err != nil {
		return h, err
	}
	if gone, err := c.ws.Removed.Conversation(e.Session.ID); err != nil || gone {
		s.Removed = true
		return &home{segment: s}, err
	}
	s.Path, s.ID = e.Path, e.Session.ID
	h, err := c.homes.home(s, in.o.Mode)
	if err == nil {
		in.opened = append(in.opened, h)
		s.After, err = leafAt(h.conv, cmd)
	}
	return h, err
}

// back returns the home of a segment with which the session returns to a conversation it
// was in before, or nil if it was not.
func (in *reading) back(cmd inject.Command, path string) (*home, error) {
	for _, h := range in.homes {
		if h.conv != nil && h.segment.Path == path {
			same := *h
			same.segment = &Segment{Segment: registry.Segment{Path: path, ID: h.segment.ID, From: from(cmd)}}
			var err error
			same.segment.After, err = leafAt(h.conv, cmd)
			return &same, err
		}
	}
	return nil, nil
}

// resumedBy finds the conversation that a command resumed, if that is certain: a number
// referred to a place in the list shown at the time.
func (c *Capture) resumedBy(in *reading, cmd inject.Command) (e store.Entry, ok bool, err error) {
	query, reopen := strings.CutSuffix(cmd.Arguments, " "+ReopenWord)
	if _, err := strconv.Atoi(query); err == nil {
		return e, false, nil
	}
	var staged []store.Entry
	for _, h := range in.homes {
		if h.conv != nil && (h.conv == in.o.staged || slices.Contains(in.begun, h.conv)) {
			s, _, err := h.conv.Session()
			if err != nil {
				return e, false, err
			}
			staged = append(staged, store.Entry{Path: h.conv.Path(), Session: s})
		}
	}
	e, err = c.ws.PickAt(query, cmd.Time, staged)
	if errors.As(err, new(*workspace.NotFoundError)) || errors.As(err, new(*workspace.AmbiguousError)) {
		return e, false, nil
	}
	return e, err == nil && (reopen || e.Session.Status != schema.Completed), err
}

// leafAt returns the last message that a conversation had when a command resumed it.
func leafAt(conv *store.Conversation, cmd inject.Command) (id string, err error) {
	for m, err := range conv.Messages() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return "", err
		}
		if err == nil && m.ID == cmd.Message {
			break
		}
		if err == nil && !m.Timestamp.Time().After(cmd.Time) {
			id = m.ID
		}
	}
	return id, nil
}

// followBegin stages the conversation that a command begins, or finds it.
func (c *Capture) followBegin(t *inject.Transcript, in *reading, cmd inject.Command, s *Segment) (*home, error) {
	s.ID = partID(t, cmd)
	gone, err := c.ws.Removed.Conversation(s.ID)
	if err != nil {
		return nil, err
	}
	if gone {
		s.Removed = true
		return &home{segment: s}, nil
	}
	e, ok, err := c.ws.ByConversation(s.ID)
	if err != nil {
		return nil, err
	}
	sess, words, err := c.describe.newSession(t, beginning{command: cmd, part: s.From, at: typedAt(t, cmd)})
	if err != nil {
		return nil, err
	}
	if sess.ID = s.ID; ok {
		s.Path, s.ID = e.Path, e.Session.ID
	} else {
		s.Path = store.FolderName(sess, cmd.Name, words)
	}
	if ok || c.ws.Tree.Outside(s.Path) {
		h, err := c.homes.home(s, in.o.Mode)
		if err == nil {
			in.opened = append(in.opened, h)
		}
		return h, err
	}
	conv, err := c.describe.stage(sess, words)
	if err != nil {
		return nil, err
	}
	s.Path = conv.Path()
	h := &home{segment: s, conv: conv, tree: conv}
	in.opened = append(in.opened, h)
	in.begun = append(in.begun, conv)
	return h, nil
}

// publishBegun publishes the conversations that commands began, now that they have their
// messages, and adds the session as a source to those that were resumed.
func (c *Capture) publishBegun(t *inject.Transcript, b *Binding, in *reading, r *router) error {
	for i := range r.segments {
		s := &r.segments[i]
		if s.Removed || !in.followed[s.From] {
			continue
		}
		if err := r.homes[i].conv.Edit(func(sess *schema.Session) error {
			addSource(sess, t.Agent, t.NativeID, *s)
			return nil
		}); err != nil {
			return err
		}
	}
	for _, conv := range in.begun {
		if _, err := c.ws.Finish(conv, workspace.Finishing{Recount: true, Describe: c.describe.sources(t.Agent, t.NativeID, b)}); err != nil {
			return err
		}
		if err := c.ws.Publish(conv); err != nil {
			return err
		}
		in.out.Begun = append(in.out.Begun, conv.Path())
	}
	for i := range r.segments {
		if s := &r.segments[i]; !s.Removed && in.followed[s.From] {
			s.Path = r.homes[i].conv.Path()
		}
	}
	stopped := false // now, and not by a hook, which stops it itself
	for _, cmd := range t.Commands {
		if stops := cmd.Name == "stop-conversation"; !b.Hooked && (stops || moves(cmd)) {
			b.Stopped, stopped = stops, stops && !r.again
		}
	}
	if newest := r.segments[len(r.segments)-1]; !newest.begun() {
		return nil // a hook began it, and the agent has not written the prompt yet
	}
	return c.moveOn(b.CurrentSegment(), r.segments[r.at], stopped)
}

// moveOn marks the session's current conversation active instead of the one it left,
// unless the user stopped it.
func (c *Capture) moveOn(left, now Segment, stopped bool) error {
	if left.Removed || now.Removed || left.Path == now.Path && !stopped {
		return nil
	}
	e, err := c.ws.Entry(left.Path)
	if errors.Is(err, store.ErrNotFound) || err == nil && e.Session.Status != schema.Active {
		return nil
	}
	if err == nil {
		err = c.ws.Pause(left.Path)
	}
	if err != nil || stopped {
		return err
	}
	if e, err = c.ws.Entry(now.Path); err == nil {
		_, err = c.ws.SetStatus(e, schema.Active)
	}
	return err
}
