package flow

import (
	"errors"

	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// A Shown is a conversation as `cortext show` gives it.
type Shown struct {
	Entry    store.Entry
	Messages []schema.Message // every one by id, in their order; left branches too
	Tools    []schema.Tool
	Damage   []store.Damage
}

// Show reads a conversation, or its last messages if last is not zero.
func (w *Workspace) Show(e store.Entry, last int) (*Shown, error) {
	c, err := w.Store.Conversation(e.Path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	out := &Shown{Entry: e}
	if out.Entry.Session, out.Damage, err = c.Session(); err != nil {
		return nil, err
	}
	if last > 0 {
		h, damage, err := c.History(store.Limit{Messages: last})
		if err != nil {
			return nil, err
		}
		out.Messages, out.Damage = h.Messages, append(out.Damage, damage...)
		for _, m := range h.Messages {
			for _, call := range m.ToolCalls {
				if t, ok := h.Tools[call.ID]; ok {
					out.Tools = append(out.Tools, t)
				}
			}
		}
		return out, nil
	}
	messages, err := collect(c.Messages(), &out.Damage, func(m *schema.Message) (string, int) { return m.ID, m.Rev })
	if err != nil {
		return nil, err
	}
	out.Messages = schema.Arrange(messages)
	out.Tools, err = collect(c.Tools(), &out.Damage, func(t *schema.Tool) (string, int) { return t.ID, t.Rev })
	return out, err
}

// collect gathers records by id: the greatest rev counts, in the place of the
// first.
func collect[R any](records func(func(R, error) bool), damage *[]store.Damage, id func(*R) (string, int)) ([]R, error) {
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

// ResumeOptions say how much an agent is told.
type ResumeOptions struct {
	Budget   int    // tokens; 0: the model's window less what the agent needs
	Last     int    // messages; 0: all
	Strategy string // empty: the one that fits best
	For      string // the agent that is told; empty: that of the conversation
	Window   int    // tokens that the model takes; 0: not known
}

// readTokens is how much of the end of a conversation is read, in tokens, for a
// budget that is smaller: what of it is worth telling is chosen from so much.
const readTokens = 400_000

// A Resumed is a payload with the conversation it belongs to.
type Resumed struct {
	Entry   store.Entry
	Payload *resume.Payload
	Damage  []store.Damage

	Warnings []string // of a launch
}

// Resume builds the payload of a conversation. It changes nothing on disk.
func (w *Workspace) Resume(e store.Entry, o ResumeOptions) (*Resumed, error) {
	c, err := w.Store.Conversation(e.Path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	if err != nil {
		return nil, err
	}
	opts := resume.Options{Now: w.env.Now(), Budget: o.Budget, Agent: o.For, Window: o.Window, Last: o.Last, Strategy: o.Strategy}
	budget := o.Budget
	if budget == 0 {
		budget = resume.BudgetOf(s, opts).Tokens
	}
	h, more, err := c.History(store.Limit{Messages: o.Last, Tokens: max(budget, readTokens)})
	if err != nil {
		return nil, err
	}
	settled, err := c.Settled()
	if err != nil {
		return nil, err
	}
	if opts.State, err = w.stateOf(c); err != nil {
		return nil, err
	}
	if first := s.Version == "1.0"; s.ContextSummary == "" || !settled && !first {
		// The logs have grown since session.json was written; the first Cortext
		// did not say when that was, its word is taken.
		s.ContextSummary = opts.State.Summary()
		if opts.State.Plan != nil {
			s.Plan = opts.State.Plan
		}
	}
	if opts.Command, _, err = w.command(s.ConversationType); err != nil {
		return nil, err
	}
	p, err := resume.Build(s, h, opts)
	if err != nil {
		return nil, err
	}
	e.Session = s
	return &Resumed{Entry: e, Payload: p, Damage: append(damage, more...)}, nil
}

// callsOf lists the calls of a history in their order.
func callsOf(h schema.History) []schema.Tool {
	var calls []schema.Tool
	for _, m := range h.Messages {
		for _, call := range m.ToolCalls {
			if t, ok := h.Tools[call.ID]; ok {
				calls = append(calls, t)
			}
		}
	}
	return calls
}
