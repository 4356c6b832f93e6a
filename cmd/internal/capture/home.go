package capture

import (
	"errors"
	"fmt"
	"slices"

	"cortext/schema"
	"cortext/store"
)

// Mode says what a capture may do to a work tree from which git took content.
type Mode int

// The modes.
const (
	// Unasked is for sync, watch and current: nothing that git removed is put back.
	Unasked Mode = iota
	// OwnTurn is for the conversation's own session: its logs are completed, if its
	// folder is there.
	OwnTurn
	// PutBack is for stop, resume and sync --restore: also a folder that is gone is
	// made again.
	PutBack
)

// A home is where the records of a segment go now.
type home struct {
	segment *Segment
	conv    *store.Conversation // what is written to
	tree    *store.Conversation // in the work tree; nil if the folder is not there
	waiting bool                // conv is where records wait
	why     string              // they wait
	taken   bool                // conv is for what git took and nobody asked back
	have    map[string]bool     // messages that the work tree has, if conv is not there
	calls   map[string]bool     // and tool calls
}

// home finds the home of a segment.
func (c *Capture) home(s *Segment, mode Mode) (*home, error) {
	h := &home{segment: s}
	var err error
	if h.tree, err = c.findFolder(s); err != nil {
		return nil, err
	}
	switch {
	case h.tree != nil:
		h.why = c.ws.Away(h.tree)
	case c.ws.GitOperation() != "":
		h.why = "git is in the middle of a " + c.ws.GitOperation()
	case mode != PutBack:
		h.why = "its folder is not in this work tree"
	case c.ws.Outside(s.Path):
		h.why = "its files are outside of the sparse checkout"
	}
	if h.why == "" {
		if h.tree == nil {
			if h.tree, err = c.putBack(s); err != nil {
				return nil, err
			}
		}
		if mode != Unasked {
			h.tree.TakeBack()
		}
		h.conv = h.tree
		return h, nil
	}
	h.waiting = true
	if h.tree != nil && h.tree.LogsAbsent() {
		if err := h.tree.Close(); err != nil {
			return nil, err
		}
		h.tree = nil
	}
	if h.conv, err = c.ws.Store.Waiting(s.Path); err == nil && h.tree != nil {
		h.have, h.calls, err = h.tree.RecordIDs()
	}
	return h, err
}

// has reports whether the work tree has a message with all of its calls.
func (h *home) has(message string, calls []schema.Tool) bool {
	return h.have[message] && !slices.ContainsFunc(calls, func(t schema.Tool) bool { return !h.calls[t.ID] })
}

// setAside lets a segment's records that the work tree lacks be kept where nobody
// sees them until somebody asks them back.
func (c *Capture) setAside(h *home) (err error) {
	h.taken = true
	if h.have, h.calls, err = h.tree.RecordIDs(); err != nil {
		return err
	}
	h.conv, err = c.ws.Store.Taken(h.segment.Path)
	return err
}

// findFolder opens the conversation of a segment in the work tree: by its path, or
// by its id if it has another folder here. It returns nil if it is not there.
func (c *Capture) findFolder(s *Segment) (*store.Conversation, error) {
	conv, err := c.ws.Store.Conversation(s.Path)
	if err == nil {
		sess, _, err := conv.Session()
		if err != nil || s.ID == "" || conv.LogsAbsent() {
			return conv, err
		}
		if schema.SameConversation(sess.ID, s.ID) && c.ws.Store.HasRecords(s.Path) {
			return conv, nil
		} // else it is new, or another of its folders has taken them over
		if err := conv.Close(); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if s.ID == "" {
		return nil, nil
	}
	e, ok, err := c.ws.ByConversation(s.ID)
	if err != nil || !ok || e.Waiting {
		return nil, err
	}
	s.Path = e.Path
	return c.ws.Store.Conversation(e.Path)
}

// putBack makes the folder of a conversation again, with what waits for it.
func (c *Capture) putBack(s *Segment) (*store.Conversation, error) {
	conv, err := c.ws.Store.MakeFolder(s.Path)
	if err != nil {
		return nil, fmt.Errorf("put %s back: %w", s.Path, err)
	}
	return conv, nil
}

// confirmed reports whether the logs hold what the segment's checkpoints name.
func (h *home) confirmed() bool {
	s := h.segment
	if s.From != "" && s.Start == "" {
		return true // it has not begun: nothing was delivered
	}
	if !h.waiting {
		return s.Tree != store.Checkpoint{} && h.tree.Confirms(s.Tree)
	}
	if h.tree == nil {
		return s.Whole && h.conv.Confirms(s.Waiting)
	}
	return s.Tree != store.Checkpoint{} && h.tree.Confirms(s.Tree) && h.conv.Confirms(s.Waiting)
}

// begin begins the transaction for the records of a segment.
func (h *home) begin(again bool) (*store.Tx, error) {
	switch {
	case again || h.taken:
		return h.conv.Begin()
	case h.waiting:
		return h.conv.BeginAt(h.segment.Waiting)
	}
	return h.conv.BeginAt(h.segment.Tree)
}

// took notes the checkpoint of a delivery. again says that everything was delivered.
func (h *home) took(cp store.Checkpoint, again bool) {
	s := h.segment
	switch {
	case h.taken:
		return
	case h.waiting && h.tree == nil:
		s.Waiting, s.Whole = cp, s.Whole || again
		return
	case h.waiting:
		s.Waiting = cp
		return
	}
	s.Tree, s.Waiting, s.Whole = cp, store.Checkpoint{}, false
}

func (h *home) close() error {
	var errs []error
	if h.tree != nil {
		errs = append(errs, h.tree.Close())
	}
	if h.conv != nil && h.conv != h.tree {
		errs = append(errs, h.conv.Close())
	}
	return errors.Join(errs...)
}
