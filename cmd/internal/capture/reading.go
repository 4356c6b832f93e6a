package capture

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A reading is one pass over a transcript. Each segment has the home with the same index;
// the home of a placeholder has no conversation.
type reading struct {
	*ingestion
	segments []binding.Segment // of the session, with placeholders for what belongs elsewhere
	homes    []*home           // of the segments
	subs     []inject.Subagent
	from     inject.Cursor
	reached  string       // the last message captured before; empty if unknown
	fresh    bool         // nothing was captured before
	aside    map[int]bool // segments with records that were set aside
	out      Ingested

	added    []*home               // homes opened for segments that were added
	begun    []*store.Conversation // conversations staged for commands in the transcript
	followed map[string]bool       // the From values of segments added for commands

	started map[string]string // sub-agent -> the call that started it, as far as it was read
	calls   map[int]made      // see [reading.callsBefore]; by segment
	beside  []Records         // what transcripts of other sessions have of the conversations
}

// close closes what was opened for added segments.
func (rd *reading) close() {
	for _, conv := range rd.begun {
		conv.Discard()
	}
	closeHomes(rd.added)
}

// run captures what is new into the conversations of the binding.
func (rd *reading) run() (err error) {
	b := rd.binding
	rd.segments = slices.Clone(b.Segments)
	if rd.homes, err = rd.c.homes.homesOf(rd.segments, rd.opts.Mode); err != nil {
		return err
	}
	defer closeHomes(rd.homes)
	if err := rd.openHomes(); err != nil || b.Transcript == "" {
		return err
	}
	size, err := rd.agent.Stat(b.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted by the agent, or not written yet; captured messages stay
	}
	if err != nil {
		return err
	}
	if rd.subs, err = rd.agent.Subagents(b.Transcript); err != nil {
		return err
	}
	rd.from = b.Cursor
	if err := rd.startFrom(size); err != nil {
		return err
	}
	homes := rd.homes // without those of segments that commands add
	if again := rd.from.Offset == 0; again || size != rd.from.Size || rd.opts.Mode == PutBack && b.Torn {
		if err := rd.messages(); deletedMeanwhile(rd.agent, b.Transcript, err) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", b.Transcript, err)
		}
		if err := rd.release(homes); err != nil {
			return err
		}
		if again {
			b.Subagents = nil
		}
	}
	for _, s := range rd.subs {
		if err := rd.subagent(s); err != nil && !deletedMeanwhile(rd.agent, s.Path, err) {
			return fmt.Errorf("%s: %w", s.Path, err)
		}
	}
	rd.c.SaveCursor(rd.agent.Name(), rd.nativeID, b)
	return nil
}

// openHomes notes which records wait, and moves waiting records into logs that lack them.
func (rd *reading) openHomes() error {
	for _, h := range rd.homes {
		if h.waiting {
			rd.out.Waiting = append(rd.out.Waiting, h.segment.Path+": "+h.why)
		} else if h.conv != nil && (h.conv.Waits() || rd.opts.Mode != Unasked && (h.conv.HasMore() || h.conv.LogsAbsent() && rd.c.ws.Store.HasRecords(h.segment.Path))) {
			if err := h.conv.Update(func(tx *store.Tx, _ *schema.Session) error {
				if err := rd.identify(tx, rd.nativeID, h, *h.segment); err != nil {
					return err
				}
				return rejoin(rd.c.ws.Conversations, tx)
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// release makes git see files again that an interrupted write left ignored, if the turn was
// answered.
func (rd *reading) release(homes []*home) error {
	if rd.opts.SessionJSON != WhenDue || rd.staged != nil {
		return nil
	}
	for _, h := range homes {
		if h.conv == nil || h.waiting || !h.conv.HeldFromGit() {
			continue
		}
		if _, err := rd.c.ws.Finish(h.conv, workspace.Finishing{Describe: rd.describe}); err != nil {
			return err
		}
	}
	return nil
}

// startFrom decides where a reading begins: at the cursor if all logs confirm their
// checkpoints, otherwise at the beginning of the transcript. Unless the user asked to
// restore what git removed, it sets aside previously captured records that the logs lack.
func (rd *reading) startFrom(size int64) error {
	b, cursor := rd.binding, rd.binding.Cursor
	at := rd.c.ws.Registry.Progress(rd.c.ws.Here.Workspace()).Of(rd.agent.Name(), rd.nativeID)
	rd.reached, rd.fresh = at.Message, at.Message == "" && cursor.Offset == 0
	b.Hooked = b.Hooked || at.Hooked
	read := at.Size // size of the transcript
	if read == 0 {
		read = cursor.Size
	}
	asked := rd.opts.Mode != Unasked || rd.opts.OwnTree && !b.Hooked && cursor.Size > 0 && size != read
	for i, h := range rd.homes {
		if h.conv == nil {
			continue
		}
		confirmed := cursor.Offset > 0 && h.confirmed()
		if !confirmed {
			rd.from = inject.Cursor{}
		}
		known := confirmed && cursor.Offset >= at.Offset
		if asked || known || h.waiting || binding.FirstOf(rd.segments, i) != i {
			continue
		}
		if err := rd.c.homes.setAside(h); err != nil {
			return err
		}
		rd.fresh = rd.fresh && !h.emptied()
	}
	return nil
}

// messages captures the session's own messages, and the messages of sub-agents that
// have no transcript of their own.
func (rd *reading) messages() error {
	b := rd.binding
	t, again, err := rd.whole, true, error(nil)
	if continues := binding.Continues(rd.segments); t == nil || rd.from.Offset > 0 || continues {
		if t, again, err = rd.c.transcripts.open(rd.agent, b.Transcript, inject.Options{From: rd.from, Continues: continues}); err != nil {
			return err
		}
		defer t.Close()
	}
	if !again {
		t.NativeID = rd.nativeID // what is new may not show it, if the file has another name
	}
	defer rd.close()
	r, err := rd.routerFor(t, again)
	if err != nil {
		return err
	}
	defer r.abandon()
	rd.out.Warnings = append(rd.out.Warnings, t.Warnings...)
	rd.c.warnings.unread(b.Transcript, t, rd.opts.Mode)
	inline := inlineSubagents{in: rd, router: r, found: map[string]bool{}}
	defer inline.abandon()
	err = pump{rd.ctx, rd.attachments(), rd.progress}.run(t, func(sub string, batch inject.Batch) error {
		if sub == "" {
			if err := inline.finish(); err != nil {
				return err
			}
			return r.give(batch)
		}
		if slices.ContainsFunc(rd.subs, func(s inject.Subagent) bool { return s.NativeID == sub }) || r.segments[r.at].Removed {
			return nil // it has its own, complete transcript
		}
		return inline.append(sub, batch)
	})
	if err == nil {
		err = inline.finish()
	}
	if err != nil {
		return err
	}
	b.Learn(t)
	rd.started = t.Calls
	if err := r.finish(); err != nil {
		return err
	}
	rd.out.Result, rd.out.captured, rd.aside = r.result, r.captured, r.aside
	rd.out.Taken = r.missed
	rd.out.Subagents = len(inline.found) + len(rd.subs)
	if err := rd.publishBegun(r); err != nil {
		return err
	}
	complete, err := r.complete()
	if err != nil {
		return err
	}
	// Everything up to here has been captured. If git removes some of it later, it does not
	// count as new, even if git had removed something before.
	b.Reached = registry.Reached{Offset: t.Next.Offset, Size: t.Next.Size, Message: r.last}
	if !complete {
		return nil
	}
	rd.remember(r)
	if rd.staged != nil {
		return nil // its conversation is not published yet
	}
	// If the user's state cannot be written, the sources in session.json still record
	// which conversation the session goes into.
	_ = rd.c.Register(rd.agent.Name(), rd.nativeID, b)
	return nil
}

// routerFor prepares the delivery of a transcript.
func (rd *reading) routerFor(t *inject.Transcript, again bool) (*router, error) {
	b := rd.binding
	if err := rd.leaveOutRemoved(t); err != nil {
		return nil, err
	}
	if err := rd.followCommands(t, again); err != nil {
		return nil, err
	}
	at := b.At
	if again {
		rd.leaveUnknown(t, b.Roots)
		before := slices.Clone(rd.segments)
		at = binding.InOrder(rd.segments, t, b.Roots)
		rd.homes = rehome(rd.homes, before, rd.segments)
	}
	for i := range rd.homes {
		rd.homes[i].segment = &rd.segments[i]
	}
	r := newRouter(rd, at, t)
	r.again, r.past = again, rd.fresh
	if !again {
		r.from, r.fromAt = rd.from.Message, at
	}
	if r.segmentOf != nil && !again {
		for _, anchor := range rd.from.Anchors {
			r.segmentOf[anchor.Message] = b.At // the only segment until now
		}
		maps.Copy(r.segmentOf, b.SegmentOf)
	}
	return r, nil
}

// rehome reorders homes from the order of before to the order of now.
func rehome(homes []*home, before, now []binding.Segment) []*home {
	ordered := make([]*home, len(now))
	for i := range now {
		for j := range before {
			if before[j].From == now[i].From && before[j].Path == now[i].Path {
				ordered[i] = homes[j]
			}
		}
	}
	return ordered
}

// leaveOut adds a placeholder: a segment whose messages go nowhere, because they belong to
// a conversation that was removed or is unknown here.
func (rd *reading) leaveOut(from string) {
	rd.add(placeholder(from))
}

// placeholder returns the home of a segment whose messages go nowhere.
func placeholder(from string) *home {
	return &home{segment: &binding.Segment{Segment: registry.Segment{From: from}, Removed: true}}
}

// add adds a segment with its home.
func (rd *reading) add(h *home) {
	rd.segments, rd.homes = append(rd.segments, *h.segment), append(rd.homes, h)
}

// leaveOutRemoved leaves out the conversations that were removed on other machines. Only the
// prompts that began them are known.
func (rd *reading) leaveOutRemoved(t *inject.Transcript) error {
	var prompts []string
	for _, cmd := range t.Commands {
		if p := binding.FromCommand(cmd); !slices.ContainsFunc(rd.segments, func(s binding.Segment) bool { return s.From == p }) {
			prompts = append(prompts, p)
		}
	}
	gone, err := rd.c.ws.Removed.Prompts(t.Agent, t.NativeID, prompts)
	for _, p := range gone {
		rd.leaveOut(p)
	}
	return err
}

// leaveUnknown leaves out the beginning of a transcript if it belongs to a conversation
// unknown here, for example when the work tree has only a later conversation of the
// session.
func (rd *reading) leaveUnknown(t *inject.Transcript, roots []string) {
	starts := false
	for _, s := range rd.segments {
		if s.OpensIn(t, roots) {
			return
		}
		starts = starts || s.StartIn(t) != ""
	}
	if starts {
		rd.leaveOut("")
	}
}

// remember records in the binding what a reading of the transcript found, and how far it went.
func (rd *reading) remember(r *router) {
	b, t := rd.binding, r.transcript
	for _, root := range t.Roots {
		if !slices.Contains(b.Roots, root) {
			b.Roots = append(b.Roots, root)
		}
	}
	rd.c.catalog.noteRoots(rd.agent.Name(), b.Roots)
	if r.asked {
		b.Reply = "" // its answer may have the same words as the one before it
	} else if t.LastReply != "" {
		b.Reply = endOf(t.LastReply)
	}
	b.Cursor, b.Torn = t.Next, t.Torn != ""
	b.Commanded = b.Commanded && !r.again || t.Command != ""
	b.Ordinary = len(t.Commands) == 0 && (b.Ordinary || r.again && rd.c.ws.Config.CapturesAll() && !binding.Continues(r.segments))
	b.Segments, b.At = r.segments, r.untilAt
	if newest := b.Segments[len(b.Segments)-1]; newest.Begun() {
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
