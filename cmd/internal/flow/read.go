package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/store"
)

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
func (w *Workspace) Show(e store.Entry, o ShowOptions) (*Shown, error) {
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
	messages, err := collect(c.Messages(), &out.Damage, func(m *schema.Message) (string, int) { return m.ID, m.Rev })
	if err != nil {
		return nil, err
	}
	out.Messages = schema.Arrange(messages)
	tools, err := collect(c.Tools(), &out.Damage, func(t *schema.Tool) (string, int) { return t.ID, t.Rev })
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

// ResumeOptions control how much an agent gets.
type ResumeOptions struct {
	Budget   int       // tokens; 0: the model's window minus what the agent needs
	Last     int       // messages; 0: all
	Since    time.Time // only messages at or after it; the zero time: all
	Strategy string    // empty: the best one that fits
	For      string    // the agent that gets it; empty: the one that the conversation began in
	Model    string    // the model that gets it; empty: unknown
	Window   int       // the model's context window in tokens; 0: unknown
	Quiet    bool      // do not report what happened to the repository since
}

// readTokens is how much of the end of a conversation is read, in tokens, for a smaller
// budget; the payload is selected from it.
const readTokens = 400_000

// summedTokens is the same if summaries replace messages: a summary is valid only while
// its messages are unchanged.
const summedTokens = 10 * readTokens

// Resumed is a payload with its conversation.
type Resumed struct {
	Entry   store.Entry
	Payload *resume.Payload
	Damage  []store.Damage
	Room    int // tokens that a payload may have in the target model
	Aside   int // messages on abandoned branches

	asked string    // the last user message
	last  time.Time // time of the last message

	Warnings []string // of a launch
}

// lookedAt caches what happened to the repository since a moment, because payloads of one
// conversation are often built one after the other and git should be asked once.
type lookedAt struct {
	path    string
	last    time.Time
	changes *resume.Changes
}

func (w *Workspace) changesSince(ctx context.Context, path string, s *schema.Session, h schema.History, state *notes.Notes) *resume.Changes {
	last := workspace.LastMessage(s, h)
	if w.looked == nil || w.looked.path != path || !w.looked.last.Equal(last) {
		w.looked = &lookedAt{path, last, w.Tree.Changes(ctx, s, last, state)}
	}
	return w.looked.changes
}

// Resume builds the payload of a conversation. It changes nothing on disk.
func (w *Workspace) Resume(ctx context.Context, e store.Entry, o ResumeOptions) (*Resumed, error) {
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	if err != nil {
		return nil, err
	}
	opts := resume.Options{Now: w.Env.Now(), Budget: o.Budget, Agent: o.For, Model: o.Model, Window: o.Window, Last: o.Last, Strategy: o.Strategy, Keep: w.Config.KeepMessages}
	opts.First = resume.FirstRequest(s, c.Messages())
	room := resume.BudgetOf(s, opts).Tokens
	budget := cmp.Or(o.Budget, room)
	opts.Summaries, _ = c.Summaries()
	if o.Strategy != resume.RecentPlus { // only summaries by a model, since the user asked for those
		opts.Summaries = slices.DeleteFunc(opts.Summaries, func(s *schema.Summary) bool { return s.Method == schema.Extracted })
	}
	read := max(budget, readTokens)
	if o.Strategy == resume.RecentPlus || len(opts.Summaries) > 0 {
		read = max(budget, summedTokens)
	}
	h, more, err := c.History(store.Limit{Messages: o.Last, Tokens: read})
	if err != nil {
		return nil, err
	}
	if opts.Notes, err = w.Notes.Of(c, workspace.ReadNotes); err != nil {
		return nil, err
	}
	if !workspace.SummaryIsCurrent(s, c) {
		// The logs have grown since session.json was written. The first Cortext did not
		// record when that was, so its summary is kept.
		s.ContextSummary = opts.Notes.Summary()
		if opts.Notes.Plan != nil {
			s.Plan = opts.Notes.Plan
		}
	}
	if w.Config.SinceThen && !o.Quiet {
		opts.Changes = w.changesSince(ctx, e.Path, s, h, opts.Notes)
	}
	if !o.Since.IsZero() {
		if opts.Last = since(h.Messages, o.Since); opts.Last == 0 {
			return nil, fmt.Errorf("nothing was said since %s: the last message is of %s", o.Since.UTC().Format(time.RFC3339), s.LastActive)
		}
		if o.Last > 0 {
			opts.Last = min(opts.Last, o.Last)
		}
	}
	var warnings []string
	var known bool
	if opts.Command, known, err = w.Prompts.Command(s.ConversationType); err != nil {
		return nil, err
	}
	if importedChat(s) {
		opts.Command = resume.Command{}
	}
	if !known && s.ConversationType != "" {
		warnings = append(warnings, fmt.Sprintf("the type %s has no prompt any more (%s is missing): the conversation resumes without its command", workspace.Plain(s.ConversationType), workspace.CommandFile(s.ConversationType)))
	}
	p, err := resume.Build(s, h, opts)
	if err != nil {
		return nil, err
	}
	e.Session = s
	return &Resumed{Entry: e, Payload: p, Damage: append(damage, more...), Room: room, Aside: h.Aside, asked: opts.Notes.LastUser.Text, last: workspace.LastMessage(s, h), Warnings: warnings}, nil
}

// importedChat reports whether a conversation is of type chat because it was imported and
// began without a command. It continues without one, because none was ever typed.
func importedChat(s *schema.Session) bool {
	return s.ConversationType == "chat" && s.AgentConfig.Arguments == "" && s.Description != "" && !strings.HasPrefix(s.Description, "/workspace.")
}

// since counts the messages from the first one at or after a time to the end.
func since(messages []schema.Message, at time.Time) int {
	for i := range messages {
		if t := messages[i].Timestamp.Time(); !t.IsZero() && !t.Before(at) {
			return len(messages) - i
		}
	}
	return 0
}

// Lost returns what is missing of a conversation according to session.json, git's last
// commit or a checkpoint, or nil. Usually it only compares two lengths.
func (w *Workspace) Lost(ctx context.Context, e store.Entry) (*workspace.Lost, error) {
	c, err := w.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	n, err := c.Lost()
	if err != nil {
		return nil, err
	}
	noted, shortened, err := w.Shortened(c, e.Session)
	if err != nil {
		return nil, err
	}
	n = max(n, noted)
	if !shortened {
		if shortened, err = c.LacksStart(e.Session); err != nil {
			return nil, err
		}
	}
	if n == 0 && !shortened && !w.Tree.FewerThanHead(ctx, c) {
		return nil, nil
	}
	lost, err := w.Tree.FindLost(ctx, c, n)
	if err != nil || lost.Messages == 0 && !shortened {
		return nil, err
	}
	return lost, nil
}
