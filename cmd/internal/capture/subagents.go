package capture

import (
	"fmt"

	"cortext/cmd/internal/binding"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// A subagentOf identifies the parent of a sub-agent's conversation.
type subagentOf struct {
	parent     *store.Conversation
	transcript *inject.Transcript
	nativeID   string
	call       string // the parent's call that started it
	certain    bool   // the parent's transcript says so
}

// appendSubagent appends to the conversation of a sub-agent and describes it the first
// time.
func appendSubagent(sc *store.Conversation, of subagentOf, add func(*store.Tx) error) (r store.Result, err error) {
	tx, err := sc.Begin()
	if err != nil {
		return r, err
	}
	if err := fillSubagent(tx, of, add); err != nil {
		tx.Rollback()
		return r, err
	}
	err = tx.Commit()
	return tx.Result(), err
}

func fillSubagent(tx *store.Tx, of subagentOf, add func(*store.Tx) error) error {
	if err := add(tx); err != nil {
		return err
	}
	return describeSubagent(tx, of)
}

// describeSubagent counts what was appended, and the first time it says whose conversation
// it is.
func describeSubagent(tx *store.Tx, of subagentOf) error {
	s, _, err := tx.Session()
	if err != nil {
		return err
	}
	if len(s.Sources) > 0 {
		// Before the call had a result, at most the server's id for it was known. A later call
		// may have resumed the sub-agent.
		if l := s.Links; of.certain && l != nil && (l.ToolCallID == "" || issued(l.ToolCallID) == issued(of.call)) {
			l.ToolCallID = of.call
		}
		return tx.Count()
	}
	if err := tx.Recount(); err != nil { // to learn when it began
		return err
	}
	parent, _, err := of.parent.Session()
	if err != nil {
		return err
	}
	began, err := tx.FirstTime()
	if err != nil {
		return err
	}
	if began != "" {
		s.CreatedAt = began
	}
	s.Sources = []schema.Source{{Agent: of.transcript.Agent, NativeID: of.nativeID, Version: of.transcript.Version}}
	s.ID = schema.DerivedID(of.transcript.Agent, of.nativeID, s.CreatedAt.Time())
	s.ConversationType, s.Status = "subagent", schema.Completed
	s.AgentConfig.Agent = of.transcript.Agent
	s.Links = &schema.Links{Parent: parent.ID, ToolCallID: of.call}
	return nil
}

// subagent captures the new part of a sub-agent's own transcript.
func (rd *reading) subagent(s inject.Subagent) error {
	b := rd.binding
	size, err := rd.agent.Stat(s.Path)
	if err != nil || size == 0 {
		return nil // gone or still empty
	}
	call, certain := rd.started[s.NativeID]
	if !certain {
		call = s.ToolCallID
	}
	at, ok, err := rd.segmentOfCall(call)
	if err != nil || !ok {
		return err
	}
	h, conv := rd.homes[at], rd.homes[at].conv
	aside := rd.aside[binding.FirstOf(rd.segments, at)]
	if aside { // next to the records that git removed from its conversation
		h = rd.homes[binding.FirstOf(rd.segments, at)]
		conv = h.aside
	}
	sc, err := conv.Subagent(s.NativeID)
	if err != nil {
		return err
	}
	defer sc.Close()
	have := b.Subagents[s.NativeID]
	away := h.waiting || aside
	confirmed := have.Waiting == away && sc.Unchanged(have.Checkpoint)
	if confirmed && size == have.Cursor.Size {
		return nil
	}
	if !confirmed || !sc.Confirms(have.Checkpoint) {
		have = binding.SubCursor{}
	}
	t, again, err := rd.c.transcripts.open(rd.agent, s.Path, inject.Options{From: have.Cursor})
	if err != nil {
		return err
	}
	defer t.Close()
	rd.c.warnings.unread(s.Path, t, rd.opts.Mode)
	if again {
		have.Checkpoint = store.Checkpoint{}
	}
	tx, err := sc.BeginAt(have.Checkpoint)
	if err != nil {
		return err
	}
	if call, err = rd.callID(at, call, ""); err != nil {
		tx.Rollback()
		return err
	}
	cp, err := rd.deliverSubagent(tx, subagentOf{conv, t, s.NativeID, call, certain})
	if err != nil {
		tx.Rollback()
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if b.Subagents == nil {
		b.Subagents = map[string]binding.SubCursor{}
	}
	b.Subagents[s.NativeID] = binding.SubCursor{Cursor: t.Next, Checkpoint: cp, Waiting: away}
	return nil
}

// deliverSubagent is the loop over a sub-agent's transcript.
func (rd *reading) deliverSubagent(tx *store.Tx, of subagentOf) (cp store.Checkpoint, err error) {
	reread, found := ids{}, false
	err = fillSubagent(tx, of, func(tx *store.Tx) error {
		return pump{rd.ctx, rd.attachments(), nil}.run(of.transcript, func(_ string, b inject.Batch) error {
			calls, _ := callsByMessage(b)
			for _, m := range b.Messages {
				if found = found || m.ID == of.transcript.Next.Message; found {
					reread.add(m.ID, calls[m.ID])
				}
			}
			if err := tx.Append(b.Batch); err != nil {
				return err
			}
			if tx.Size() > flushAt {
				return tx.Flush()
			}
			return nil
		})
	})
	if err == nil {
		err = tx.Flush()
	}
	if err != nil {
		return cp, err
	}
	return tx.Checkpoint(reread.messages, reread.calls)
}

// segmentOfCall returns the segment of the call that started a sub-agent, or the segment
// of the cursor if the call is unknown. ok is false if that segment was removed.
func (rd *reading) segmentOfCall(call string) (at int, ok bool, err error) {
	removed := false
	for i, s := range rd.segments {
		if removed = removed || s.Removed; s.Removed || len(rd.segments) == 1 || call == "" {
			continue
		}
		id, err := rd.callID(i, call, "")
		if err != nil {
			return 0, false, err
		}
		has, err := hasCall(rd.homes[i].conv, id)
		if err != nil || has {
			return i, has, err
		}
	}
	at = min(rd.binding.At, len(rd.segments)-1)
	return at, !rd.segments[at].Removed && (!removed || call == ""), nil
}

// hasCall reports whether a conversation has a tool call.
func hasCall(conv *store.Conversation, call string) (bool, error) {
	for t, err := range store.Undamaged(conv.Tools()) {
		if err != nil {
			return false, fmt.Errorf("look for call %q: %w", call, err)
		}
		if t.ID == call {
			return true, nil
		}
	}
	return false, nil
}
