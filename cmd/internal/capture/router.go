package capture

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A router delivers the messages of a native session to the conversations of its
// segments, each message to one.
type router struct {
	in         *reading
	transcript *inject.Transcript
	segments   []binding.Segment
	homes      []*home
	again      bool           // everything is delivered again, not only new records
	at         int            // the segment that the next message belongs to
	starts     map[string]int // message -> the segment that begins with it
	from       string         // the first message of this reading, if it is read again
	fromAt     int            // the segment that from is in
	until      string         // the first message of the next reading
	untilAt    int            // the segment that until is in
	// segmentOf maps messages to their segment; nil if there is only one segment.
	segmentOf map[string]int
	txs       map[target]*store.Tx
	begun     map[target]bool // transactions begun without a session.json
	reread    map[int]*ids    // what the next reading will read again, by segment
	result    store.Result
	captured  map[*store.Conversation]int // number of messages
	last      string                      // the last message read
	asked     bool                        // and it waits for an answer
	lastIn    map[string]string           // by path: the last message of a conversation

	// sink takes what would be written; nil: it is written.
	sink func(segment int, b schema.Batch)

	// Git removed those records that were captured before and that the logs lack. Records
	// after the last message reached before are new.
	past   bool
	aside  map[int]bool // segments with records that were set aside
	missed int          // number of messages set aside
}

// A target is the conversation of a segment, or the place for records that git removed from
// it.
type target struct {
	segment int
	aside   bool
}

// pending holds the records that wait for a delivery.
type pending struct{ home, aside schema.Batch }

// ids lists record ids.
type ids struct{ messages, calls []string }

func (i *ids) add(message string, calls []schema.Tool) {
	i.messages = append(i.messages, message)
	for _, t := range calls {
		i.calls = append(i.calls, t.ID)
	}
}

// newRouter prepares the delivery of t, which begins in segment at.
func newRouter(rd *reading, at int, t *inject.Transcript) *router {
	r := &router{
		in: rd, transcript: t, segments: rd.segments, homes: rd.homes, at: at,
		starts: map[string]int{}, until: t.Next.Message, untilAt: at,
		txs: map[target]*store.Tx{}, begun: map[target]bool{}, reread: map[int]*ids{}, aside: map[int]bool{},
		captured: map[*store.Conversation]int{}, lastIn: map[string]string{},
	}
	if len(r.segments) > 1 {
		r.segmentOf = map[string]int{}
	}
	for i, s := range r.segments {
		if id := s.StartIn(t); id != "" {
			r.starts[id] = i
			r.segments[i].Start = id
		}
	}
	return r
}

// first returns the first segment with the same conversation as segment i.
func (r *router) first(i int) int { return binding.FirstOf(r.segments, i) }

// conv returns the conversation that records go to.
func (r *router) conv(to target) *store.Conversation {
	if to.aside {
		return r.homes[to.segment].aside
	}
	return r.homes[to.segment].conv
}

// tx returns the transaction of a target. A conversation without a session.json gets its
// identity before anything is written.
func (r *router) tx(to target) (tx *store.Tx, err error) {
	if tx := r.txs[to]; tx != nil {
		return tx, nil
	}
	switch h := r.homes[to.segment]; {
	case to.aside:
		tx, err = h.aside.Begin()
	case r.again:
		tx, err = h.conv.Begin()
	default:
		tx, err = h.begin()
	}
	if err == nil && r.from != "" && !to.aside && to.segment == r.first(r.fromAt) {
		var known bool
		if known, err = tx.Knows(r.from); err != nil || !known { // a merge may have put it before the checkpoint
			tx.Rollback()
			if err == nil {
				tx, err = r.homes[to.segment].conv.Begin()
			}
		}
	}
	if err != nil {
		return nil, err
	}
	r.txs[to] = tx // from here on, abandon ends it
	r.begun[to] = !tx.Written()
	h := r.homes[to.segment]
	err = r.in.identify(tx, r.transcript.NativeID, h, r.segments[to.segment])
	if err == nil && !to.aside && !h.waiting {
		err = rejoin(r.in.c.ws.Conversations, tx)
	}
	return tx, err
}

// deliver passes records to a transaction.
func (r *router) deliver(to target, b schema.Batch) error {
	if len(b.Messages)+len(b.Tools) == 0 {
		return nil
	}
	if r.sink != nil {
		r.sink(to.segment, b)
		return nil
	}
	tx, err := r.tx(to)
	if err != nil {
		return err
	}
	if err := tx.Append(b); err != nil {
		return err
	}
	if tx.Size() > flushAt {
		return r.write(to, tx)
	}
	return nil
}

// sort returns the batch that a record belongs in: one that is dropped if records wait and
// the work tree already has this one, out.aside if git removed it and the user has not
// asked to restore it, otherwise out.home.
func (r *router) sort(out *pending, held store.Held) *schema.Batch {
	i := r.first(r.at)
	switch h := r.homes[i]; {
	case h.have == nil:
		return &out.home
	case held == store.Whole:
		return &schema.Batch{}
	case h.aside != nil && held == store.Nothing && (!r.past || r.aside[i]):
		r.aside[i] = true
		return &out.aside
	}
	return &out.home
}

// add sorts a message and its calls.
func (r *router) add(out *pending, m *schema.Message, calls []schema.Tool) (err error) {
	if r.segments[r.at].Removed {
		return nil
	}
	have := r.homes[r.first(r.at)].have
	var held store.Held
	if m != nil {
		if have != nil {
			if held, err = have.Message(*m); err != nil {
				return err
			}
		}
		to := r.sort(out, held)
		to.Messages = append(to.Messages, *m)
		if to == &out.aside {
			r.missed++
		}
	}
	for _, t := range calls {
		if have != nil {
			if held, err = have.Tool(t); err != nil {
				return err
			}
		}
		to := r.sort(out, held)
		to.Tools = append(to.Tools, t)
	}
	return nil
}

// give delivers a batch, each message to its segment.
func (r *router) give(b inject.Batch) error {
	var out pending
	flush := func() error {
		i := r.first(r.at)
		err := r.deliver(target{i, true}, out.aside)
		if err == nil {
			err = r.deliver(target{i, false}, out.home)
		}
		out = pending{}
		return err
	}
	calls, loose := callsByMessage(b)
	for _, m := range b.Messages {
		next, starts := r.starts[m.ID]
		if !starts {
			next = r.at
			if above, ok := r.segmentOf[m.ParentID]; ok {
				next = above // a rewind leads back to an earlier segment
			}
		}
		if next != r.at {
			if err := flush(); err != nil {
				return err
			}
			r.at = next
		}
		seg := &r.segments[r.at]
		if last := r.lastIn[seg.Path]; starts && last != "" && r.in.followed[seg.From] {
			seg.After = last
		}
		r.lastIn[seg.Path] = m.ID
		if after := seg.After; after != "" && after != m.ID && (starts || m.ParentID == "") {
			m.ParentID = after
		}
		if m.ID == r.until {
			r.untilAt = r.at
			r.until = ""
		}
		if r.segmentOf != nil {
			r.segmentOf[m.ID] = r.at
		}
		if err := errors.Join(r.in.nameCalls(r.at, &m), r.in.nameTools(r.at, calls[m.ID])); err != nil {
			return err
		}
		if r.until == "" {
			at := max(r.first(r.at), 0)
			if r.reread[at] == nil {
				r.reread[at] = &ids{}
			}
			r.reread[at].add(m.ID, calls[m.ID])
		}
		if err := r.add(&out, &m, calls[m.ID]); err != nil {
			return err
		}
		r.last, r.asked = m.ID, m.Role != schema.Assistant
		r.past = r.past || m.ID == r.in.reached
	}
	if err := errors.Join(r.in.nameTools(r.at, loose), r.add(&out, nil, loose)); err != nil {
		return err
	}
	return flush()
}

// flushAt is how many bytes are collected before they are written, which limits how long
// a conversation is locked.
const flushAt = 4 << 20

// write makes collected records durable and lets other processes write.
func (r *router) write(to target, tx *store.Tx) error {
	delete(r.txs, to)
	err := tx.Commit()
	r.count(to, tx.Result())
	if err != nil {
		return err
	}
	r.txs[to], err = r.conv(to).Begin()
	return err
}

// count adds up what was written. Records set aside do not count as new.
func (r *router) count(to target, got store.Result) {
	if to.aside {
		return
	}
	if got.Appended > 0 {
		r.in.c.ws.Events.NoteMessages(workspace.Event{
			Name: lifecycle.Message, Path: r.conv(to).Path(), MessageID: got.Last.ID, Role: string(got.Last.Role), Count: got.Appended,
		})
	}
	r.captured[r.conv(to)] += got.Appended
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

// finish ends the transactions. Afterwards everything is durable, the checkpoints are
// stored, and session.json is written if due.
func (r *router) finish() error {
	var errs []error
	for _, to := range slices.SortedFunc(maps.Keys(r.txs), func(a, b target) int { return a.segment - b.segment }) {
		cp, err := r.finishOne(to, r.txs[to])
		if err == nil && !to.aside {
			for j, same := range r.homes {
				if r.segments[j].Path == r.segments[to.segment].Path && !r.segments[j].Removed {
					same.took(cp, r.again)
					r.segments[j] = *same.segment
				}
			}
		}
		errs = append(errs, err)
	}
	clear(r.txs)
	return errors.Join(errs...)
}

func (r *router) finishOne(to target, tx *store.Tx) (cp store.Checkpoint, err error) {
	reread := r.reread[to.segment]
	if reread == nil {
		reread = &ids{}
	}
	err = tx.Flush()
	if err == nil && r.begun[to] {
		err = r.recall(tx, r.segments[to.segment])
	}
	if err != nil {
		tx.Rollback()
		return cp, err
	}
	inTree := !to.aside && !r.homes[to.segment].waiting
	answered := r.in.opts.Reply == "" || !r.asked && endOf(r.in.opts.Reply) == endOf(r.transcript.LastReply)
	if r.in.opts.SessionJSON == WhenDue && answered && inTree && tx.Result().Appended > 0 && (r.in.c.ws.TurnDue(tx) || r.undescribed(tx)) {
		if err := r.in.c.ws.FinishIn(tx, r.conv(to), workspace.Finishing{Describe: r.in.describe}); err != nil {
			tx.Rollback()
			return cp, err
		}
	}
	cp, err = tx.Checkpoint(reread.messages, reread.calls)
	err = errors.Join(err, tx.Commit())
	r.count(to, tx.Result())
	return cp, err
}

// recall restores from the transcript what a lost session.json recorded about the
// beginning of the conversation.
func (r *router) recall(tx *store.Tx, seg binding.Segment) error {
	s, _, err := tx.Session()
	if err != nil || seg.From != "" || seg.After != "" || !r.again {
		return err
	}
	if !r.transcript.First.IsZero() {
		s.CreatedAt = schema.NewTime(r.transcript.First)
	}
	i := slices.IndexFunc(r.transcript.Commands, inject.Command.Begins)
	if i < 0 {
		return nil
	}
	cmd := r.transcript.Commands[i]
	if _, later := r.starts[cmd.Message]; later {
		return nil // it began another conversation
	}
	return r.in.c.ws.Prompts.Describe(s, cmd.Line(), cmd.Arguments)
}

// undescribed reports whether session.json lacks the agent version although the session
// has had its first answered turn.
func (r *router) undescribed(tx *store.Tx) bool {
	s, _, err := tx.Session()
	return err == nil && r.transcript.Version != "" && slices.ContainsFunc(s.Sources, func(src schema.Source) bool {
		return src.Agent == r.transcript.Agent && src.NativeID == r.transcript.NativeID && src.Version == ""
	})
}

// abandon ends the transactions after an error; flushed records stay.
func (r *router) abandon() {
	for _, tx := range r.txs {
		tx.Rollback()
	}
	clear(r.txs)
}

// readsFiles reports whether a tool outputs the file that its input names. The agents
// call it Read, read and read_file.
func readsFiles(tool string) bool {
	return slices.Contains([]string{"read", "readfile", "readmanyfiles"}, strings.ReplaceAll(strings.ToLower(tool), "_", ""))
}

// callsByMessage groups the calls of a batch by message; loose are calls whose message is
// not in the batch.
func callsByMessage(b inject.Batch) (calls map[string][]schema.Tool, loose []schema.Tool) {
	calls = make(map[string][]schema.Tool, len(b.Messages))
	for i := range b.Messages {
		calls[b.Messages[i].ID] = nil
	}
	for _, t := range b.Tools {
		if readsFiles(t.Name) && bytes.Contains(t.Input, []byte(workspace.PayloadDir)) && t.Output != "" {
			// The agent read a resume payload; do not capture it again.
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

// complete reports whether the logs now have everything. They do not if git removed records
// that the user has not asked to restore. For logs that turned out to be complete it stores
// their checkpoint, even if other records wait outside the work tree.
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
