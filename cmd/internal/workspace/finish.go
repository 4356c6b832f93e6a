package workspace

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"cortext/resume/digest"
	"cortext/schema"
	"cortext/store"
)

// summaryMessages is how many of the last messages a summary is made from. Earlier ones
// do not show where the work stopped.
const summaryMessages = 400

// Finishing controls what is written to session.json after a turn, at a pause or at a
// stop.
type Finishing struct {
	Pause    bool // pause an active conversation
	Recount  bool // recount from the whole logs, not only the new part
	Save     bool // let git see the conversation, even without an answer in it
	Describe func(*schema.Session)
}

// Finish updates session.json from the logs in one transaction: counters, plan, summary,
// model and tools, and the status.
func (w *Workspace) Finish(c *store.Conversation, f Finishing) (*schema.Session, error) {
	tx, err := c.Begin()
	if err != nil {
		return nil, err
	}
	if err := w.FinishIn(tx, c, f); err != nil {
		tx.Rollback()
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	s, _, err := c.Session()
	return s, err
}

// identify restores the id and sources of a conversation whose session.json is gone from
// what the user's registry knows about its folder.
func (w *Workspace) identify(s *schema.Session, c *store.Conversation) error {
	natives := map[string]bool{}
	for m, err := range c.Messages() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return err
		}
		natives[m.Source] = err == nil && m.Source != ""
	}
	w.Here.KnowClones(context.Background())
	for _, agent := range w.Env.Agents {
		for _, nativeID := range slices.Sorted(maps.Keys(natives)) {
			if !natives[nativeID] {
				continue
			}
			known, err := w.Registry.Session(agent.Name(), nativeID)
			if err != nil {
				return err
			}
			for _, seg := range known.In(w.Here.Same) {
				if seg.Path == c.Path() && seg.ID != "" {
					s.ID = seg.ID
					s.Sources = append(s.Sources, schema.Source{Agent: agent.Name(), NativeID: nativeID, From: seg.From, After: seg.After})
				}
			}
		}
	}
	return nil
}

// FinishIn is Finish within a transaction, which the caller commits.
func (w *Workspace) FinishIn(tx *store.Tx, c *store.Conversation, f Finishing) error {
	s, damage, err := tx.Session()
	if err != nil {
		return err
	}
	if err := tx.Flush(); err != nil {
		return err
	}
	if !tx.Written() && len(s.Sources) == 0 {
		if err := w.identify(s, c); err != nil {
			return err
		}
	}
	written := SummaryIsCurrent(s, c)
	count := tx.Count
	if f.Recount || s.Usage == nil {
		count = tx.Recount
	}
	if err := count(); err != nil {
		return err
	}
	h, _, err := c.History(store.Limit{Messages: summaryMessages})
	if err != nil {
		return err
	}
	touched := slices.ContainsFunc(CallsOf(h), func(t schema.Tool) bool { return digest.IsPlanTool(t.Name) })
	if touched || f.Recount || len(damage) > 0 {
		if s.Plan, err = planOf(c); err != nil {
			return err
		}
	}
	if !written {
		state, err := w.Notes.Of(c, KeepNotes)
		if err != nil {
			return err
		}
		s.ContextSummary = state.Summary()
	}
	if s.Description == "" || s.Title == digest.Untitled {
		head, err := headOf(c)
		if err != nil {
			return err
		}
		if s.Description == "" {
			s.Description = digest.Description(head)
		}
		if s.Title == digest.Untitled {
			s.Title = digest.Title(head)
		}
	}
	describeAgent(s, h)
	if f.Save || slices.ContainsFunc(h.Messages, func(m schema.Message) bool { return m.Role == schema.Assistant }) {
		tx.ReleaseToGit()
	}
	if f.Describe != nil {
		f.Describe(s)
	}
	if f.Pause && s.Status == schema.Active {
		w.setStatus(c.Path(), s, schema.Paused)
	}
	return nil
}

// SummaryIsCurrent reports whether no message was added since the summary of s was
// written. A summary written by the user or the first Cortext stays until then.
func SummaryIsCurrent(s *schema.Session, c *store.Conversation) bool {
	if s.ContextSummary == "" {
		return false
	}
	if current, err := c.CountersCurrent(); err == nil && current {
		return true
	}
	// The first Cortext did not count bytes, and its messages have no ids.
	some := false
	for m, err := range c.Messages() {
		if err == nil && m.ID != "" {
			return false
		}
		some = some || err == nil
	}
	return some
}

// headMessages is the number of messages read for a title and a description.
const headMessages = 40

// headOf returns the first messages of a conversation.
func headOf(c *store.Conversation) (head []schema.Message, err error) {
	for m, err := range c.Messages() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return nil, err
		}
		if err == nil {
			head = append(head, m)
		}
		if len(head) == headMessages {
			break
		}
	}
	return Shorten(head), nil
}

// describeAgent records the model and tools that the conversation used last.
func describeAgent(s *schema.Session, h schema.History) {
	a := &s.AgentConfig
	for _, m := range h.Messages {
		if m.Role == schema.Assistant && m.Model != "" && m.Model != "<synthetic>" {
			a.Model = m.Model
		}
		for _, call := range m.ToolCalls {
			if call.Name != "" && !slices.Contains(a.Tools, call.Name) {
				a.Tools = append(a.Tools, call.Name)
			}
		}
	}
}

// speechBytes is how much of the beginning and end of a message titles and summaries look
// at. A pasted log of 100 MB would add nothing.
const speechBytes = 32 << 10

// Shorten cuts the contents of messages to what titles and summaries look at.
func Shorten(messages []schema.Message) []schema.Message {
	out := slices.Clone(messages)
	for i := range out {
		if c := out[i].Content; len(c) > 2*speechBytes {
			out[i].Content = strings.ToValidUTF8(c[:speechBytes], "") + "\n…\n" + strings.ToValidUTF8(c[len(c)-speechBytes:], "")
		}
	}
	return out
}

// CallsOf lists the calls of a history in order.
func CallsOf(h schema.History) []schema.Tool {
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

// planOf returns the last state of the todo list.
func planOf(c *store.Conversation) (*schema.Plan, error) {
	var calls []schema.Tool
	for t, err := range c.Tools() {
		var damage *store.Damage
		if err != nil && !errors.As(err, &damage) {
			return nil, err
		}
		if err == nil && digest.IsPlanTool(t.Name) {
			calls = append(calls, t)
		}
	}
	return digest.Plan(calls), nil
}

// TurnDue reports whether to write session.json with a turn: it has no counters yet, or
// was written at least interval_s ago.
func (w *Workspace) TurnDue(tx *store.Tx) bool {
	s, damage, err := tx.Session()
	if err != nil {
		return false
	}
	age := time.Duration(w.Config.IntervalS) * time.Second
	return !tx.Written() || len(damage) > 0 || s.MessageCount == 0 || s.AgentConfig.Model == "" ||
		w.Env.Now().Sub(tx.WrittenAt()) >= age
}
