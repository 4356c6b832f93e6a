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
	"cortext/resume/digest"
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

// ShowOptions say which messages of the branch that would be resumed are shown; the
// zero value is every message, those of branches that were left too.
type ShowOptions struct {
	Last   int      // the last so many
	Ranges [][2]int // those with these numbers, from 1, and between them
}

// A NumberError says that a conversation has no message of a number.
type NumberError struct{ Number, Messages int }

func (e *NumberError) Error() string {
	if e.Number <= e.Messages {
		return fmt.Sprintf("message %d is on a branch that was left: leave out --message to see it", e.Number)
	}
	return fmt.Sprintf("there is no message %d: the conversation has %d", e.Number, e.Messages)
}

// numbered are the messages of a branch with numbers in some ranges, in each of which there
// is one.
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

// inOrderOf sorts calls as the messages made them, and those that no message names
// behind them: two clones that merged the logs in different ways show the same.
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

// ResumeOptions say how much an agent gets.
type ResumeOptions struct {
	Budget   int       // tokens; 0: the model's window less what the agent needs
	Last     int       // messages; 0: all
	Since    time.Time // only messages that are not older; the zero time: all
	Strategy string    // empty: the one that fits best
	For      string    // the agent that gets it; empty: the one that the conversation began in
	Model    string    // the model that gets it; empty: not known
	Window   int       // tokens that the model takes; 0: not known
	Quiet    bool      // nothing is said of what happened to the repository since
}

// readTokens is how much of the end of a conversation is read, in tokens, for a
// budget that is smaller: what of it is worth telling is chosen from so much.
const readTokens = 400_000

// summedTokens is the same where summaries stand for messages: one holds only while
// its messages are as they were.
const summedTokens = 10 * readTokens

// A Resumed is a payload with the conversation it belongs to.
type Resumed struct {
	Entry   store.Entry
	Payload *resume.Payload
	Damage  []store.Damage
	Room    int // tokens that a payload may have in the model that it is for
	Aside   int // messages on branches that were left

	asked string    // what the user said last
	last  time.Time // of the last message

	Warnings []string // of a launch
}

// lookedAt is what happened to the repository since a moment: payloads of one conversation
// are often built one after the other, and git is asked once.
type lookedAt struct {
	path    string
	last    time.Time
	changes *resume.Changes
}

func (w *Workspace) changesSince(ctx context.Context, path string, s *schema.Session, h schema.History, state *digest.State) *resume.Changes {
	last := workspace.LastMessage(s, h)
	if w.looked == nil || w.looked.path != path || !w.looked.last.Equal(last) {
		w.looked = &lookedAt{path, last, w.Changes(ctx, s, last, state)}
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
	if o.Strategy != resume.RecentPlus { // only what a model made, since the user asked for that
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
	if opts.State, err = w.Notes(c, workspace.ReadNotes); err != nil {
		return nil, err
	}
	if !workspace.SummaryIsCurrent(s, c) {
		// The logs have grown since session.json was written; the first Cortext
		// did not say when that was, its word is taken.
		s.ContextSummary = opts.State.Summary()
		if opts.State.Plan != nil {
			s.Plan = opts.State.Plan
		}
	}
	if w.Config.SinceThen && !o.Quiet {
		opts.Changes = w.changesSince(ctx, e.Path, s, h, opts.State)
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
	if opts.Command, known, err = w.Command(s.ConversationType); err != nil {
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
	return &Resumed{Entry: e, Payload: p, Damage: append(damage, more...), Room: room, Aside: h.Aside, asked: opts.State.LastUser.Text, last: workspace.LastMessage(s, h), Warnings: warnings}, nil
}

// importedChat reports whether a conversation is a chat because it was imported and began
// with no command: it goes on without one, since none was ever typed.
func importedChat(s *schema.Session) bool {
	return s.ConversationType == "chat" && s.AgentConfig.Arguments == "" && s.Description != "" && !strings.HasPrefix(s.Description, "/workspace.")
}

// since counts the messages at the end from the first on that is not older than a
// moment.
func since(messages []schema.Message, at time.Time) int {
	for i := range messages {
		if t := messages[i].Timestamp.Time(); !t.IsZero() && !t.Before(at) {
			return len(messages) - i
		}
	}
	return 0
}

// Lost says what is missing of a conversation that session.json, git's last commit or a
// checkpoint knows of; nil if nothing is. Usually that costs no more than a look at two
// lengths.
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
	if n == 0 && !shortened && !w.FewerThanHead(ctx, c) {
		return nil, nil
	}
	lost, err := w.FindLost(ctx, c, n)
	if err != nil || lost.Messages == 0 && !shortened {
		return nil, err
	}
	return lost, nil
}
