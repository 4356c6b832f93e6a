package capture

import (
	"errors"
	"slices"

	"cortext/cmd/internal/binding"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// Some models' servers count calls from the beginning in each session. In a conversation
// that continues in another session, maybe in another clone, two calls would have one id, and
// the later one would take the place of the earlier one. So there the id of a call gets the
// session's id, unless it is too long for such a count.

// callID returns the id under which a conversation holds a call. message is the one that
// made it, or empty.
func (rd *reading) callID(segment int, id, message string) (string, error) {
	s := &rd.segments[segment]
	if s.After == "" || s.Fork || s.Removed || !inject.IsCounted(id) {
		return id, nil
	}
	if message != "" {
		before, err := rd.callsBefore(segment)
		if err != nil || slices.Contains(before[id], message) {
			return id, err // as captured by an earlier version
		}
	}
	return id + "#" + rd.nativeID, nil
}

// nameCalls sets the ids under which a conversation holds the calls of a message.
func (rd *reading) nameCalls(segment int, m *schema.Message) (err error) {
	if rd.segments[segment].After == "" {
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

// callsBefore returns the messages that made the calls that a conversation had before this
// reading, by call.
func (rd *reading) callsBefore(segment int) (before map[string][]string, err error) {
	at := binding.FirstOf(rd.segments, segment)
	if before = rd.calls[at]; at < 0 || before != nil {
		return before, nil
	}
	conv := rd.homes[at].tree
	if conv == nil {
		conv = rd.homes[at].conv
	}
	if conv == nil {
		if conv, err = rd.c.ws.Store.Conversation(rd.segments[at].Path); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, conv.Close()) }()
	}
	before = map[string][]string{}
	for t, err := range conv.Tools() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return nil, err
		}
		if err == nil && inject.IsCounted(t.ID) {
			before[t.ID] = append(before[t.ID], t.MessageID)
		}
	}
	if rd.calls == nil {
		rd.calls = map[int]map[string][]string{}
	}
	rd.calls[at] = before
	return before, nil
}
