package schema

import "slices"

// A History is the content of a conversation as read: messages in order, with the calls
// that they made.
type History struct {
	Messages []Message       // each id once with its greatest rev, on the branch that a resume continues, oldest first
	Tools    map[string]Tool // by call id, the greatest rev of each
	Earlier  int             // messages of the conversation before the first of Messages
	Aside    int             // messages after the first of Messages that are on abandoned branches (rewinds)
}

// Calls returns the calls that a message names, each once, in order. A call that is not
// in the log has only its name.
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
