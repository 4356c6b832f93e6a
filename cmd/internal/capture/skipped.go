package capture

import (
	"errors"
	"maps"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/schema"
)

// noteSkipped records how much of a skipped session is in the logs of the work tree, and
// captures nothing. Git may have brought the messages, and may remove them again; if the
// user then undoes the skip, they must not look new.
func (s *syncRun) noteSkipped(agent inject.Agent, n inject.SessionRef) error {
	c, here := s.c, s.c.ws.Here.Workspace()
	b, err := c.bindListed(nativeSession{agent: agent, id: n.NativeID, transcript: n.Path})
	if err != nil || len(b.Segments) == 0 {
		return err
	}
	have, err := c.homes.messagesOf(b.Segments)
	if err != nil || len(have) == 0 {
		return err
	}
	at := c.ws.Registry.Progress(here).Of(agent.Name(), n.NativeID)
	t, _, err := c.transcripts.open(agent, n.Path, inject.Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	furthest := at.Message
	err = eachMessage(t, func(m schema.Message) {
		if have[m.ID] || m.ID == at.Message {
			furthest = m.ID
		}
	})
	if err != nil || furthest == at.Message {
		return err
	}
	if at.Size == 0 {
		at.Size = b.Cursor.Size
	}
	// Everything up to the message counts as captured, wherever the cursor is.
	return c.ws.Registry.Progress(here).Set(agent.Name(), n.NativeID, registry.Reached{
		Offset: t.Next.Offset, Size: at.Size, Message: furthest, Hooked: at.Hooked, Transcript: at.Transcript,
	})
}

// messagesOf returns the ids of the messages in the work tree that belong to the
// conversations of segments.
func (hs *homes) messagesOf(segments []binding.Segment) (map[string]bool, error) {
	have := map[string]bool{}
	for i := range segments {
		if segments[i].Removed || binding.FirstOf(segments, i) != i {
			continue
		}
		conv, err := hs.findFolder(&segments[i])
		if err != nil {
			return nil, err
		}
		if conv == nil {
			continue
		}
		ids, err := conv.MessageIDs()
		if err = errors.Join(err, conv.Close()); err != nil {
			return nil, err
		}
		maps.Copy(have, ids)
	}
	return have, nil
}
