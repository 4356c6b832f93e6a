package capture

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A router delivers the messages of a native session to the conversations of its
// segments.
type router struct {
	c        *Capture
	agent    string
	nativeID string
	version  string // of the agent

	transcript *inject.Transcript
	segments   []Segment
	homes      []*home
	again      bool           // everything is delivered, not only what is new
	at         int            // the segment that the next message belongs to
	starts     map[string]int // message -> the segment that begins with it
	until      string         // the message that the next reading begins with
	untilAt    int            // the segment that it is in
	// segmentOf tells which segment a message is in; nil if there is only one.
	segmentOf map[string]int
	txs       map[int]*store.Tx // by segment
	bring     map[int]*ids      // what the next reading brings again, by segment
	result    store.Result
	last      schema.Message // that was new
	missed    int            // messages that the work tree lacks and that nobody asked back
}

// ids name records.
type ids struct{ messages, calls []string }

func (i *ids) add(message string, calls []schema.Tool) {
	i.messages = append(i.messages, message)
	for _, t := range calls {
		i.calls = append(i.calls, t.ID)
	}
}

// newRouter prepares the delivery of t, which begins in the segment at.
func (c *Capture) newRouter(segments []Segment, homes []*home, at int, t *inject.Transcript) *router {
	r := &router{c: c, agent: t.Agent, nativeID: t.NativeID, version: t.Version, transcript: t, segments: segments, homes: homes, at: at, starts: map[string]int{}, until: t.Next.Message, untilAt: at, txs: map[int]*store.Tx{}, bring: map[int]*ids{}}
	if len(segments) > 1 {
		r.segmentOf = map[string]int{}
	}
	for i, s := range segments {
		if id := s.startIn(t); id != "" {
			r.starts[id] = i
			r.segments[i].Start = id
		}
	}
	return r
}

// messageFrom begins the From of a segment that begins with a message: in a fork of
// a session, whose prompts have other ids.
const messageFrom = "message:"

// timeFrom begins the From of a segment whose agent gives its prompts no ids (Claude
// Code before 2.1.197): what follows is when the prompt was submitted.
const timeFrom = "time:"

// submitted is the longest that an agent takes to write down a prompt after it
// called the hook, and before, if its clock is coarse.
const submitted = 2 * time.Second

// startIn is the message that a segment begins with, empty if it begins with the
// session or before what was read.
func (s Segment) startIn(t *inject.Transcript) string {
	at, byTime := strings.CutPrefix(s.From, timeFrom)
	message, byMessage := strings.CutPrefix(s.From, messageFrom)
	for _, cmd := range t.Commands {
		switch {
		case s.From == "":
		case byTime && !cmd.Time.Before(schema.Time(at).Time().Add(-submitted)), byMessage && cmd.Message == message, cmd.PromptID == s.From:
			return cmd.Message
		}
	}
	return ""
}

// inOrder sorts segments as they are in the session and returns the one that the
// transcript begins in. Segments that have not started yet sort last.
func inOrder(segments []Segment, t *inject.Transcript) int {
	place := func(s Segment) int {
		id := s.startIn(t)
		if s.From == "" || id == "" && strings.HasPrefix(s.From, messageFrom) {
			return -1 // it begins before the transcript does
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

// From is where a segment begins that a prompt begins.
func (c *Capture) From(e inject.Event) string {
	if e.PromptID != "" {
		return e.PromptID
	}
	return timeFrom + string(schema.NewTime(c.ws.Env.Now()))
}

// first is the first segment of the conversation that a segment belongs to: a session
// may come back to one.
func (r *router) first(i int) int {
	return slices.IndexFunc(r.segments, func(s Segment) bool { return s.Path == r.segments[i].Path && !s.Removed })
}

// tx returns the transaction of the conversation of a segment.
func (r *router) tx(i int) (*store.Tx, error) {
	i = r.first(i)
	if tx := r.txs[i]; tx != nil {
		return tx, nil
	}
	tx, err := r.homes[i].begin(r.again)
	if err == nil {
		r.txs[i] = tx
	}
	return tx, err
}

// give delivers a batch, each message to its segment.
func (r *router) give(b inject.Batch) error {
	var out schema.Batch
	flush := func() error {
		if r.segments[r.at].Removed {
			out = schema.Batch{}
		}
		if len(out.Messages)+len(out.Tools) == 0 {
			return nil
		}
		tx, err := r.tx(r.at)
		if err != nil {
			return err
		}
		if err := tx.Append(out); err != nil {
			return err
		}
		if r.homes[r.at].taken {
			r.missed += len(out.Messages)
		}
		if n := len(out.Messages); n > 0 {
			r.last = out.Messages[n-1]
		}
		out = schema.Batch{}
		if tx.Size() > flushAt {
			return r.write(r.first(r.at), tx)
		}
		return nil
	}
	calls, loose := callsByMessage(b)
	for _, m := range b.Messages {
		next, starts := r.starts[m.ID]
		if !starts {
			next = r.at
			if above, ok := r.segmentOf[m.ParentID]; ok {
				next = above // a rewind leads back into an earlier segment
			}
		}
		if next != r.at {
			if err := flush(); err != nil {
				return err
			}
			r.at = next
		}
		if after := r.segments[r.at].After; after != "" && after != m.ID && (starts || m.ParentID == "") {
			m.ParentID = after
		}
		if m.ID == r.until {
			r.untilAt = r.at
			r.until = ""
		}
		if r.segmentOf != nil {
			r.segmentOf[m.ID] = r.at
		}
		if r.until == "" {
			at := max(r.first(r.at), 0)
			if r.bring[at] == nil {
				r.bring[at] = &ids{}
			}
			r.bring[at].add(m.ID, calls[m.ID])
		}
		if r.homes[r.at].has(m.ID, calls[m.ID]) {
			continue // the work tree has it
		}
		out.Messages = append(out.Messages, m)
		out.Tools = append(out.Tools, calls[m.ID]...)
	}
	if r.homes[r.at].have == nil {
		out.Tools = append(out.Tools, loose...)
	}
	return flush()
}

// flushAt is how much is collected before it is written, in bytes: a conversation
// is not locked for longer than that takes.
const flushAt = 4 << 20

// write makes what was collected durable and lets others write.
func (r *router) write(i int, tx *store.Tx) error {
	delete(r.txs, i)
	err := tx.Commit()
	r.add(tx.Result())
	if err != nil {
		return err
	}
	r.txs[i], err = r.homes[i].conv.Begin()
	return err
}

func (r *router) add(got store.Result) {
	r.result.Appended += got.Appended
	r.result.Tools += got.Tools
	r.result.Skipped += got.Skipped
	r.result.SetAside = append(r.result.SetAside, got.SetAside...)
	for rule, n := range got.Redacted {
		if r.result.Redacted == nil {
			r.result.Redacted = map[string]int{}
		}
		r.result.Redacted[rule] += n
	}
}

// finish ends the transactions: everything is durable, the checkpoints are taken,
// and session.json says what is due.
func (r *router) finish(o Options) error {
	var errs []error
	for i, tx := range r.txs {
		h := r.homes[i]
		before := r.result.Appended
		cp, err := r.finishOne(i, tx, o)
		if err == nil {
			for j, same := range r.homes {
				if r.segments[j].Path == r.segments[i].Path && !r.segments[j].Removed {
					same.took(cp, r.again)
					r.segments[j] = *same.segment
				}
			}
			if n := r.result.Appended - before; n > 0 {
				r.c.ws.NoteMessages(workspace.Event{Name: lifecycle.Message, Path: h.conv.Path(), MessageID: r.last.ID, Role: string(r.last.Role), Count: n})
			}
		}
		errs = append(errs, err)
	}
	clear(r.txs)
	return errors.Join(errs...)
}

func (r *router) finishOne(i int, tx *store.Tx, o Options) (cp store.Checkpoint, err error) {
	conv, bring := r.homes[i].conv, r.bring[i]
	if bring == nil {
		bring = &ids{}
	}
	fresh := !tx.Written()
	err = r.c.identify(tx, r.agent, r.nativeID, r.segments[i])
	if err == nil {
		err = tx.Flush()
	}
	if err == nil && fresh {
		err = r.recall(tx, r.segments[i])
	}
	if err != nil {
		tx.Rollback()
		return cp, err
	}
	if o.SessionJSON == WhenDue && tx.Result().Appended > 0 && (r.c.ws.TurnDue(tx) || r.undescribed(tx)) && !r.homes[i].waiting && !r.homes[i].taken {
		if err := r.c.ws.FinishIn(tx, conv, workspace.Finishing{Describe: o.describe}); err != nil {
			tx.Rollback()
			return cp, err
		}
	}
	cp, err = tx.Checkpoint(bring.messages, bring.calls)
	err = errors.Join(err, tx.Commit())
	r.add(tx.Result())
	return cp, err
}

// recall takes from the transcript what a session.json that was lost said about the
// beginning of the conversation.
func (r *router) recall(tx *store.Tx, seg Segment) error {
	s, _, err := tx.Session()
	if err != nil || seg.From != "" || seg.After != "" || !r.again {
		return err
	}
	if !r.transcript.First.IsZero() {
		s.CreatedAt = schema.NewTime(r.transcript.First)
	}
	if r.transcript.Command != "" {
		return r.c.ws.DescribeCommand(s, r.transcript.Command, r.transcript.Arguments)
	}
	return nil
}

// undescribed reports whether session.json lacks the agent's version of a session that
// has had its first answered turn.
func (r *router) undescribed(tx *store.Tx) bool {
	s, _, err := tx.Session()
	return err == nil && r.version != "" && slices.ContainsFunc(s.Sources, func(src schema.Source) bool {
		return src.Agent == r.agent && src.NativeID == r.nativeID && src.Version == ""
	})
}

// abandon ends the transactions after an error; what was flushed stays.
func (r *router) abandon() {
	for _, tx := range r.txs {
		tx.Rollback()
	}
	clear(r.txs)
}

// readsFiles reports whether a tool's output is the file that its input names: the
// agents call it Read, read and read_file.
func readsFiles(tool string) bool {
	return slices.Contains([]string{"read", "readfile", "readmanyfiles"}, strings.ReplaceAll(strings.ToLower(tool), "_", ""))
}

// PayloadDir is where payloads are that an agent is told to read, relative to the
// workspace.
const PayloadDir = ".workspace/local/cache/resume/"

// callsByMessage sorts the calls of a batch; loose are those whose message is not
// in it.
func callsByMessage(b inject.Batch) (calls map[string][]schema.Tool, loose []schema.Tool) {
	calls = make(map[string][]schema.Tool, len(b.Messages))
	for i := range b.Messages {
		calls[b.Messages[i].ID] = nil
	}
	for _, t := range b.Tools {
		if readsFiles(t.Name) && bytes.Contains(t.Input, []byte(PayloadDir)) && t.Output != "" {
			// The agent read what a resume had put there; it is not captured again.
			t.Output = fmt.Sprintf("[the payload of a resume, %d bytes]", len(t.Output))
		}
		if _, ok := calls[t.MessageID]; ok {
			calls[t.MessageID] = append(calls[t.MessageID], t)
		} else {
			loose = append(loose, t)
		}
	}
	return calls, loose
}

// homesOf finds the homes of a session's segments.
func (c *Capture) homesOf(segments []Segment, mode Mode) (homes []*home, err error) {
	for i := range segments {
		if segments[i].Removed {
			homes = append(homes, &home{segment: &segments[i]})
			continue
		}
		if j := slices.IndexFunc(segments[:i], func(s Segment) bool { return s.Path == segments[i].Path && !s.Removed }); j >= 0 {
			same := *homes[j]
			same.segment = &segments[i]
			homes = append(homes, &same)
			continue
		}
		h, err := c.home(&segments[i], mode)
		if err != nil {
			closeHomes(homes)
			return nil, err
		}
		homes = append(homes, h)
	}
	return homes, nil
}

func closeHomes(homes []*home) {
	for _, h := range homes {
		_ = h.close()
	}
}
