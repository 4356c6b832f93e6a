package capture

import (
	"errors"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// forgetGone makes an import treat a session as new if the user deleted the folders of all
// of its conversations. A conversation that would not get its folder back keeps its place.
func (im *Importer) forgetGone(b *binding.Binding, t *inject.Transcript) error {
	for i := range b.Segments {
		if gone, err := im.isGone(&b.Segments[i]); err != nil || !gone {
			return err
		}
	}
	if len(b.Segments) == 0 || b.Segments[0].From != "" {
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

// isGone reports whether nothing is left of a conversation that a session began.
func (im *Importer) isGone(s *binding.Segment) (bool, error) {
	if s.After != "" || s.Removed || im.c.catalog.recorded(s.ID) != nil {
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
	return !slices.ContainsFunc(all, func(e store.Entry) bool { // its folder may have another name now
		return !e.Waiting && schema.SameConversation(e.Session.ID, s.ID)
	}), nil
}
