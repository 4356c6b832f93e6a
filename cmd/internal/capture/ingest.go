package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// SessionJSON says when a capture writes session.json.
type SessionJSON int

const (
	// WhenDue: at the first answered turn, then at most every interval_s.
	WhenDue SessionJSON = iota
	// ByCaller: the caller finishes the conversation itself afterwards.
	ByCaller
)

// Options control how a session is captured.
type Options struct {
	Mode        Mode
	SessionJSON SessionJSON

	// Held: the session was held in this work tree. If its transcript has grown, that was
	// a turn of the conversation's own session, so its logs are completed.
	Held bool

	// Prompted: the calling hook itself carries out the command typed last.
	Prompted bool

	describe func(*schema.Session)
	progress func(messages int)
	staged   *store.Conversation // home of the first segment, to be published; nil if all homes are published
	begins   string              // with staged: the message whose command began it; empty: none
	opened   *inject.Transcript  // with staged: the transcript, from its beginning
}

// Ingested is the result of a capture.
type Ingested struct {
	store.Result
	Skipped   int      // messages that were already captured
	Subagents int      // sub-agents' conversations in the transcript
	Begun     []string // paths of conversations that commands in the transcript began
	Waiting   []string // why records wait, for each conversation
	captured  map[*store.Conversation]int
	Taken     int // messages that git took from the work tree and that are kept aside
	Warnings  []string

	published bool // the conversation is new and was published with everything written
}

// Captured returns the number of captured messages by conversation path.
func (in *Ingested) Captured() map[string]int {
	list := map[string]int{}
	for conv, n := range in.captured {
		list[conv.Path()] += n
	}
	return list
}

// Ingest captures the new part of a session's transcript. It reads only what was added
// since the last time, however long the transcript is. If the logs do not confirm that
// they have the rest, it reads the whole transcript and appends what they lack. The
// caller holds the session's lock.
func (c *Capture) Ingest(ctx context.Context, agent inject.Agent, nativeID string, b *Binding, o Options) (out Ingested, err error) {
	if len(b.Segments) == 0 {
		return out, nil
	}
	o.describe = c.describeSources(agent.Name(), nativeID, b)
	for range 3 { // git may replace or remove a log while the transcript is read
		out, err = c.ingest(ctx, agent, nativeID, b, o)
		if !errors.Is(err, store.ErrCheckpoint) && !errors.Is(err, store.ErrNotFound) {
			break
		}
		for i := range b.Segments {
			b.Segments[i].Tree, b.Segments[i].Waiting, b.Segments[i].Whole = store.Checkpoint{}, store.Checkpoint{}, false
		}
		b.Cursor, b.Subagents = inject.Cursor{}, nil
	}
	return out, err
}

func (c *Capture) ingest(ctx context.Context, agent inject.Agent, nativeID string, b *Binding, o Options) (out Ingested, err error) {
	segments := slices.Clone(b.Segments)
	homes, err := c.homesOf(segments, o.Mode)
	if err != nil {
		return out, err
	}
	defer closeHomes(homes)
	for _, h := range homes {
		if h.waiting {
			out.Waiting = append(out.Waiting, h.segment.Path+": "+h.why)
		} else if h.conv != nil && (h.conv.Waits() || o.Mode != Unasked && (h.conv.HasMore() || h.conv.LogsAbsent())) {
			if err := h.conv.Update(func(tx *store.Tx, _ *schema.Session) error {
				return c.identify(tx, agent.Name(), nativeID, *h.segment)
			}); err != nil {
				return out, err
			}
		}
	}
	if b.Transcript == "" {
		return out, nil
	}
	size, err := agent.Stat(b.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil // deleted by the agent, or not written yet; captured messages stay
	}
	if err != nil {
		return out, err
	}
	subs, err := agent.Subagents(b.Transcript)
	if err != nil {
		return out, err
	}
	in := &reading{segments: segments, homes: homes, subs: subs, from: b.Cursor, o: o, out: &out}
	if err := c.startFrom(in, agent, nativeID, b, size); err != nil {
		return out, err
	}
	if again := in.from.Offset == 0; again || size != in.from.Size || o.Mode == PutBack && b.Torn {
		if err := c.ingestMain(ctx, agent, nativeID, b, in); deletedMeanwhile(agent, b.Transcript, err) {
			return out, nil
		} else if err != nil {
			return out, fmt.Errorf("%s: %w", b.Transcript, err)
		}
		if err := c.release(homes, o); err != nil {
			return out, err
		}
		if again {
			b.Subagents = nil
		}
	}
	for _, s := range subs {
		if err := c.ingestSubagent(ctx, agent, b, in, s); err != nil && !deletedMeanwhile(agent, s.Path, err) {
			return out, fmt.Errorf("%s: %w", s.Path, err)
		}
	}
	c.saveCursor(agent.Name(), nativeID, b)
	return out, nil
}

// release lets git see files that an interrupted write left ignored although the turn was
// answered.
func (c *Capture) release(homes []*home, o Options) error {
	if o.SessionJSON != WhenDue || o.staged != nil {
		return nil
	}
	for _, h := range homes {
		if h.conv == nil || h.waiting || !h.conv.HeldFromGit() {
			continue
		}
		if _, err := c.ws.Finish(h.conv, workspace.Finishing{Describe: o.describe}); err != nil {
			return err
		}
	}
	return nil
}

// deletedMeanwhile reports whether reading a transcript failed because it was deleted
// after it was found. An agent's last hook may still run while the launch that began the
// session discards a transcript without messages.
func deletedMeanwhile(agent inject.Agent, transcript string, err error) bool {
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	_, err = agent.Stat(transcript)
	return errors.Is(err, fs.ErrNotExist)
}

// startFrom decides where a reading begins: at the cursor if all logs confirm their
// checkpoints, otherwise at the beginning of the transcript. Unless someone asked to
// restore what git took, it sets aside previously captured records that the logs lack.
func (c *Capture) startFrom(in *reading, agent inject.Agent, nativeID string, b *Binding, size int64) error {
	cursor := b.Cursor
	at := c.ws.Registry.Reached(c.ws.Here.Workspace(), agent.Name(), nativeID)
	in.reached, in.fresh = at.Message, at.Message == "" && cursor.Offset == 0
	b.Hooked = b.Hooked || at.Hooked
	read := at.Size // size of the transcript
	if read == 0 {
		read = cursor.Size
	}
	asked := in.o.Mode != Unasked || in.o.Held && !b.Hooked && cursor.Size > 0 && size != read
	for i, h := range in.homes {
		if h.conv == nil {
			continue
		}
		confirmed := cursor.Offset > 0 && h.confirmed()
		if !confirmed {
			in.from = inject.Cursor{}
		}
		known := confirmed && cursor.Offset >= at.Offset
		if asked || known || h.waiting || firstOf(in.segments, i) != i {
			continue
		}
		if err := c.setAside(h); err != nil {
			return err
		}
		in.fresh = in.fresh && !h.emptied()
	}
	return nil
}

// firstOf returns the first segment with the same conversation as segment i. A session
// may return to a conversation.
func firstOf(segments []Segment, i int) int {
	return slices.IndexFunc(segments, func(s Segment) bool { return s.Path == segments[i].Path && !s.Removed })
}

// ingestMain captures the session's own messages, and the messages of sub-agents that
// have no transcript of their own.
func (c *Capture) ingestMain(ctx context.Context, agent inject.Agent, nativeID string, b *Binding, in *reading) error {
	t, again, err := in.o.opened, true, error(nil)
	if t == nil || in.from.Offset > 0 || continues(in.segments) {
		if t, again, err = c.readOn(agent, b.Transcript, in.from, continues(in.segments)); err != nil {
			return err
		}
		defer t.Close()
	}
	defer in.close()
	r, err := c.routerFor(t, b, in, again)
	if err != nil {
		return err
	}
	defer r.abandon()
	in.out.Warnings = append(in.out.Warnings, t.Warnings...)
	c.noteUnread(b.Transcript, t, in.o.Mode)
	inline := map[string]bool{}
	err = c.pump(ctx, t, func(sub string, batch inject.Batch) error {
		if sub == "" {
			return r.give(batch)
		}
		if slices.ContainsFunc(in.subs, func(s inject.Subagent) bool { return s.NativeID == sub }) || r.segments[r.at].Removed {
			return nil // it has its own, complete transcript
		}
		inline[sub] = true
		parent := r.conv(target{r.first(r.at), r.aside[r.first(r.at)]})
		sc, err := parent.Subagent(sub)
		if err != nil {
			return err
		}
		defer sc.Close()
		_, err = c.appendSubagent(sc, subagentOf{parent, t, sub, t.Calls[sub]}, func(tx *store.Tx) error { return tx.Append(batch.Batch) })
		return err
	}, in.o.progress)
	if err != nil {
		return err
	}
	b.learn(t)
	if err := r.finish(in.o); err != nil {
		return err
	}
	in.out.Result, in.out.captured, in.aside = r.result, r.captured, r.aside
	in.out.Taken = r.missed
	in.out.Subagents = len(inline) + len(in.subs)
	if err := c.publishBegun(t, b, in, r); err != nil {
		return err
	}
	complete, err := r.complete()
	if err != nil {
		return err
	}
	// If git takes some of this later, it does not count as new then, even if git took
	// something before.
	b.reached = registry.Reached{Offset: t.Next.Offset, Size: t.Next.Size, Message: r.last}
	if !complete {
		return nil
	}
	b.took(t, r)
	if in.o.staged != nil {
		return nil // its conversation is not published yet
	}
	// If the user's state cannot be written, the sources in session.json still record
	// which conversation the session goes into.
	_ = c.register(agent.Name(), nativeID, b)
	return nil
}

// complete reports whether the logs now have everything. They do not if git took records
// that nobody asked back. For logs that turned out to be complete it stores their
// checkpoint, even if other records wait beside the work tree.
func (r *router) complete() (bool, error) {
	if len(r.aside) > 0 {
		return false, nil
	}
	for i, h := range r.homes {
		if r.segments[i].Removed {
			continue
		}
		of := r.homes[r.first(i)]
		if of.tree == nil || of.have == nil {
			continue
		}
		found := of.have.Checkpoint
		if of.conv == of.tree && of.confirmed() {
			found = of.segment.Tree.Further(found) // newer writes go further, an old cache less far
		}
		if !of.tree.Confirms(found) {
			return false, store.ErrCheckpoint // git replaced the log since it was read
		}
		h.segment.Tree = found
		r.segments[i] = *h.segment
	}
	return true, nil
}

// routerFor prepares the delivery of a transcript.
func (c *Capture) routerFor(t *inject.Transcript, b *Binding, in *reading, again bool) (*router, error) {
	if err := c.leaveRemoved(t, in); err != nil {
		return nil, err
	}
	if err := c.followCommands(t, b, in, again); err != nil {
		return nil, err
	}
	at := b.At
	if again {
		in.leaveUnknown(t, b.Roots)
		before := slices.Clone(in.segments)
		at = inOrder(in.segments, t, b.Roots)
		in.homes = rehome(in.homes, before, in.segments)
	}
	for i := range in.homes {
		in.homes[i].segment = &in.segments[i]
	}
	r := c.newRouter(in.segments, in.homes, at, t)
	r.again, r.reached, r.past, r.followed = again, in.reached, in.fresh, in.followed
	if !again {
		r.from, r.fromAt = in.from.Message, at
	}
	if r.segmentOf != nil && !again {
		for _, anchor := range in.from.Anchors {
			r.segmentOf[anchor.Message] = b.At // the only segment until now
		}
		maps.Copy(r.segmentOf, b.SegmentOf)
	}
	return r, nil
}

// pump is the loop of every capture. It reads a transcript batch by batch, and stores
// attachments before it delivers the batch.
func (c *Capture) pump(ctx context.Context, t *inject.Transcript, deliver func(sub string, b inject.Batch) error, progress func(int)) error {
	done := 0
	return t.Each(func(sub string, b inject.Batch) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.keepAttachments(b.Blobs); err != nil {
			return err
		}
		if err := deliver(sub, b); err != nil {
			return err
		}
		if done += len(b.Messages); progress != nil {
			progress(done)
		}
		return nil
	})
}

// readOn opens a transcript at a cursor, or at its beginning if the transcript was
// rewritten; again reports the latter.
func (c *Capture) readOn(agent inject.Agent, path string, from inject.Cursor, continues bool) (t *inject.Transcript, again bool, err error) {
	o := inject.Options{From: from, Continues: continues, Strip: c.ws.Prompts.Strip}
	t, err = agent.Open(path, o)
	if errors.Is(err, inject.ErrCursor) {
		o.From = inject.Cursor{}
		t, err = agent.Open(path, o)
	}
	return t, o.From.Offset == 0, err
}

// learn records what a transcript says about the agent, for session.json.
func (b *Binding) learn(t *inject.Transcript) {
	if t.Version != "" {
		b.Version = t.Version
	}
	if t.Permission != "" {
		b.Permission = t.Permission
	}
	if t.Provider != nil {
		b.Provider = t.Provider
	}
}

// took records what a reading of the transcript found, and how far it went.
func (b *Binding) took(t *inject.Transcript, r *router) {
	for _, root := range t.Roots {
		if !slices.Contains(b.Roots, root) {
			b.Roots = append(b.Roots, root)
		}
	}
	if t.LastReply != "" {
		b.Said = EndOf(t.LastReply)
	}
	b.Cursor, b.Torn = t.Next, t.Torn != ""
	b.Commanded = b.Commanded && !r.again || t.Command != ""
	b.Ordinary = len(t.Commands) == 0 && (b.Ordinary || r.again && r.c.all() && !continues(r.segments))
	b.Segments, b.At = r.segments, r.untilAt
	if newest := b.Segments[len(b.Segments)-1]; newest.begun() {
		b.Current = r.at // all segments have begun: a rewind may have led back to an earlier one
	}
	b.SegmentOf = nil
	if r.segmentOf != nil {
		b.SegmentOf = map[string]int{}
		for _, a := range t.Next.Anchors {
			if i, ok := r.segmentOf[a.Message]; ok {
				b.SegmentOf[a.Message] = i
			}
		}
	}
}

// DescribeSources adds what the cache knows about the sessions to the sources.
func (c *Capture) DescribeSources(s *schema.Session) { c.describeSources("", "", nil)(s) }

// describeSources adds what the binding knows about its session to the sources.
func (c *Capture) describeSources(agent, nativeID string, b *Binding) func(*schema.Session) {
	return func(s *schema.Session) {
		for i := range s.Sources {
			src := &s.Sources[i]
			known := b
			if src.Agent != agent || src.NativeID != nativeID {
				var ok bool
				if known, ok = c.cached(src.Agent, src.NativeID); !ok {
					continue
				}
			}
			if known.Version != "" {
				src.Version = known.Version
			}
			if known.Provider != nil && i == len(s.Sources)-1 {
				s.AgentConfig.Provider = known.Provider
			}
			if known.Permission != "" && i == len(s.Sources)-1 {
				s.AgentConfig.Modes = &schema.Modes{Permission: known.Permission, Plan: known.Permission == "plan"}
			}
			if s.AgentConfig.Agent == "" {
				s.AgentConfig.Agent = src.Agent
			}
		}
	}
}
