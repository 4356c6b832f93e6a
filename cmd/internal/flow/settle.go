package flow

import (
	"errors"
	"slices"
	"strings"
	"time"

	"cortext/resume/digest"
	"cortext/resume/prompt"
	"cortext/schema"
	"cortext/store"
)

// summaryMessages is how many messages from the end a summary is made of: what
// stands further back is not where things stopped.
const summaryMessages = 400

// settle writes what is derived from the logs into session.json: counters, plan,
// summary.
func (w *Workspace) settle(c *store.Conversation) error {
	if err := c.Settle(); err != nil {
		return err
	}
	h, _, err := c.History(store.Limit{Messages: summaryMessages})
	if err != nil {
		return err
	}
	plan, err := planOf(c)
	if err != nil {
		return err
	}
	h.Messages = brief(h.Messages)
	summary := digest.Summary(h)
	return c.Edit(func(s *schema.Session) error {
		s.ContextSummary = summary
		s.Plan = plan
		return nil
	})
}

// speechBytes is how much of the beginning and of the end of one message titles
// and summaries are made of: a pasted log of 100 MB says no more.
const speechBytes = 32 << 10

// brief returns the messages with their contents cut to what digests look at.
func brief(messages []schema.Message) []schema.Message {
	out := slices.Clone(messages)
	for i := range out {
		if c := out[i].Content; len(c) > 2*speechBytes {
			out[i].Content = strings.ToValidUTF8(c[:speechBytes], "") + "\n…\n" + strings.ToValidUTF8(c[len(c)-speechBytes:], "")
		}
	}
	return out
}

// planOf reads the todo list as it stood last.
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

// A Stopped is what there is to say about a conversation that was stopped.
type Stopped struct {
	Entry   store.Entry
	Summary string
}

// Stop pauses a conversation and writes its counters, plan and summary.
func (w *Workspace) Stop(e store.Entry) (*Stopped, error) {
	c, err := w.Store.Conversation(e.Path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := w.settle(c); err != nil {
		return nil, err
	}
	err = c.Edit(func(s *schema.Session) error {
		if s.Status == schema.Active {
			s.Status = schema.Paused
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if e.Session, e.Damage, err = c.Session(); err != nil {
		return nil, err
	}
	return &Stopped{Entry: e, Summary: e.Session.ContextSummary}, nil
}

// document is the markdown file of a conversation that was captured.
func document(typ, title string, at time.Time) []byte {
	return []byte(prompt.Document(typ, title, at.UTC().Format(time.DateOnly)))
}
