package export

import (
	"fmt"
	"slices"
	"strconv"

	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/history"
	"cortext/schema"
)

// A RangeError reports that the first message to export is after the last.
type RangeError struct{ From, To string }

func (e *RangeError) Error() string { return fmt.Sprintf("--from %s is after --to %s", e.From, e.To) }

// choose drops what the options do not select, and links the remaining messages to each
// other.
func choose(c *portable.Conversation, o Options) error {
	keep := func(*schema.Message) bool { return true }
	if o.From != "" || o.To != "" {
		h := historyOf(c)
		from, to, err := limits(h.Messages, c.Messages, o)
		if err != nil {
			return err
		}
		on := map[string]bool{}
		for _, m := range h.Messages {
			on[m.ID] = true
		}
		keep = func(m *schema.Message) bool { return on[m.ID] && m.Number >= from && m.Number <= to }
	}
	if o.From != "" {
		c.LeftOut = append(c.LeftOut, "messages before "+o.From)
	}
	if o.To != "" {
		c.LeftOut = append(c.LeftOut, "messages after "+o.To)
	}
	if o.Only != "" {
		within := keep
		keep = func(m *schema.Message) bool { return within(m) && m.Role == o.Only }
		c.LeftOut = append(c.LeftOut, "messages of others than the "+string(o.Only))
	}
	thin(c, keep)
	if o.NoTools {
		c.LeftOut = append(c.LeftOut, "tool calls")
	}
	if o.NoReasoning {
		c.LeftOut = append(c.LeftOut, "reasoning")
	}
	strip(c, o)
	return nil
}

// strip removes parts of messages, including those of sub-agents.
func strip(c *portable.Conversation, o Options) {
	if o.NoTools {
		c.Tools = nil
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		if o.NoReasoning {
			m.Reasoning = ""
		}
		if o.NoTools {
			m.ToolCalls = nil
			m.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b schema.Block) bool { return b.Type == schema.ToolCallBlock })
		}
	}
	for i := range c.Subagents {
		strip(&c.Subagents[i].Conversation, o)
	}
}

// limits returns the numbers of the first and the last message to export, which are on a branch
// of all messages.
func limits(branch, all []schema.Message, o Options) (from, to int, err error) {
	last := 0
	if len(branch) > 0 {
		last = branch[len(branch)-1].Number
	}
	from, to = 1, last
	find := func(option, name string, at *int) error {
		if name == "" {
			return nil
		}
		n, numErr := strconv.Atoi(name)
		named := func(m schema.Message) bool { return m.ID == name || numErr == nil && m.Number == n }
		i := slices.IndexFunc(branch, named)
		if i < 0 {
			return fmt.Errorf("--%s: %w", option, &history.AtError{At: name, Messages: last, OtherBranch: slices.ContainsFunc(all, named)})
		}
		*at = branch[i].Number
		return nil
	}
	if err = find("from", o.From, &from); err == nil {
		err = find("to", o.To, &to)
	}
	if err == nil && from > to {
		err = &RangeError{o.From, o.To}
	}
	return from, to, err
}

// thin keeps some messages and their calls. If a message's parent is dropped, its nearest
// kept ancestor becomes the parent.
func thin(c *portable.Conversation, keep func(*schema.Message) bool) {
	parent, kept := map[string]string{}, map[string]bool{}
	for i := range c.Messages {
		m := &c.Messages[i]
		if _, ok := parent[m.ID]; !ok {
			parent[m.ID] = m.ParentID
		}
		kept[m.ID] = kept[m.ID] || keep(m)
	}
	calls := map[string]bool{}
	var list []schema.Message
	for i := range c.Messages {
		m := c.Messages[i]
		if !keep(&m) {
			continue
		}
		for range len(parent) { // a damaged log may have a cycle
			if m.ParentID == "" || kept[m.ParentID] {
				break
			}
			m.ParentID = parent[m.ParentID]
		}
		if !kept[m.ParentID] {
			m.ParentID = ""
		}
		for _, call := range m.ToolCalls {
			calls[call.ID] = true
		}
		list = append(list, m)
	}
	c.Messages = list
	c.Tools = slices.DeleteFunc(slices.Clone(c.Tools), func(t schema.Tool) bool { return !calls[t.ID] && !(t.MessageID != "" && kept[t.MessageID]) })
}
