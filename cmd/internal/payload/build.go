// Package payload gathers the input of a conversation's payload: its log, notes and prompt,
// what git knows, and the agent and model that get it. It also remembers which payload an
// agent got.
package payload

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/store"
)

// A Builder builds the payloads of conversations in one workspace.
type Builder struct {
	ws      *workspace.Workspace
	changes *repositoryChanges // nil: git has not been asked yet
}

// New returns a Builder for a workspace.
func New(ws *workspace.Workspace) *Builder { return &Builder{ws: ws} }

// Options control what a payload includes, and who gets it.
type Options struct {
	Budget   int       // tokens; 0: the model's window minus what the agent needs
	Last     int       // messages; 0: all
	Branch   int       // number of the branch to continue; 0: the newest; [history.AllBranches]: that, with the others beside it
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

// Built is a payload, with what else is known about it.
type Built struct {
	Entry   store.Entry
	Payload *resume.Payload
	Damage  []store.Damage
	Room    int    // tokens that a payload may have in the target model
	Aside   int    // messages on abandoned branches
	End     string // id of the last message, if it is not that of the newest branch
	Branch  string // the branch in a few words, likewise

	Asked string    // the last user message
	Last  time.Time // time of the last message

	Warnings []string // of a launch
}

// repositoryChanges caches what happened to the repository since a moment: payloads of one
// conversation are often built one after the other, and git should be asked once.
type repositoryChanges struct {
	path    string
	last    time.Time
	changes *resume.Changes
}

func (b *Builder) changesSince(ctx context.Context, path string, s *schema.Session, h schema.History, state *notes.Notes) *resume.Changes {
	last := workspace.LastMessageTime(s, h)
	if b.changes == nil || b.changes.path != path || !b.changes.last.Equal(last) {
		b.changes = &repositoryChanges{path, last, b.ws.Tree.Changes(ctx, s, last, state)}
	}
	return b.changes.changes
}

// Build builds the payload of a conversation. It changes nothing on disk.
func (b *Builder) Build(ctx context.Context, e store.Entry, o Options) (*Built, error) {
	c, err := b.ws.Open(e)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	if err != nil {
		return nil, err
	}
	opts := resume.Options{Now: b.ws.Env.Now(), Budget: o.Budget, Agent: o.For, Model: o.Model, Window: o.Window, Last: o.Last, Strategy: o.Strategy, Keep: b.ws.Config.KeepMessages}
	opts.First = resume.FirstRequest(s, c.Messages())
	opts.Summaries = summaries(c, o.Strategy)
	out := &Built{Room: resume.BudgetOf(s, opts).Tokens}
	end, err := history.EndOf(b.ws.Conversations, e, max(o.Branch, 0))
	if err != nil {
		return nil, err
	}
	if end.End != "" {
		out.End, out.Branch, opts.Branch = end.End, end.String(), end.Number
	}
	read := limit(opts, cmp.Or(o.Budget, out.Room))
	read.End = out.End
	h, more, err := c.History(read)
	if err != nil {
		return nil, err
	}
	if o.Branch == history.AllBranches {
		beside, err := history.Beside(b.ws.Conversations, e, &h, read)
		if err != nil {
			return nil, err
		}
		more = append(more, beside...)
	}
	if out.End != "" {
		opts.Notes, err = b.ws.Notes.OfBranch(c, out.End)
		s.Plan = nil
	} else {
		opts.Notes, err = b.ws.Notes.Of(c, workspace.ReadNotes)
	}
	if err != nil {
		return nil, err
	}
	if out.End != "" || !workspace.SummaryIsCurrent(s, c) {
		// The logs have grown since session.json was written. The first Cortext did not
		// record when that was, so its summary is kept.
		s.ContextSummary = opts.Notes.Summary()
		if opts.Notes.Plan != nil {
			s.Plan = opts.Notes.Plan
		}
	}
	if b.ws.Config.SinceThen && !o.Quiet {
		opts.Changes = b.changesSince(ctx, e.Path, s, h, opts.Notes)
	}
	if !o.Since.IsZero() {
		if opts.Last = since(h.Messages, o.Since); opts.Last == 0 {
			return nil, fmt.Errorf("nothing was said since %s: the last message is from %s", o.Since.UTC().Format(time.RFC3339), s.LastActive)
		}
		if o.Last > 0 {
			opts.Last = min(opts.Last, o.Last)
		}
	}
	if opts.Command, out.Warnings, err = b.command(s); err != nil {
		return nil, err
	}
	if out.Payload, err = resume.Build(s, h, opts); err != nil {
		return nil, err
	}
	e.Session = s
	out.Entry, out.Damage, out.Aside = e, append(damage, more...), h.Aside
	out.Asked, out.Last = opts.Notes.LastUser.Text, workspace.LastMessageTime(s, h)
	return out, nil
}

// summaries returns the summaries that a strategy uses: all of them for
// recent-plus-summary, otherwise only those that a model wrote, because the user asked for
// them.
func summaries(c *store.Conversation, strategy string) []*schema.Summary {
	all, _ := c.Summaries()
	if strategy == resume.RecentPlus {
		return all
	}
	return slices.DeleteFunc(all, func(s *schema.Summary) bool { return s.Method == schema.Extracted })
}

// limit returns how much of the end of a conversation to read for a budget.
func limit(o resume.Options, budget int) store.Limit {
	read := readTokens
	if o.Strategy == resume.RecentPlus || len(o.Summaries) > 0 {
		read = summedTokens
	}
	return store.Limit{Messages: o.Last, Tokens: max(budget, read)}
}

// command returns the command of a conversation as it is now, with a warning if there is
// no prompt for it any more.
func (b *Builder) command(s *schema.Session) (resume.Command, []string, error) {
	command, known, err := b.ws.Prompts.Command(s.ConversationType)
	if err != nil {
		return command, nil, err
	}
	if importedChat(s) {
		command = resume.Command{}
	}
	if known || s.ConversationType == "" {
		return command, nil, nil
	}
	return command, []string{fmt.Sprintf("the type %s no longer has a prompt (%s is missing): the conversation resumes without its command", workspace.Plain(s.ConversationType), workspace.CommandFile(s.ConversationType))}, nil
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

// Budgets shows the effect of several budgets on a conversation, the default last: the payload
// of the strategy that would be chosen and, if it leaves something out, the payload of
// recent-plus-summary after it. The payloads have no texts.
func (b *Builder) Budgets(ctx context.Context, e store.Entry, o Options) ([]*resume.Payload, error) {
	var list []*resume.Payload
	for _, budget := range []int{2_000, 8_000, 32_000, 0} {
		for _, strategy := range []string{o.Strategy, resume.RecentPlus} {
			o := o
			o.Budget, o.Strategy = budget, strategy
			r, err := b.Build(ctx, e, o)
			if err != nil {
				return nil, err
			}
			p := r.Payload
			p.Text = ""
			if n := len(list); n == 0 || list[n-1].Budget != p.Budget || list[n-1].Strategy != p.Strategy {
				list = append(list, p)
			}
			if p.Strategy == resume.FullHistory {
				break
			}
		}
	}
	return list, nil
}
