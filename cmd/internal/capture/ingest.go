package capture

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// SessionJSON says when a capture writes session.json.
type SessionJSON int

const (
	// WhenDue: at the first answered turn, then at most every interval_s, but not before
	// [Options].Reply is captured.
	WhenDue SessionJSON = iota
	// ByCaller: the caller finishes the conversation itself afterwards.
	ByCaller
)

// Options control how a session is captured.
type Options struct {
	Mode        Mode
	SessionJSON SessionJSON

	// OwnTree says that the session ran in this work tree. If its transcript has
	// grown, the conversation's own session had a turn, so its logs are completed.
	OwnTree bool

	// Prompted says that the calling hook itself carries out the command typed last.
	Prompted bool

	Reply string // the model's last text, if the agent reported it
}

// Ingested is the result of a capture.
type Ingested struct {
	store.Result
	Subagents int      // sub-agents' conversations in the transcript
	Begun     []string // paths of conversations that commands in the transcript began
	Waiting   []string // why records wait, for each conversation
	captured  map[*store.Conversation]int
	Taken     int // messages that git removed from the work tree, now kept aside
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

// An ingestion captures the new part of one native session, whose lock the caller holds. It
// advances the binding's cursor only past records that the logs hold.
type ingestion struct {
	c        *Capture
	ctx      context.Context
	agent    inject.Agent
	nativeID string
	binding  *binding.Binding
	opts     Options

	describe func(*schema.Session) // adds what is known about the session to its conversations
	progress func(messages int)    // nil: not reported
	staged   *store.Conversation   // home of the first segment, to be published; nil if all homes are published
	begins   string                // with staged: the message whose command began it; empty: none
	whole    *inject.Transcript    // with staged: the transcript, opened at its beginning; nil: not open
}

// Ingest captures the new part of a session's transcript. It reads only what was added
// since the last time, however long the transcript is. If the logs do not confirm that
// they have the rest, it reads the whole transcript and appends what they lack. The
// caller holds the session's lock.
func (c *Capture) Ingest(ctx context.Context, agent inject.Agent, nativeID string, b *binding.Binding, o Options) (Ingested, error) {
	in := &ingestion{c: c, ctx: ctx, agent: agent, nativeID: nativeID, binding: b, opts: o}
	return in.run()
}

func (in *ingestion) run() (out Ingested, err error) {
	b := in.binding
	if len(b.Segments) == 0 {
		return out, nil
	}
	in.describe = in.c.describe.sources(in.agent.Name(), in.nativeID, b)
	for range 3 { // git may replace or remove a log while the transcript is read
		rd := &reading{ingestion: in}
		err = rd.run()
		out = rd.out
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

// identify restores the identity of a conversation whose session.json is gone. It takes the
// identity from a segment of a native session, and the rest from a branch. For waiting records it
// takes the rest from the backup, but the conversation is then paused. If its folder was put back,
// the branch takes precedence over a session.json of the waiting records: that may have been
// written when nothing else was left, as after git clean.
func (in *ingestion) identify(tx *store.Tx, nativeID string, h *home, seg binding.Segment) error {
	c := in.c
	recorded := c.catalog.recorded(seg.ID)
	if recorded == nil && h.waiting && !tx.Written() {
		if old := c.ws.Store.Backups().Session(seg.Path); old != nil && schema.SameConversation(old.ID, seg.ID) {
			old.Status, old.StatusSet = schema.Paused, nil
			recorded = old
		}
	}
	if h.back {
		h.back = false
		if committed := c.catalog.committed(in.ctx, seg.Path, seg.ID); committed != nil {
			if err := tx.Recover(committed); err != nil {
				return err
			}
		}
	}
	return c.ws.Identify(tx, in.agent.Name(), nativeID, seg.Segment, recorded)
}

// rejoin gives a fork in the work tree whose session.json is gone what it shares with the
// conversation it was forked from: no transcript has its copies.
func rejoin(in workspace.Conversations, tx *store.Tx) error {
	if tx.Written() {
		return nil
	}
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	shared, links, err := fork.Shared(in, s)
	s.Links = links
	if err != nil {
		return nil // a check reports what is missing
	}
	for _, m := range shared.Messages {
		covered, err := tx.Knows(m.ID)
		if err != nil || !covered {
			return err
		}
		if held, err := tx.Holds(m.ID); err != nil || held {
			return err // a repair adds what the log lacks of them
		}
	}
	return tx.Append(shared)
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

// runStaged is run for a first segment whose home may be an unpublished conversation. It
// publishes that conversation once everything is captured.
func (in *ingestion) runStaged() (Ingested, error) {
	b := in.binding
	if in.staged == nil {
		return in.run()
	}
	rd := &reading{ingestion: in}
	if err := rd.runStaged(); err != nil {
		return rd.out, err // never publish half a conversation: the next import starts over
	}
	if begun, err := rd.hasBegun(); err != nil {
		return rd.out, err
	} else if !begun {
		b.Segments, b.At, b.SegmentOf = b.Segments[1:], 0, nil
		b.Current, b.Cursor = len(b.Segments)-1, inject.Cursor{}
		return rd.out, in.c.Save(in.agent.Name(), in.nativeID, b)
	}
	if _, err := in.c.ws.Finish(in.staged, workspace.Finishing{Recount: true, Describe: in.c.describe.sources(in.agent.Name(), in.nativeID, b)}); err != nil {
		return rd.out, err
	}
	if err := in.c.ws.Publish(in.staged); errors.Is(err, store.ErrExist) {
		b.Cursor, b.Subagents = inject.Cursor{}, nil // another process was faster: use its conversation
		b.Segments[0].Tree = store.Checkpoint{}
		if err := in.c.Save(in.agent.Name(), in.nativeID, b); err != nil {
			return rd.out, err
		}
		return in.run()
	} else if err != nil {
		return rd.out, err
	}
	b.Segments[0].Path, rd.out.published = in.staged.Path(), true
	rd.out.Begun = append([]string{in.staged.Path()}, rd.out.Begun...)
	return rd.out, in.c.Save(in.agent.Name(), in.nativeID, b)
}

// runStaged captures the whole transcript.
func (rd *reading) runStaged() error {
	subs, err := rd.agent.Subagents(rd.binding.Transcript)
	if err != nil {
		return err
	}
	rd.subs, rd.segments = subs, slices.Clone(rd.binding.Segments)
	rest, err := rd.c.homes.homesOf(rd.segments[1:], rd.opts.Mode)
	if err != nil {
		return err
	}
	defer closeHomes(rest)
	rd.homes = append([]*home{{segment: &rd.segments[0], conv: rd.staged, tree: rd.staged}}, rest...)
	if err := rd.messages(); err != nil {
		return err
	}
	var errs []error
	for _, s := range subs {
		errs = append(errs, rd.subagent(s))
	}
	return errors.Join(errs...)
}

// hasBegun reports whether the staged conversation holds anything. It does not if the
// session's first message went into another conversation, which it resumed.
func (rd *reading) hasBegun() (bool, error) {
	if len(rd.binding.Segments) == 1 {
		return true, nil
	}
	ids, err := rd.staged.MessageIDs()
	if err != nil || len(ids) > 0 {
		return true, err
	}
	subs, err := rd.staged.Subagents()
	return len(subs) > 0, err
}

// attachments returns the attachments of the session's conversations.
func (in *ingestion) attachments() workspace.Attachments {
	var ids []string
	for _, s := range in.binding.Segments {
		ids = append(ids, s.ID)
	}
	return in.c.ws.Attachments.For(ids)
}

// A pump is the loop of every capture. It reads a transcript batch by batch, and stores
// attachments before it delivers the batch. Meanwhile it reads the next one.
type pump struct {
	ctx         context.Context
	attachments workspace.Attachments
	progress    func(messages int) // nil: not reported
}

func (p pump) run(t *inject.Transcript, deliver func(sub string, b inject.Batch) error) error {
	type part struct {
		sub   string
		batch inject.Batch
	}
	parts, stop := make(chan part), make(chan struct{})
	var readErr error
	var defect any // what the reading panicked with: here the caller can recover from it
	go func() {
		defer close(parts)
		defer func() { defect = recover() }()
		readErr = t.Each(func(sub string, b inject.Batch) error {
			select {
			case parts <- part{sub, b}:
				return nil
			case <-stop:
				return context.Canceled
			}
		})
	}()
	done := 0
	take := func(next part) error {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if err := p.attachments.Keep(next.batch.Blobs); err != nil {
			return err
		}
		if err := deliver(next.sub, next.batch); err != nil {
			return err
		}
		if done += len(next.batch.Messages); p.progress != nil {
			p.progress(done)
		}
		return nil
	}
	var err error
	for next := range parts { // until the reading has ended
		if err == nil {
			if err = take(next); err != nil {
				close(stop)
			}
		}
	}
	if defect != nil {
		panic(defect)
	}
	return cmp.Or(err, readErr)
}
