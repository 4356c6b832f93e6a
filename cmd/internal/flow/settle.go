package flow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/lifecycle"
	"cortext/inject"
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
	return w.digestInto(c, h, func(s *schema.Session) { s.Plan = plan })
}

// settleQuick is settle at a cost that does not grow with the conversation: what
// was counted before is not counted again, and the plan is read anew only if it
// was touched lately.
func (w *Workspace) settleQuick(c *store.Conversation) error {
	now, damage, err := c.Session()
	if err != nil {
		return err
	}
	if now.CountedBytes == 0 || len(damage) > 0 {
		return w.settle(c)
	}
	h, _, err := c.History(store.Limit{Messages: summaryMessages})
	if err != nil {
		return err
	}
	plan := now.Plan
	if slices.ContainsFunc(callsOf(h), func(t schema.Tool) bool { return digest.IsPlanTool(t.Name) }) {
		if plan, err = planOf(c); err != nil {
			return err
		}
	}
	return w.digestInto(c, h, func(s *schema.Session) {
		s.MessageCount, s.Tokens, s.CountedBytes, s.LastActive = now.MessageCount, now.Tokens, now.CountedBytes, now.LastActive
		s.Plan = plan
	})
}

// digestInto writes what the end of the conversation says about it, and for one
// that was made before anything was said in it, what its beginning says.
func (w *Workspace) digestInto(c *store.Conversation, h schema.History, more func(*schema.Session)) error {
	h.Messages = brief(h.Messages)
	state, err := w.stateOf(c, true)
	if err != nil {
		return err
	}
	var head []schema.Message
	have, _, err := c.Session()
	if err != nil {
		return err
	}
	if have.Description == "" || have.Title == digest.Untitled {
		if head, err = headOf(c); err != nil {
			return err
		}
	}
	return c.Edit(func(s *schema.Session) error {
		more(s)
		s.ContextSummary = state.Summary()
		if s.Description == "" {
			s.Description = digest.Description(head)
		}
		if s.Title == digest.Untitled {
			s.Title = digest.Title(head)
		}
		describeAgent(s, h)
		w.describeSources(s)
		return nil
	})
}

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
	return brief(head), nil
}

// describeAgent notes the model and the tools that the conversation used last.
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

// describeSources notes what the cache knows of the sessions that a conversation
// was captured from.
func (w *Workspace) describeSources(s *schema.Session) {
	for i := range s.Sources {
		src := &s.Sources[i]
		t, ok := w.readTie(src.Agent, src.NativeID)
		if !ok {
			continue
		}
		if t.Version != "" {
			src.Version = t.Version
		}
		if t.Permission != "" && i == len(s.Sources)-1 {
			s.AgentConfig.Modes = &schema.Modes{Permission: t.Permission, Plan: t.Permission == "plan"}
		}
		if s.AgentConfig.Agent == "" {
			s.AgentConfig.Agent = src.Agent
		}
	}
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

// captureOf reads on in every transcript of a conversation that is on this
// machine, but for the session held, which the caller deals with.
func (w *Workspace) captureOf(ctx context.Context, e store.Entry, held string) (appended int, err error) {
	var errs []error
	for _, src := range e.Session.Sources {
		for _, agent := range w.env.Agents {
			if agent.Name != src.Agent || src.NativeID == held || w.skipped(src.Agent, src.NativeID) {
				continue
			}
			n, err := w.captureSource(ctx, agent, src.NativeID)
			appended += n
			errs = append(errs, err)
		}
	}
	return appended, errors.Join(errs...)
}

// captureSource reads on in the transcript of one session, if it is on this
// machine.
func (w *Workspace) captureSource(ctx context.Context, agent inject.Agent, nativeID string) (appended int, err error) {
	err = w.locked(agent, inject.Event{NativeID: nativeID}, lockWait, func() error {
		t, err := w.tieOf(agent, nativeID, "")
		if err != nil {
			return err
		}
		if file, ok := agent.Locate(w.env.Machine, nativeID); ok {
			t.Transcript = file
		}
		appended, err = w.follow(ctx, agent, nativeID, t)
		return err
	})
	return appended, err
}

// A Stopped is what there is to say about a conversation that was stopped.
type Stopped struct {
	Entry     store.Entry
	Summary   string
	Captured  int // messages that the agents' transcripts still had
	Committed bool
	Warnings  []error // what did not work; the conversation is saved all the same
}

// Stop captures what the agents' transcripts still have, pauses the conversation,
// writes its counters, plan and summary, and commits it if so configured.
func (w *Workspace) Stop(ctx context.Context, e store.Entry) (*Stopped, error) {
	for _, src := range e.Session.Sources {
		if err := w.unskip(src.Agent, src.NativeID); err != nil {
			return nil, err
		}
	}
	n, captureErr := w.captureOf(ctx, e, "")
	w.markStopped(e)
	out, err := w.stop(e.Path)
	if err != nil {
		return nil, errors.Join(err, captureErr)
	}
	out.Captured = n
	if captureErr != nil {
		out.Warnings = append(out.Warnings, captureErr)
	}
	out.Warnings = append(out.Warnings, w.sumUpOld(ctx, out.Entry)...)
	if out.Committed, err = w.commit(ctx, out.Entry); err != nil {
		out.Warnings = append(out.Warnings, err)
	}
	return out, nil
}

// sumUpOld makes the summaries that are missing. One that fails is tried again at the
// next stop; the messages stay as they are.
func (w *Workspace) sumUpOld(ctx context.Context, e store.Entry) []error {
	if s := e.Session; w.Config.Summarizer == SummarizerOff || s.MessageCount <= w.Config.SummarizeAfter || s.Tokens > stateTokens {
		return nil // of a conversation that is too long to be read at each stop, cortext compact makes them
	}
	out, err := w.Compact(ctx, e, true)
	if err != nil {
		return []error{err}
	}
	return out.Failed
}

// markStopped notes for the sessions that are in a conversation that the user has
// stopped it.
func (w *Workspace) markStopped(e store.Entry) {
	for _, src := range e.Session.Sources {
		unlock, err := w.lockTie(src.Agent, src.NativeID, lockWait)
		if err != nil {
			continue
		}
		if t, ok := w.readTie(src.Agent, src.NativeID); ok && len(t.Parts) > 0 && t.current().Path == e.Path {
			t.Stopped = true
			w.writeTie(src.Agent, src.NativeID, t)
		}
		unlock()
	}
}

// stop pauses the conversation at a path with what the logs say of it.
func (w *Workspace) stop(at string) (*Stopped, error) {
	c, err := w.Store.Conversation(at)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	e := store.Entry{Path: at}
	if err := w.settle(c); err != nil {
		return nil, err
	}
	err = c.Edit(func(s *schema.Session) error {
		if s.Status == schema.Active {
			s.Status = schema.Paused
			w.note(lifecycle.End, at)
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
