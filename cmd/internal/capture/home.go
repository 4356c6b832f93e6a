package capture

import (
	"errors"
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
	aside   *store.Conversation // for what git took and nobody asked back; nil: nothing is set aside
	have    *store.Snapshot     // of the work tree, whose records are not delivered again; nil: all are delivered
}

// home finds the home of a segment.
func (c *Capture) home(s *Segment, mode Mode) (*home, error) {
	h := &home{segment: s}
	var err error
	name := s.Path
	if h.tree, err = c.findFolder(s); err != nil {
		return nil, err
	}
	switch {
	case h.tree != nil:
		h.why = c.ws.Away(h.tree)
	case c.ws.GitOperation() != "":
		h.why = "a git " + c.ws.GitOperation() + " is under way"
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
			h.tree.TakeBack(s.Path)
			h.tree.TakeBack(name)
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
	if h.conv, err = c.ws.Store.Waiting(s.Path, s.ID); err != nil {
		return h, err
	}
	s.Path = h.conv.Path()
	if h.tree != nil {
		h.have, err = h.tree.Snapshot()
	}
	return h, err
}

// setAside lets a segment's records that git took from the work tree be kept where
// nobody sees them until somebody asks them back.
func (c *Capture) setAside(h *home) (err error) {
	if h.have, err = h.tree.Snapshot(); err != nil {
		return err
	}
	h.aside, err = c.ws.Store.Taken(h.segment.Path)
	return err
}

// emptied reports whether the log of messages is missing from a folder that had some.
func (h *home) emptied() bool {
	if !h.tree.LogsAbsent() {
		return false
	}
	s, _, err := h.tree.Session()
	return err != nil || s.MessageCount > 0
}

// findFolder opens the conversation of a segment in the work tree: by its path, or
// by its id if it has another folder here. It returns nil if it is not there.
func (c *Capture) findFolder(s *Segment) (*store.Conversation, error) {
	if e, ok := c.ws.Twinned(s.ID); ok {
		s.Path = e.Path
		return c.ws.Store.Open(e)
	}
	conv, err := c.ws.Store.Conversation(s.Path)
	if err == nil {
		id, err := conv.ID()
		if err != nil || s.ID == "" || conv.LogsAbsent() {
			return conv, err
		}
		if schema.SameConversation(id, s.ID) && c.ws.Store.HasRecords(s.Path) {
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
	if slices.Contains(c.ws.Store.WaitingPaths(), s.Path) && s.Path != e.Path {
		e.Twins = append(e.Twins, s.Path) // what waits under the name that it had
	}
	s.Path = e.Path
	return c.ws.Store.Open(e)
}

// putBack makes the folder of a conversation again, with what waits for it.
func (c *Capture) putBack(s *Segment) (*store.Conversation, error) {
	conv, err := c.ws.Store.MakeFolder(s.Path, s.ID)
	if err != nil {
		return nil, err
	}
	s.Path = conv.Path()
	return conv, nil
}

// confirmed reports whether the logs hold what the segment's checkpoints name.
func (h *home) confirmed() bool {
	s := h.segment
	if s.From != "" && s.Start == "" {
		return true // it has not begun: nothing was delivered
	}
	if !h.waiting {
		// What waited may have been moved into the log, or have been lost with an
		// older copy of .workspace/local.
		return s.Tree != store.Checkpoint{} && s.Waiting == store.Checkpoint{} && h.tree.Confirms(s.Tree)
	}
	if h.tree == nil {
		return s.Whole && h.conv.Confirms(s.Waiting)
	}
	return s.Tree != store.Checkpoint{} && h.tree.Confirms(s.Tree) && h.conv.Confirms(s.Waiting)
}

// begin begins the transaction for the records of a segment.
func (h *home) begin(again bool) (*store.Tx, error) {
	switch {
	case again:
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
	for _, conv := range []*store.Conversation{h.tree, h.conv, h.aside} {
		if conv != nil {
			errs = append(errs, conv.Close())
		}
	}
	if h.have != nil {
		errs = append(errs, h.have.Close())
	}
	return errors.Join(errs...)
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
