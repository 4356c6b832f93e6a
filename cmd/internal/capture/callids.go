package capture

import (
	"errors"
	"slices"
	"strings"

	"cortext/cmd/internal/binding"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Some models' servers count calls from the beginning in each session. In a conversation
// that continues in another session, perhaps in another clone, two calls would have the
// same id, and the later one would replace the earlier one. So there the session's id is
// added to the id of a call, unless the id is too long to be such a count. A fork repeats
// messages of its original: their calls keep the ids that they have in the original, where
// more calls may precede them than in the fork.

// callID returns the id under which a conversation holds a call. message is the id of the
// message that made it, or empty if that is not known.
func (rd *reading) callID(segment int, id, message string) (string, error) {
	s := &rd.segments[segment]
	if !s.Continues() || s.Removed || !inject.IsCounted(id) {
		return id, nil
	}
	if message != "" {
		before, err := rd.callsBefore(segment)
		if err != nil {
			return "", err
		}
		if have, ok := before.find(id, message); ok {
			return have, nil
		}
	}
	return id + "#" + rd.nativeID, nil
}

// nameCalls sets the ids under which a conversation holds the calls of a message.
func (rd *reading) nameCalls(segment int, m *schema.Message) (err error) {
	if !rd.segments[segment].Continues() {
		return nil
	}
	m.ToolCalls, m.Blocks = slices.Clone(m.ToolCalls), slices.Clone(m.Blocks)
	for i := range m.ToolCalls {
		if m.ToolCalls[i].ID, err = rd.callID(segment, m.ToolCalls[i].ID, m.ID); err != nil {
			return err
		}
	}
	for i := range m.Blocks {
		if m.Blocks[i].ID, err = rd.callID(segment, m.Blocks[i].ID, m.ID); err != nil {
			return err
		}
	}
	return nil
}

// nameTools does the same for calls.
func (rd *reading) nameTools(segment int, calls []schema.Tool) (err error) {
	for i := range calls {
		if calls[i].ID, err = rd.callID(segment, calls[i].ID, calls[i].MessageID); err != nil {
			return err
		}
	}
	return nil
}

// made holds the ids of calls that a server may issue again, by the message that made them.
type made map[string][]string

func (c made) add(m schema.Message) {
	for _, call := range m.ToolCalls {
		if inject.IsCounted(issued(call.ID)) && !slices.Contains(c[m.ID], call.ID) {
			c[m.ID] = append(c[m.ID], call.ID)
		}
	}
}

// find returns the id under which a conversation holds the call with this id in the
// transcript: the same id, as earlier versions stored it, or the id with an ending.
func (c made) find(id, message string) (string, bool) {
	have := c[message]
	if slices.Contains(have, id) {
		return id, true
	}
	i := slices.IndexFunc(have, func(have string) bool {
		rest, ok := strings.CutPrefix(have, id)
		return ok && issued(rest) == ""
	})
	if i < 0 {
		return "", false
	}
	return have[i], true
}

// issued returns the id of a call without the suffixes that distinguish it from others.
func issued(id string) string {
	if i := strings.IndexAny(id, "#@"); i >= 0 {
		return id[:i]
	}
	return id
}

// callsBefore returns the calls that a conversation had before this reading.
func (rd *reading) callsBefore(segment int) (before made, err error) {
	at := binding.FirstOf(rd.segments, segment)
	if before = rd.calls[at]; at < 0 || before != nil {
		return before, nil
	}
	var convs []*store.Conversation
	for _, conv := range []*store.Conversation{rd.homes[at].tree, rd.homes[at].conv, rd.homes[at].aside} {
		if conv != nil && !slices.Contains(convs, conv) {
			convs = append(convs, conv)
		}
	}
	before = made{}
	for _, conv := range convs {
		if err := before.read(conv); err != nil {
			return nil, err
		}
	}
	for _, r := range rd.beside {
		for _, m := range r.Batch.Messages {
			before.add(m)
		}
	}
	if rd.calls == nil {
		rd.calls = map[int]made{}
	}
	rd.calls[at] = before
	return before, nil
}

// read adds the calls of a conversation.
func (c made) read(conv *store.Conversation) error {
	for m, err := range conv.Messages() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return err
		}
		c.add(m)
	}
	return nil
}
