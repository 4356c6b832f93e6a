package capture

import (
	"errors"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// Mode says what a capture may write to a work tree that git removed records from.
type Mode int

const (
	// Unasked is for sync, watch and current: nothing that git removed is restored.
	Unasked Mode = iota
	// OwnTurn is for the conversation's own session: its logs are completed if its folder
	// exists.
	OwnTurn
	// PutBack is for stop, resume and sync --restore: a missing folder is recreated, too.
	PutBack
)

// A home is where the records of a segment currently go.
type home struct {
	segment *binding.Segment
	conv    *store.Conversation // the conversation to write to
	tree    *store.Conversation // in the work tree; nil if the folder is not there
	waiting bool                // conv holds waiting records
	back    bool                // the folder was put back now
	why     string              // why they wait
	aside   *store.Conversation // for records that git removed and the user has not asked to restore; nil: none
	have    *store.Snapshot     // of the work tree; its records are not delivered again; nil: all are delivered
}

// homes opens the conversations that the records of segments go to. All segments of one
// conversation share a home. While git is in the middle of an operation, nothing is written
// to the work tree.
type homes struct{ ws *workspace.Workspace }

// home returns the home of a segment.
func (hs *homes) home(s *binding.Segment, mode Mode) (*home, error) {
	h := &home{segment: s}
	var err error
	name := s.Path
	if h.tree, err = hs.findFolder(s); err != nil {
		return nil, err
	}
	switch {
	case h.tree != nil:
		h.why = hs.ws.Tree.Away(h.tree)
	case hs.ws.Tree.Operation() != "":
		h.why = "a git " + hs.ws.Tree.Operation() + " is under way"
	case mode != PutBack:
		h.why = "its folder is not in this work tree"
	case hs.ws.Tree.Outside(s.Path):
		h.why = "its files are outside of the sparse checkout"
	}
	if h.why == "" {
		if h.tree == nil {
			if h.tree, err = hs.putBack(s); err != nil {
				return nil, err
			}
			h.back = true
		}
		if mode != Unasked {
			h.tree.TakeBack(s.Path)
			h.tree.TakeBack(name)
		}
		h.conv = h.tree
		return h, nil
	}
	h.waiting = true
	if h.tree != nil && (h.tree.LogsAbsent() || h.tree.StandIn() != nil) {
		if err := h.tree.Close(); err != nil {
			return nil, err
		}
		h.tree = nil
	}
	if h.conv, err = hs.ws.Store.Kept().Waiting(s.Path, s.ID); err != nil {
		return h, err
	}
	s.Path = h.conv.Path()
	if h.tree != nil {
		h.have, err = h.tree.Snapshot()
	}
	return h, err
}

// setAside directs the records that git removed from the work tree to a hidden place until
// the user asks for them.
func (hs *homes) setAside(h *home) (err error) {
	if h.have, err = h.tree.Snapshot(); err != nil {
		return err
	}
	h.aside, err = hs.ws.Store.Kept().Taken(h.segment.Path)
	return err
}

// emptied reports whether a folder that had messages has lost its message log.
func (h *home) emptied() bool {
	if !h.tree.LogsAbsent() {
		return false
	}
	s, _, err := h.tree.Session()
	return err != nil || s.MessageCount > 0
}

// findFolder opens the conversation of a segment in the work tree, by its path, or by its
// id if it has another folder here. It returns nil if the conversation is not in the work
// tree.
func (hs *homes) findFolder(s *binding.Segment) (*store.Conversation, error) {
	if e, ok := hs.ws.Index.Twinned(s.ID, s.Path); ok {
		s.Path = e.Path
		return hs.ws.Store.Open(e)
	}
	conv, err := hs.ws.Store.Conversation(s.Path)
	if err == nil {
		id, err := conv.ID()
		if err != nil || s.ID == "" || conv.LogsAbsent() {
			return conv, err
		}
		isIt := schema.SameConversation(id, s.ID) || workspace.MadeUp(s.Path, id, s.ID) && !hs.isElsewhere(s.ID)
		if isIt && hs.ws.Store.HasRecords(s.Path) {
			return conv, nil
		} // otherwise it is new, or another folder now has its records
		if err := conv.Close(); err != nil {
			return nil, err
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if s.ID == "" {
		return nil, nil
	}
	e, ok, err := hs.ws.ByConversation(s.ID)
	if err != nil || !ok || e.Waiting {
		return nil, err
	}
	if slices.Contains(hs.ws.Store.Kept().WaitingPaths(), s.Path) && s.Path != e.Path {
		e.Twins = append(e.Twins, s.Path) // records wait under its earlier name
	}
	s.Path = e.Path
	return hs.ws.Store.Open(e)
}

// isElsewhere reports whether a folder says that it is the conversation with the given id,
// as when a person gave its name to the folder of another one.
func (hs *homes) isElsewhere(id string) bool {
	e, ok, err := hs.ws.ByConversation(id)
	return err == nil && ok && !e.Waiting
}

// putBack recreates the folder of a conversation, with the records that wait for it.
func (hs *homes) putBack(s *binding.Segment) (*store.Conversation, error) {
	conv, err := hs.ws.Store.Kept().MakeFolder(s.Path, s.ID)
	if err != nil {
		return nil, err
	}
	s.Path = conv.Path()
	return conv, nil
}

// confirmed reports whether the logs hold the records that the segment's checkpoints
// name.
func (h *home) confirmed() bool {
	s := h.segment
	if s.From != "" && s.Start == "" {
		return true // it has not begun: nothing was delivered
	}
	if !h.waiting {
		// Waiting records may have moved into the log, or were lost with an older copy of
		// .workspace/local.
		return s.Tree != store.Checkpoint{} && s.Waiting == store.Checkpoint{} && h.tree.Confirms(s.Tree)
	}
	if h.tree == nil {
		return s.Whole && h.conv.Confirms(s.Waiting)
	}
	return s.Tree != store.Checkpoint{} && h.tree.Confirms(s.Tree) && h.conv.Confirms(s.Waiting)
}

// begin starts the transaction for the records of a segment, at its checkpoint.
func (h *home) begin() (*store.Tx, error) {
	if h.waiting {
		return h.conv.BeginAt(h.segment.Waiting)
	}
	return h.conv.BeginAt(h.segment.Tree)
}

// took stores the checkpoint of a delivery. whole says that everything was delivered.
func (h *home) took(cp store.Checkpoint, whole bool) {
	s := h.segment
	switch {
	case h.waiting && h.tree == nil:
		s.Waiting, s.Whole = cp, s.Whole || whole
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

// homesOf returns the homes of a session's segments.
func (hs *homes) homesOf(segments []binding.Segment, mode Mode) (homes []*home, err error) {
	for i := range segments {
		if segments[i].Removed {
			homes = append(homes, &home{segment: &segments[i]})
			continue
		}
		if j := slices.IndexFunc(segments[:i], func(s binding.Segment) bool { return s.Path == segments[i].Path && !s.Removed }); j >= 0 {
			same := *homes[j]
			same.segment = &segments[i]
			homes = append(homes, &same)
			continue
		}
		h, err := hs.home(&segments[i], mode)
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

// elsewhere reports whether a session has conversations, but none in this work tree.
func (hs *homes) elsewhere(b *binding.Binding) bool {
	for i := range b.Segments {
		if b.Segments[i].Removed {
			continue
		}
		conv, err := hs.findFolder(&b.Segments[i])
		if err != nil || conv != nil {
			if conv != nil {
				_ = conv.Close()
			}
			return false
		}
	}
	return b.Captured()
}
