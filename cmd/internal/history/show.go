// Package history reads conversations: their records, agents, models and branches, and
// their order in a list. It writes nothing.
package history

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// Shown is a conversation as `cortext show` prints it.
type Shown struct {
	Entry    store.Entry
	Messages []schema.Message // all messages by id, in order, including abandoned branches
	Tools    []schema.Tool
	Damage   []store.Damage
	Branches []Branch // only if all messages were read, and there are several
}

// ShowOptions select messages of a branch. The zero value selects
// every message, including those of abandoned branches.
type ShowOptions struct {
	Last   int      // the last n messages
	Branch int      // of the branch with this number; 0: of the newest
	Ranges [][2]int // ranges of message numbers, from 1, inclusive
	Around int      // the message with this number, and those before and after it
}

// nearby is how many messages before and after a message are shown with it.
const nearby = 3

// around returns a branch's message with the given number, and those near it.
func around(branch []schema.Message, number int) ([]schema.Message, error) {
	at := slices.IndexFunc(branch, func(m schema.Message) bool { return m.Number == number })
	if at < 0 {
		return numbered(branch, [][2]int{{number, number}})
	}
	return branch[max(0, at-nearby):min(len(branch), at+nearby+1)], nil
}

// A NumberError reports that a conversation has no message with the requested number.
type NumberError struct{ Number, Messages int }

func (e *NumberError) Error() string {
	if e.Number <= e.Messages {
		return fmt.Sprintf("message %d is on another branch: cortext show lists the branches, --branch N shows one", e.Number)
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
	if o.Last > 0 || len(o.Ranges) > 0 || o.Branch != 0 || o.Around > 0 {
		branch, err := EndOf(w, e, o.Branch)
		if err != nil {
			return nil, err
		}
		h, damage, err := c.History(store.Limit{Messages: o.Last, End: branch.End})
		if err != nil {
			return nil, err
		}
		if len(o.Ranges) > 0 {
			if h.Messages, err = numbered(h.Messages, o.Ranges); err != nil {
				return nil, err
			}
		}
		if o.Around > 0 {
			if h.Messages, err = around(h.Messages, o.Around); err != nil {
				return nil, err
			}
		}
		out.Messages, out.Damage, out.Tools = h.Messages, append(out.Damage, damage...), workspace.CallsOf(h)
		return out, nil
	}
	messages, err := collect(c.Messages(), &out.Damage, messageID, store.ChooseMessage)
	if err != nil {
		return nil, err
	}
	if list := BranchesOf(messages); len(list) > 1 {
		out.Branches = list
	}
	schema.NumberAll(messages)
	out.Messages = schema.Arrange(messages)
	tools, err := collect(c.Tools(), &out.Damage, callID, store.ChooseTool)
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

func messageID(m *schema.Message) string { return m.ID }
func callID(t *schema.Tool) string       { return t.ID }

// Messages returns the messages in the lines of a log, each id once: of two lines, the one that
// [store.ChooseMessage] returns takes the place of the first. Damaged lines are left out.
func Messages(lines iter.Seq2[schema.Message, error]) ([]schema.Message, error) {
	var damage []store.Damage
	return collect(lines, &damage, messageID, store.ChooseMessage)
}

// Calls is [Messages] for calls.
func Calls(lines iter.Seq2[schema.Tool, error]) ([]schema.Tool, error) {
	var damage []store.Damage
	return collect(lines, &damage, callID, store.ChooseTool)
}

// collect gathers records, each id once: of two with the same id, the one that choose returns
// takes the place of the first. It adds damaged lines to a list.
func collect[R any](records iter.Seq2[R, error], damage *[]store.Damage, id func(*R) string, choose func(r, o R) R) ([]R, error) {
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
		key := id(&r)
		if i, ok := at[key]; ok && key != "" {
			list[i] = choose(r, list[i])
			continue
		}
		at[key] = len(list)
		list = append(list, r)
	}
	return list, nil
}
