package capture

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Records is what a transcript has of one conversation.
type Records struct {
	Agent     string
	File      string
	Batch     schema.Batch
	Subagents map[string]Subagent // by native id
}

// A Subagent is what a transcript has of the conversation of a sub-agent.
type Subagent struct {
	Batch   schema.Batch
	Session *schema.Session // what is known about it
}

// Recorded reads, for one conversation, the transcripts of its native sessions that are
// still on this machine. It writes nothing. The messages of a session that belong to
// other conversations, or whose conversation cannot be known, are left out. whole reports
// that every session of the conversation has a transcript, and that it was read to its
// end.
func (c *Capture) Recorded(ctx context.Context, e store.Entry, natives []string) (list []Records, whole bool, err error) {
	all, err := c.catalog.entries()
	if err != nil {
		return nil, false, err
	}
	var sessions []sessionID
	for _, src := range e.Session.Sources {
		sessions = append(sessions, sessionID{src.Agent, src.NativeID})
	}
	whole = len(sessions) > 0
	for _, id := range natives {
		if slices.ContainsFunc(sessions, func(n sessionID) bool { return n.id == id }) {
			continue
		}
		for _, agent := range c.ws.Env.Agents {
			sessions = append(sessions, sessionID{agent.Name(), id})
		}
	}
	done := map[sessionID]bool{}
	var errs []error
	for _, n := range sessions {
		if done[n] {
			continue
		}
		done[n] = true
		agent, ok := c.ws.Env.Agent(n.agent)
		if !ok || c.ws.Removed.Skipped(n.agent, n.id) {
			whole = false
			continue
		}
		file, ok, _ := agent.Locate(c.ws.Env.Machine, n.id)
		if !ok {
			whole = false
			continue
		}
		rec, ok, err := c.recordedIn(ctx, nativeSession{agent: agent, id: n.id, transcript: file}, recipient{e, all, list})
		if errors.Is(err, fs.ErrNotExist) {
			ok, err = false, nil
		}
		if errs = append(errs, err); err != nil || !ok {
			whole = false
			continue
		}
		list = append(list, rec)
	}
	return list, whole, errors.Join(errs...)
}

// A recipient is a conversation that transcripts are read for.
type recipient struct {
	store.Entry
	all    []store.Entry // all conversations
	beside []Records     // what transcripts of its earlier sessions have
}

// recordedIn reads one transcript. ok is false if none of it is known to belong to the
// conversation.
func (c *Capture) recordedIn(ctx context.Context, n nativeSession, e recipient) (rec Records, ok bool, err error) {
	agent := n.agent
	segments, err := c.Binder.segmentsOf(e.all, agent.Name(), n.id)
	if err != nil {
		return rec, false, err
	}
	ours := func(s *binding.Segment) bool {
		return !s.Removed && (s.Path == e.Path || slices.Contains(e.Twins, s.Path) || s.ID != "" && schema.SameConversation(s.ID, e.Session.ID))
	}
	if !slices.ContainsFunc(segments, func(s binding.Segment) bool { return ours(&s) }) {
		return rec, false, nil
	}
	t, err := agent.Open(n.transcript, inject.Options{Strip: c.ws.Prompts.Strip, Continues: binding.Continues(segments)})
	if err != nil {
		return rec, false, err
	}
	defer t.Close()
	b := &binding.Binding{Transcript: n.transcript, Segments: segments}
	if cached, ok := c.Cached(agent.Name(), n.id); ok {
		b.Roots = cached.Roots
	}
	conv, err := c.ws.Store.OpenDamaged(e.Entry)
	if err != nil {
		return rec, false, err
	}
	defer conv.Close()
	rd := &reading{ingestion: &ingestion{c: c, ctx: ctx, agent: agent, nativeID: n.id, binding: b}, segments: slices.Clone(segments), beside: e.beside}
	for i := range rd.segments {
		h := &home{segment: &rd.segments[i]}
		if ours(h.segment) {
			h.conv = conv
		}
		rd.homes = append(rd.homes, h)
	}
	if err := rd.leaveOutRemoved(t); err != nil {
		return rec, false, err
	}
	rd.leaveUnfollowed(t)
	rd.leaveUnknown(t, b.Roots)
	before := slices.Clone(rd.segments)
	at := binding.InOrder(rd.segments, t, b.Roots)
	rd.homes = rehome(rd.homes, before, rd.segments)
	for i := range rd.homes {
		rd.homes[i].segment = &rd.segments[i]
	}
	r := newRouter(rd, at, t)
	r.again = true
	rec = Records{Agent: agent.Name(), File: n.transcript, Subagents: map[string]Subagent{}}
	r.sink = func(segment int, b schema.Batch) {
		if ours(&r.segments[segment]) {
			rec.Batch.Messages = append(rec.Batch.Messages, b.Messages...)
			rec.Batch.Tools = append(rec.Batch.Tools, b.Tools...)
		}
	}
	inline := map[string]bool{}
	err = t.Each(func(sub string, batch inject.Batch) error {
		if sub == "" {
			return errors.Join(ctx.Err(), r.give(batch))
		}
		if ours(&r.segments[r.at]) {
			inline[sub] = true
			call, err := rd.callID(r.at, t.Calls[sub], "")
			if err != nil {
				return err
			}
			add(rec.Subagents, sub, t, call, batch.Batch)
		}
		return nil
	})
	if err != nil {
		return rec, false, err
	}
	if rd.subs, err = agent.Subagents(n.transcript); err != nil {
		return rec, false, err
	}
	rd.subs = slices.DeleteFunc(rd.subs, func(s inject.Subagent) bool { return inline[s.NativeID] })
	err = rd.recordedBySubagents(t, ours, &rec)
	return rec, err == nil, err
}

// recordedBySubagents reads the transcripts of sub-agents that a conversation started. ours
// reports whether a segment is in the conversation, and rec has its calls.
func (rd *reading) recordedBySubagents(t *inject.Transcript, ours func(*binding.Segment) bool, rec *Records) error {
	for _, s := range rd.subs {
		s.ToolCallID = cmp.Or(t.Calls[s.NativeID], s.ToolCallID)
		names := map[string]bool{} // that the call may have in the conversation
		for i := range rd.segments {
			if id, err := rd.callID(i, s.ToolCallID, ""); err == nil && ours(&rd.segments[i]) {
				names[id] = true
			}
		}
		if i := slices.IndexFunc(rec.Batch.Tools, func(t schema.Tool) bool { return names[t.ID] }); i >= 0 {
			s.ToolCallID = rec.Batch.Tools[i].ID
		} else if len(rd.segments) > 1 || s.ToolCallID != "" {
			continue
		}
		if err := rd.c.recordedBy(rd.agent, s, rec.Subagents); err != nil && !deletedMeanwhile(rd.agent, s.Path, err) {
			return err
		}
	}
	return nil
}

// recordedBy reads the transcript of a sub-agent.
func (c *Capture) recordedBy(agent inject.Agent, s inject.Subagent, into map[string]Subagent) error {
	t, err := agent.Open(s.Path, inject.Options{Strip: c.ws.Prompts.Strip})
	if err != nil {
		return err
	}
	defer t.Close()
	return t.Each(func(_ string, b inject.Batch) error {
		add(into, s.NativeID, t, s.ToolCallID, b.Batch)
		return nil
	})
}

// add adds records of a sub-agent.
func add(into map[string]Subagent, nativeID string, t *inject.Transcript, call string, b schema.Batch) {
	sub := into[nativeID]
	sub.Batch.Messages = append(sub.Batch.Messages, b.Messages...)
	sub.Batch.Tools = append(sub.Batch.Tools, b.Tools...)
	if sub.Session == nil {
		sub.Session = &schema.Session{
			Version: schema.Version, ConversationType: "subagent", Status: schema.Completed, Title: schema.PathElement(nativeID), ConversationID: schema.PathElement(nativeID),
			Sources: []schema.Source{{Agent: t.Agent, NativeID: nativeID, Version: t.Version}},
			Links:   &schema.Links{ToolCallID: call},
		}
		sub.Session.AgentConfig.Agent = t.Agent
	}
	for _, m := range b.Messages {
		if at := m.Timestamp.Time(); !at.IsZero() && (sub.Session.CreatedAt == "" || at.Before(sub.Session.CreatedAt.Time())) {
			sub.Session.CreatedAt = m.Timestamp
			sub.Session.ID = schema.DerivedID(t.Agent, nativeID, at)
		}
	}
	into[nativeID] = sub
}

// leaveUnfollowed leaves out what follows a command that moved the session to a
// conversation that is not known.
func (rd *reading) leaveUnfollowed(t *inject.Transcript) {
	known := map[string]bool{}
	for _, s := range rd.segments {
		known[s.StartIn(t)] = true
	}
	first := true
	for _, cmd := range t.Commands {
		if !moves(cmd) || known[cmd.Message] {
			continue
		}
		begins := first && cmd.Begins()
		first = first && !begins
		if begins || cmd.Begins() && rd.c.ws.Prompts.Check(cmd.Name) != nil {
			continue // it began the conversation itself, or is not one of our commands
		}
		if cmd.Begins() {
			rd.leaveOut(binding.FromCommand(cmd))
		}
	}
}
