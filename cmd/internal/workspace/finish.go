package workspace

import (
	"errors"
	"slices"
	"time"

	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/clip"
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
		natives, err := sessionsIn(c)
		if err != nil {
			return err
		}
		if id, sources := w.identities.of(c.Path(), natives); id != "" {
			s.ID, s.Sources = id, sources
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
	var state *notes.Notes
	var h schema.History
	if !written {
		if state, h, err = w.Notes.read(c, KeepNotes); err != nil {
			return err
		}
	}
	if n := len(h.Messages); n > summaryMessages {
		h.Messages = h.Messages[n-summaryMessages:]
	} else if n < summaryMessages && (n == 0 || h.Earlier > 0) {
		if h, _, err = c.History(store.Limit{Messages: summaryMessages}); err != nil {
			return err
		}
	}
	touched := slices.ContainsFunc(CallsOf(h), func(t schema.Tool) bool { return notes.IsPlanTool(t.Name) })
	if touched || f.Recount || len(damage) > 0 {
		if s.Plan, err = planOf(c); err != nil {
			return err
		}
	}
	if state != nil {
		s.ContextSummary = state.Summary()
	}
	if s.Description == "" || s.Title == notes.Untitled {
		head, err := headOf(c)
		if err != nil {
			return err
		}
		if s.Description == "" {
			s.Description = notes.Description(head)
		}
		if s.Title == notes.Untitled {
			s.Title = notes.Title(head)
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
		w.Status.change(c.Path(), s, schema.Paused)
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

// SummaryOf returns the summary of a conversation, with the messages added since it was
// written.
func (w *Workspace) SummaryOf(e store.Entry) (string, error) {
	c, err := w.Open(e)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if SummaryIsCurrent(e.Session, c) {
		return e.Session.ContextSummary, nil
	}
	state, err := w.Notes.Of(c, ReadNotes)
	if err != nil {
		return "", err
	}
	return state.Summary(), nil
}

// HeadMessages is the number of messages read for a title and a description.
const HeadMessages = 40

// headOf returns the first messages of a conversation.
func headOf(c *store.Conversation) (head []schema.Message, err error) {
	for m, err := range store.Undamaged(c.Settled().Messages()) {
		if err != nil {
			return nil, err
		}
		if head = append(head, m); len(head) == HeadMessages {
			break
		}
	}
	return Shorten(head), nil
}

// describeAgent records the model that the conversation used last, and adds the tools
// it used.
func describeAgent(s *schema.Session, h schema.History) {
	a := &s.AgentConfig
	for _, m := range h.Messages {
		if m.Role == schema.Assistant && m.Model != "" && m.Model != schema.SyntheticModel {
			a.Model = m.Model
		}
		for _, call := range m.ToolCalls {
			if call.Name != "" && !slices.Contains(a.Tools, call.Name) {
				a.Tools = append(a.Tools, call.Name)
			}
		}
	}
	if p := a.Provider; p != nil && p.Model != "" && p.Model != a.Model {
		a.Provider = nil // it was another model's
	}
}

// speechBytes is how much of the beginning and end of a message titles and summaries look
// at. A pasted log of 100 MB would add nothing.
const speechBytes = 32 << 10

// Shorten cuts the contents of messages to what titles and summaries look at.
func Shorten(messages []schema.Message) []schema.Message {
	out := slices.Clone(messages)
	for i := range out {
		out[i].Content = clip.Ends(out[i].Content, speechBytes)
	}
	return out
}

// LastMessageID returns the id of the last message of the branch that a resume continues, or ""
// if there is none.
func LastMessageID(c *store.Conversation) (string, error) {
	h, _, err := c.History(store.Limit{Messages: 1})
	if err != nil || len(h.Messages) == 0 {
		return "", err
	}
	return h.Messages[len(h.Messages)-1].ID, nil
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
	for t, err := range store.Undamaged(c.Settled().CallsTo(notes.IsPlanTool)) {
		if err != nil {
			return nil, err
		}
		calls = append(calls, t)
	}
	return notes.Plan(calls), nil
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

// Pause pauses an active conversation and updates its counters and summary. It does nothing
// if the conversation is not in this work tree.
func (w *Workspace) Pause(path string) error { return w.FinishAt(path, Finishing{Pause: true}) }

// FinishAt is [Workspace.Finish] for a path. It does nothing if the conversation is not in this
// work tree.
func (w *Workspace) FinishAt(path string, f Finishing) error {
	c, err := w.Conversation(path)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another branch is checked out, or the user removed it
	}
	if err != nil {
		return err
	}
	defer c.Close()
	if c.LogsAbsent() && !c.IsWaiting() {
		return nil // git removed the records
	}
	_, err = w.Finish(c, f)
	return err
}
