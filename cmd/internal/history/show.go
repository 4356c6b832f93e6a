// Package history reads conversations: their records, agents, models and branches, and
// their order in a list. It writes nothing.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// Listed returns the conversations in the order of a selection list: the most recently
// active first, completed ones last.
func Listed(st *store.Store) ([]store.Entry, error) {
	all, err := st.List()
	slices.SortStableFunc(all, func(a, b store.Entry) int {
		return boolInt(a.Session.Status == schema.Completed) - boolInt(b.Session.Status == schema.Completed)
	})
	return all, err
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Shown is a conversation as `cortext show` prints it.
type Shown struct {
	Entry    store.Entry
	Messages []schema.Message // all messages by id, in order, including abandoned branches
	Tools    []schema.Tool
	Damage   []store.Damage
}

// ShowOptions select messages of the branch that would be resumed. The zero value selects
// every message, including those of abandoned branches.
type ShowOptions struct {
	Last   int      // the last n messages
	Ranges [][2]int // ranges of message numbers, from 1, inclusive
}

// A NumberError reports that a conversation has no message with a number.
type NumberError struct{ Number, Messages int }

func (e *NumberError) Error() string {
	if e.Number <= e.Messages {
		return fmt.Sprintf("message %d is on a branch that was left: leave out --message to see it", e.Number)
	}
	return fmt.Sprintf("there is no message %d: the conversation has %d", e.Number, e.Messages)
}

// numbered returns the messages of a branch whose numbers are in the ranges. Each range
// must contain a message.
func numbered(branch []schema.Message, ranges [][2]int) (all []schema.Message, err error) {
	for _, r := range ranges {
		n := len(all)
		for _, m := range branch {
			if m.Number >= r[0] && m.Number <= r[1] {
				all = append(all, m)
			}
		}
		if len(all) == n {
			last := 0
			if len(branch) > 0 {
				last = branch[len(branch)-1].Number
			}
			return nil, &NumberError{r[0], last}
		}
	}
	return all, nil
}

// Show reads a conversation.
func Show(w workspace.Conversations, e store.Entry, o ShowOptions) (*Shown, error) {
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	out := &Shown{Entry: e}
	if out.Entry.Session, out.Damage, err = c.Session(); err != nil {
		return nil, err
	}
	if o.Last > 0 || len(o.Ranges) > 0 {
		h, damage, err := c.History(store.Limit{Messages: o.Last})
		if err != nil {
			return nil, err
		}
		if len(o.Ranges) > 0 {
			if h.Messages, err = numbered(h.Messages, o.Ranges); err != nil {
				return nil, err
			}
		}
		out.Messages, out.Damage, out.Tools = h.Messages, append(out.Damage, damage...), workspace.CallsOf(h)
		return out, nil
	}
	messages, err := collect(c.Messages(), &out.Damage, func(m *schema.Message) (string, int64) { return m.ID, m.Precedence() })
	if err != nil {
		return nil, err
	}
	out.Messages = schema.Arrange(messages)
	tools, err := collect(c.Tools(), &out.Damage, func(t *schema.Tool) (string, int64) { return t.ID, t.Precedence() })
	out.Tools = inOrderOf(out.Messages, tools)
	return out, err
}

// inOrderOf sorts calls in the order of their messages, and calls without a message last,
// so that two clones that merged the logs differently show the same.
func inOrderOf(messages []schema.Message, calls []schema.Tool) []schema.Tool {
	at := map[string]int{}
	for _, m := range messages {
		for _, call := range m.ToolCalls {
			if _, ok := at[call.ID]; !ok {
				at[call.ID] = len(at)
			}
		}
	}
	place := func(t schema.Tool) int {
		if i, ok := at[t.ID]; ok {
			return i
		}
		return len(at)
	}
	slices.SortStableFunc(calls, func(a, b schema.Tool) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), a.Timestamp.Time().Compare(b.Timestamp.Time()), cmp.Compare(a.ID, b.ID))
	})
	return calls
}

// collect gathers records by id: the greatest rev wins and takes the place of the first.
func collect[R any](records func(func(R, error) bool), damage *[]store.Damage, id func(*R) (string, int64)) ([]R, error) {
	var list []R
	at := map[string]int{}
	for r, err := range records {
		var d *store.Damage
		if errors.As(err, &d) {
			*damage = append(*damage, *d)
			continue
		}
		if err != nil {
			return nil, err
		}
		key, rev := id(&r)
		if i, ok := at[key]; ok && key != "" {
			if _, have := id(&list[i]); rev >= have {
				list[i] = r
			}
			continue
		}
		at[key] = len(list)
		list = append(list, r)
	}
	return list, nil
}
