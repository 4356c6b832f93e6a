package capture

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A session may go through several conversations: a /workspace command begins a new one
// or resumes another. The agent's hooks report this at once. If no hook ran, the
// transcript shows it, and the same conversations result.

// ReopenWord, typed after the query of /workspace.resume, confirms that the user wants to
// resume a completed conversation, because a hook cannot ask.
const ReopenWord = "reopen"

// ListPage returns the number in the arguments of /workspace.resume if they ask for a page of
// the list, as in /workspace.resume page 2.
func ListPage(arguments string) (n int, ok bool) {
	words := strings.Fields(strings.ToLower(arguments))
	if len(words) != 2 || words[0] != "page" {
		return 0, false
	}
	n, err := strconv.Atoi(words[1])
	return n, err == nil && n > 0
}

// moves reports whether a command moves a session into another conversation.
func moves(cmd inject.Command) bool {
	if _, lists := ListPage(cmd.Arguments); lists && cmd.Name == "resume" {
		return false
	}
	return cmd.Begins() || cmd.Name == "resume" && cmd.Arguments != ""
}

// A follower adds segments to a reading for the commands in its transcript that no hook
// reported and that were not captured before as part of another conversation.
type follower struct {
	*reading
	t     *inject.Transcript
	again bool                        // the transcript is read from its beginning
	at    int                         // the segment that the session is in
	was   *passed                     // nil: not checked yet
	heads map[string][]schema.Message // see headsOf; nil: not read yet
}

// followCommands adds the segments that the commands in a transcript begin.
func (rd *reading) followCommands(t *inject.Transcript, again bool) error {
	f := &follower{reading: rd, t: t, again: again}
	return f.run()
}

func (f *follower) run() (err error) {
	known := map[string]int{} // message -> the segment that begins with it
	for i, s := range f.segments {
		if id := s.StartIn(f.t); id != "" {
			known[id] = i
		}
	}
	first := !f.binding.Commanded
	f.at = f.binding.At
	if f.again {
		f.at, first = max(binding.Opening(f.segments), 0), true
	}
	f.followed = map[string]bool{}
	for _, cmd := range f.t.Commands {
		if !moves(cmd) {
			continue
		}
		isFirst := first && cmd.Begins()
		first = first && !isFirst
		i, ok := known[cmd.Message]
		switch {
		case ok:
			f.at = i
			continue
		case f.segments[f.at].Removed && f.reached == "", // it may belong to what was removed
			isFirst && f.isBeginning(cmd),
			cmd.Begins() && f.c.ws.Prompts.Check(cmd.Name) != nil: // not one of our commands
			continue
		}
		if f.was == nil {
			if f.was, err = f.passed(); err != nil {
				return err
			}
		}
		h, stays, err := f.follow(cmd, isFirst)
		switch {
		case err != nil:
			return err
		case stays:
		case h != nil && h.segment.Path != f.segments[f.at].Path:
			f.at = len(f.segments)
			f.followed[h.segment.From] = true
			f.add(h)
		case h == nil && f.was.lastPrompt != cmd.Message:
			f.c.warnings.add(fmt.Sprintf("%s session %s: cannot tell which conversation %q resumed: what followed stays in %s",
				f.t.Agent, f.t.NativeID, cmd.Line()+" "+cmd.Arguments, f.segments[f.at].Path))
		}
	}
	return nil
}

// follow returns the home of the segment that a command begins, or nil if that cannot be
// known. stays reports that the session stays in the segment that it is in. isFirst says
// that no command of the session began a conversation before.
func (f *follower) follow(cmd inject.Command, isFirst bool) (h *home, stays bool, err error) {
	into, captured := f.was.captured[cmd.Message]
	gone := false // git removed what was captured from it, and the user has not asked to restore it
	if captured && into == "" && cmd.Begins() && !(isFirst && binding.BeginsAnew(f.segments)) {
		known, err := f.isKnown(partID(f.t, cmd))
		if err != nil {
			return nil, false, err
		}
		gone = !known && f.opts.Mode != PutBack
		captured = gone
	}
	switch {
	case f.segments[f.at].Removed && f.was.unknown:
		return nil, true, nil
	case gone:
		return placeholder(binding.FromCommand(cmd)), false, nil
	case captured && (into == "" || into == f.segments[f.at].Path),
		f.opts.Prompted && f.was.lastPrompt == cmd.Message && !f.was.answered,
		!captured && !cmd.Begins() && f.binding.Hooked: // the hook saw it and chose to resume nothing
		return nil, true, nil
	case captured: // a capture was killed before it recorded the segment
		h, err = f.back(cmd, into)
	case cmd.Begins():
		h, err = f.begin(cmd)
	default:
		h, err = f.resume(cmd)
	}
	return h, false, err
}

// isKnown reports whether a conversation is here or was removed.
func (f *follower) isKnown(id string) (bool, error) {
	if gone, err := f.c.ws.Removed.Conversation(id); err != nil || gone {
		return gone, err
	}
	_, ok, err := f.c.ws.ByConversation(id)
	return ok, err
}

// partID returns the id of the conversation that a command begins.
func partID(t *inject.Transcript, cmd inject.Command) string {
	return schema.DerivedPartID(t.Agent, t.NativeID, binding.FromCommand(cmd), typedAt(t, cmd))
}

// typedAt returns when a command was typed, or the time of the first message if the agent
// does not record that.
func typedAt(t *inject.Transcript, cmd inject.Command) time.Time {
	if cmd.Time.IsZero() {
		return t.First
	}
	return cmd.Time
}

// isBeginning reports whether the first command of a session began the conversation that
// begins with the session. It did not if the session was in that conversation before, or
// if the conversation was removed; removed conversations stay removed.
func (f *follower) isBeginning(cmd inject.Command) bool {
	i := binding.Opening(f.segments)
	switch {
	case i < 0 || f.segments[i].Removed:
		return false
	case f.staged != nil && f.homes[i].conv == f.staged:
		return f.begins == cmd.Message
	case cmd.PromptID != "" && cmd.PromptID == f.binding.Prompt:
		return true
	case f.segments[i].After != "" && !f.segments[i].Fork:
		return false
	}
	s, _, err := f.homes[i].conv.Session()
	if err != nil {
		return true
	}
	begun := s.AgentConfig // if session.json was rebuilt from the logs, it may lack the arguments, or even the command
	said := strings.TrimSpace(begun.Arguments)
	return begun.Command == "" || begun.Command == cmd.Line() && (said == "" || said == cmd.Arguments || s.MessageCount == 0)
}

// passed holds what a follower needs to know about the messages of a transcript.
type passed struct {
	captured   map[string]string // by id: the conversation it was captured into; empty: one whose log lacks it
	lastPrompt string
	answered   bool // a model answered it
	unknown    bool // what was captured before is unknown: the transcript was rewritten
}

// passed reads the messages of the transcript and of the conversations that the session
// goes into.
func (f *follower) passed() (*passed, error) {
	p := &passed{captured: map[string]string{}}
	for _, h := range f.homes {
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
	reached := !f.again || f.reached == ""
	err := eachMessage(f.t, func(m schema.Message) {
		if m.Role == schema.User {
			p.lastPrompt, p.answered = m.ID, false
		} else {
			p.answered = true
		}
		if before = append(before, m.ID); m.ID == f.reached {
			reached = true
			for _, id := range before {
				if _, ok := p.captured[id]; !ok {
					p.captured[id] = ""
				}
			}
		}
	})
	p.unknown = !reached
	return p, err
}

// resume returns the home of the segment for a conversation that a command resumed, or nil
// if it is uncertain which conversation that was.
func (f *follower) resume(cmd inject.Command) (*home, error) {
	e, ok, err := f.resumedBy(cmd)
	if err != nil || !ok {
		return nil, err
	}
	if h, err := f.back(cmd, e.Path); h != nil || err != nil {
		return h, err
	}
	if gone, err := f.c.ws.Removed.Conversation(e.Session.ID); err != nil || gone {
		return placeholder(binding.FromCommand(cmd)), err
	}
	s := &binding.Segment{Segment: registry.Segment{Path: e.Path, ID: e.Session.ID, From: binding.FromCommand(cmd)}}
	h, err := f.open(s)
	if err == nil {
		s.After, err = lastMessageAt(h.conv, cmd)
	}
	return h, err
}

// open opens the home of a segment that a command begins.
func (f *follower) open(s *binding.Segment) (*home, error) {
	h, err := f.c.homes.home(s, f.opts.Mode)
	if err == nil {
		f.added = append(f.added, h)
	}
	return h, err
}

// back returns the home of the segment for a session's return to a conversation, or nil if
// the session was not in that conversation before.
func (f *follower) back(cmd inject.Command, path string) (*home, error) {
	for _, h := range f.homes {
		if h.conv != nil && h.segment.Path == path {
			same := *h
			same.segment = &binding.Segment{Segment: registry.Segment{Path: path, ID: h.segment.ID, From: binding.FromCommand(cmd)}}
			var err error
			same.segment.After, err = lastMessageAt(h.conv, cmd)
			return &same, err
		}
	}
	return nil, nil
}

// resumedBy finds the conversation that a command resumed; ok is false if that is
// uncertain. It always is for a number, which referred to the list shown at that time.
func (f *follower) resumedBy(cmd inject.Command) (e store.Entry, ok bool, err error) {
	query, reopen := strings.CutSuffix(cmd.Arguments, " "+ReopenWord)
	if _, err := strconv.Atoi(query); err == nil {
		return e, false, nil
	}
	var staged []store.Entry
	for _, h := range f.homes {
		if h.conv != nil && (h.conv == f.staged || slices.Contains(f.begun, h.conv)) {
			s, _, err := h.conv.Session()
			if err != nil {
				return e, false, err
			}
			staged = append(staged, store.Entry{Path: h.conv.Path(), Session: s})
		}
	}
	e, err = f.c.ws.PickAt(query, cmd.Time, staged)
	if errors.As(err, new(*workspace.NotFoundError)) || errors.As(err, new(*workspace.AmbiguousError)) {
		return e, false, nil
	}
	return e, err == nil && (reopen || e.Session.Status != schema.Completed), err
}

// lastMessageAt returns the last message that a conversation had when a command resumed it.
func lastMessageAt(conv *store.Conversation, cmd inject.Command) (id string, err error) {
	for m, err := range store.Undamaged(conv.Messages()) {
		if err != nil {
			return "", err
		}
		if m.ID == cmd.Message {
			break
		}
		if !m.Timestamp.Time().After(cmd.Time) {
			id = m.ID
		}
	}
	return id, nil
}

// begin returns the home of the segment for a conversation that a command begins. It stages
// the conversation if it does not exist yet.
func (f *follower) begin(cmd inject.Command) (*home, error) {
	s := &binding.Segment{Segment: registry.Segment{From: binding.FromCommand(cmd), ID: partID(f.t, cmd)}}
	gone, err := f.c.ws.Removed.Conversation(s.ID)
	if err != nil {
		return nil, err
	}
	if gone {
		s.Removed = true
		return &home{segment: s}, nil
	}
	e, ok, err := f.c.ws.ByConversation(s.ID)
	if err != nil {
		return nil, err
	}
	if f.heads == nil {
		if f.heads, err = headsOf(f.t); err != nil {
			return nil, err
		}
	}
	sess, words, err := f.c.describe.newSession(f.t, beginning{command: cmd, part: s.From, at: typedAt(f.t, cmd)}, f.heads[cmd.Message])
	if err != nil {
		return nil, err
	}
	if sess.ID = s.ID; ok {
		s.Path, s.ID = e.Path, e.Session.ID
	} else {
		s.Path = store.FolderName(sess, cmd.Name, words)
	}
	if ok || f.c.ws.Tree.Outside(s.Path) {
		return f.open(s)
	}
	conv, err := f.c.describe.stage(sess, words)
	if err != nil {
		return nil, err
	}
	s.Path = conv.Path()
	h := &home{segment: s, conv: conv, tree: conv}
	f.added = append(f.added, h)
	f.begun = append(f.begun, conv)
	return h, nil
}

// publishBegun publishes the conversations that commands began, now that they have their
// messages, and adds the session as a source to those that were resumed.
func (rd *reading) publishBegun(r *router) error {
	b, t := rd.binding, r.transcript
	for i := range r.segments {
		s := &r.segments[i]
		if s.Removed || !rd.followed[s.From] {
			continue
		}
		if err := r.homes[i].conv.Edit(func(sess *schema.Session) error {
			workspace.AddSource(sess, schema.Source{Agent: t.Agent, NativeID: t.NativeID, From: s.From, After: s.After})
			return nil
		}); err != nil {
			return err
		}
	}
	for _, conv := range rd.begun {
		if _, err := rd.c.ws.Finish(conv, workspace.Finishing{Recount: true, Describe: rd.c.describe.sources(t.Agent, t.NativeID, b)}); err != nil {
			return err
		}
		if err := rd.c.ws.Publish(conv); err != nil {
			return err
		}
		rd.out.Begun = append(rd.out.Begun, conv.Path())
	}
	for i := range r.segments {
		if s := &r.segments[i]; !s.Removed && rd.followed[s.From] {
			s.Path = r.homes[i].conv.Path()
		}
	}
	stopped := false // by a command that no hook carried out
	for _, cmd := range t.Commands {
		if stops := cmd.Name == "stop-conversation"; !b.Hooked && (stops || moves(cmd)) {
			b.Stopped, stopped = stops, stops && !r.again
		}
	}
	if newest := r.segments[len(r.segments)-1]; !newest.Begun() {
		return nil // a hook began it, and the agent has not written the prompt yet
	}
	left, now := b.CurrentSegment(), r.segments[r.at]
	if left.Removed || now.Removed || left.Path == now.Path && !stopped {
		return nil
	}
	paused, err := rd.pauseLeft(left.Path)
	if err != nil || !paused || stopped {
		return err
	}
	e, err := rd.c.ws.Entry(now.Path)
	if err == nil {
		_, err = rd.c.ws.Status.Set(e, schema.Active)
	}
	return err
}

// pauseLeft pauses the conversation that the session left, if it is active.
func (rd *reading) pauseLeft(path string) (paused bool, err error) {
	e, err := rd.c.ws.Entry(path)
	if errors.Is(err, store.ErrNotFound) || err == nil && e.Session.Status != schema.Active {
		return false, nil
	}
	if err == nil {
		err = rd.c.ws.Pause(path)
	}
	return err == nil, err
}
