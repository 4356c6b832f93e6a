package capture

import (
	"errors"

	"cortext/cmd/internal/binding"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// forgetGone makes an import treat a session as new if the user deleted the folders of all
// of its conversations. A conversation that would not get its folder back keeps its place.
func (im *Importer) forgetGone(b *binding.Binding, t *inject.Transcript) error {
	left := false
	for i := range b.Segments {
		gone, err := im.isGone(&b.Segments[i])
		if err != nil {
			return err
		}
		left = left || !gone
	}
	if left || len(b.Segments) == 0 || b.Segments[0].From != "" {
		return nil
	}
	staged, _, err := im.stage(t)
	if err != nil {
		return err
	}
	defer func() { staged.Discard(); staged.Close() }()
	id, err := staged.ID()
	if err != nil || staged.Path() != b.Segments[0].Path || !schema.SameConversation(id, b.Segments[0].ID) {
		return err
	}
	b.Segments, b.SegmentOf, b.Subagents, b.At, b.Current = nil, nil, nil, 0, 0
	return nil
}

// isGone reports whether nothing is left of a conversation that a session began. If its folder
// has another name now, the segment gets that name.
func (im *Importer) isGone(s *binding.Segment) (bool, error) {
	if s.Removed {
		return false, nil
	}
	conv, err := im.c.ws.Conversation(s.Path)
	if err == nil {
		return false, conv.Close()
	}
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	all, err := im.c.catalog.entries()
	if err != nil {
		return false, err
	}
	for _, e := range all {
		if !e.Waiting && schema.SameConversation(e.Session.ID, s.ID) {
			s.Path = e.Path
			return false, nil
		}
	}
	return s.After == "" && im.c.catalog.recorded(s.ID) == nil, nil
}
