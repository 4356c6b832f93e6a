package capture

import (
	"context"
	"errors"
	"fmt"

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
}

// appendSubagent appends to the conversation of a sub-agent and describes it the first
// time.
func (c *Capture) appendSubagent(sc *store.Conversation, of subagentOf, add func(*store.Tx) error) (r store.Result, err error) {
	tx, err := sc.Begin()
	if err != nil {
		return r, err
	}
	if err := c.fillSubagent(tx, of, add); err != nil {
		tx.Rollback()
		return r, err
	}
	err = tx.Commit()
	return tx.Result(), err
}

func (c *Capture) fillSubagent(tx *store.Tx, of subagentOf, add func(*store.Tx) error) error {
	if err := add(tx); err != nil {
		return err
	}
	s, _, err := tx.Session()
	if err != nil || len(s.Sources) > 0 {
		return err
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

// ingestSubagent captures the new part of a sub-agent's own transcript.
func (c *Capture) ingestSubagent(ctx context.Context, agent inject.Agent, b *Binding, in *reading, s inject.Subagent) error {
	size, err := agent.Stat(s.Path)
	if err != nil || size == 0 {
		return nil // gone or still empty
	}
	at, ok, err := segmentOfCall(b, in, s.ToolCallID)
	if err != nil || !ok {
		return err
	}
	h, conv := in.homes[at], in.homes[at].conv
	aside := in.aside[firstOf(in.segments, at)]
	if aside { // with the records taken from its conversation
		h = in.homes[firstOf(in.segments, at)]
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
		have = subCursor{}
	}
	t, again, err := c.readOn(agent, s.Path, have.Cursor, false)
	if err != nil {
		return err
	}
	defer t.Close()
	c.warnings.unread(s.Path, t, in.o.Mode)
	if again {
		have.Checkpoint = store.Checkpoint{}
	}
	tx, err := sc.BeginAt(have.Checkpoint)
	if err != nil {
		return err
	}
	cp, err := c.deliverSubagent(ctx, tx, subagentOf{conv, t, s.NativeID, s.ToolCallID})
	if err != nil {
		tx.Rollback()
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if b.Subagents == nil {
		b.Subagents = map[string]subCursor{}
	}
	b.Subagents[s.NativeID] = subCursor{t.Next, cp, away}
	return nil
}

// deliverSubagent is the loop over a sub-agent's transcript.
func (c *Capture) deliverSubagent(ctx context.Context, tx *store.Tx, of subagentOf) (cp store.Checkpoint, err error) {
	bring, found := ids{}, false
	err = c.fillSubagent(tx, of, func(tx *store.Tx) error {
		return c.pump(ctx, of.transcript, func(_ string, b inject.Batch) error {
			calls, _ := callsByMessage(b)
			for _, m := range b.Messages {
				if found = found || m.ID == of.transcript.Next.Message; found {
					bring.add(m.ID, calls[m.ID])
				}
			}
			if err := tx.Append(b.Batch); err != nil {
				return err
			}
			if tx.Size() > flushAt {
				return tx.Flush()
			}
			return nil
		}, nil)
	})
	if err == nil {
		err = tx.Flush()
	}
	if err != nil {
		return cp, err
	}
	return tx.Checkpoint(bring.messages, bring.calls)
}

// segmentOfCall returns the segment of the call that started a sub-agent, or the segment
// of the cursor if the call is unknown. ok is false if that segment was removed.
func segmentOfCall(b *Binding, in *reading, call string) (at int, ok bool, err error) {
	removed := false
	for i, s := range in.segments {
		if removed = removed || s.Removed; s.Removed || len(in.segments) == 1 || call == "" {
			continue
		}
		has, err := hasCall(in.homes[i].conv, call)
		if err != nil || has {
			return i, has, err
		}
	}
	at = min(b.At, len(in.segments)-1)
	return at, !in.segments[at].Removed && (!removed || call == ""), nil
}

// hasCall reports whether a conversation has a tool call.
func hasCall(conv *store.Conversation, call string) (bool, error) {
	for t, err := range conv.Tools() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return false, fmt.Errorf("look for call %q: %w", call, err)
		}
		if err == nil && t.ID == call {
			return true, nil
		}
	}
	return false, nil
}
