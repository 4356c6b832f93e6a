package capture

import (
	"cortext/inject"
	"cortext/store"
)

// inlineSubagents captures sub-agents whose messages are in the transcript of their parent.
// All of one sub-agent that comes in a row is one transaction.
type inlineSubagents struct {
	in     *reading
	router *router
	found  map[string]bool // by native id

	of   subagentOf
	conv *store.Conversation
	tx   *store.Tx // nil if none is open
}

// append appends messages of a sub-agent.
func (s *inlineSubagents) append(nativeID string, b inject.Batch) error {
	if s.tx == nil || s.of.nativeID != nativeID {
		if err := s.finish(); err != nil {
			return err
		}
		if err := s.begin(nativeID); err != nil {
			return err
		}
	}
	if err := s.tx.Append(b.Batch); err != nil {
		return err
	}
	if s.tx.Size() > flushAt {
		return s.tx.Flush()
	}
	return nil
}

func (s *inlineSubagents) begin(nativeID string) (err error) {
	r := s.router
	s.found[nativeID] = true
	s.of = subagentOf{parent: r.conv(target{r.first(r.at), r.aside[r.first(r.at)]}), transcript: r.transcript, nativeID: nativeID}
	if s.of.call, err = s.in.callID(r.at, r.transcript.Calls[nativeID], ""); err != nil {
		return err
	}
	if s.conv, err = s.of.parent.Subagent(nativeID); err != nil {
		return err
	}
	if s.tx, err = s.conv.Begin(); err != nil {
		_ = s.conv.Close()
	}
	return err
}

// finish commits the open transaction, if there is one.
func (s *inlineSubagents) finish() error {
	if s.tx == nil {
		return nil
	}
	if err := describeSubagent(s.tx, s.of); err != nil {
		return err
	}
	err := s.tx.Commit()
	s.tx = nil
	_ = s.conv.Close()
	return err
}

// abandon rolls back the open transaction, if there is one.
func (s *inlineSubagents) abandon() {
	if s.tx != nil {
		s.tx.Rollback()
		_ = s.conv.Close()
	}
}
