package schema

import (
	"cmp"
	"slices"
)

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

// LooseCalls returns, by message, the ids of the calls that only their own lines link to
// it, ordered by time.
func (h *History) LooseCalls() map[string][]string {
	named := map[string]bool{}
	for i := range h.Messages {
		for _, c := range h.Messages[i].ToolCalls {
			named[c.ID] = true
		}
		for _, b := range h.Messages[i].Blocks {
			if b.Type == ToolCallBlock {
				named[b.ID] = true
			}
		}
	}
	loose := map[string][]string{}
	for id, t := range h.Tools {
		if !named[id] && t.MessageID != "" {
			loose[t.MessageID] = append(loose[t.MessageID], id)
		}
	}
	for _, ids := range loose {
		slices.SortFunc(ids, func(a, b string) int {
			return cmp.Or(h.Tools[a].Timestamp.Time().Compare(h.Tools[b].Timestamp.Time()), cmp.Compare(a, b))
		})
	}
	return loose
}
