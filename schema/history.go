package schema

import "slices"

// A History is what is read of a conversation: messages in their order with the
// calls that they made.
type History struct {
	Messages []Message       // each id once, its greatest rev, on the branch that is resumed, oldest first
	Tools    map[string]Tool // by call id, the greatest rev of each
	Earlier  int             // messages of the conversation before the first of Messages
	Aside    int             // messages behind that one that stand on branches that were left (rewinds)
}

// Calls are those that a message names, each once, in their order. One that is not
// in the log has its name alone.
func (h History) Calls(m *Message) []Tool {
	var list []Tool
	for i, c := range m.ToolCalls {
		if slices.ContainsFunc(m.ToolCalls[:i], func(b ToolCall) bool { return b.ID == c.ID }) {
			continue
		}
		t, ok := h.Tools[c.ID]
		if !ok || t.Name == "" {
			t.Name = c.Name
		}
		list = append(list, t)
	}
	return list
}
