package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/prompt"
	"cortext/store"
)

// Limits on reading a conversation for a preview: only its end is read, and its branches
// only if it is short.
const (
	endOfTalk    = 24
	mostBranched = 2000
)

// preview reads the picker's preview of a conversation.
func (r *reading) preview(ctx context.Context, row listing.Row) (p picker.Preview, err error) {
	r = r.of(&row)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return p, err
	}
	e, err := r.w.Entry(row.Path)
	if errors.Is(err, store.ErrNotFound) {
		err = picker.ErrGone
	}
	if err != nil {
		return p, err
	}
	c, err := r.w.Open(e)
	if err != nil {
		return p, err
	}
	defer c.Close()
	h, _, err := c.History(store.Limit{Messages: endOfTalk})
	if err != nil {
		return p, err
	}
	p.Exchange = lastExchange(e.Session, h.Messages)
	state, err := r.w.Notes.Of(c, workspace.ReadNotes)
	if err != nil || ctx.Err() != nil {
		return p, errors.Join(err, ctx.Err())
	}
	p.Plan, p.Files = stepsOf(state.Plan), filesOf(state)
	p.Since = sinceThen(r.w.Tree.Changes(ctx, e.Session, workspace.LastMessageTime(e.Session, h), state))
	if row.Messages <= mostBranched && ctx.Err() == nil {
		_, others, err := history.Branches(r.w.Conversations, e)
		p.Branches = len(others)
		return p, err
	}
	return p, ctx.Err()
}

// lastExchange returns the last user prompt and the last answer to it. Commands that
// manage conversations are left out, with the answers to them.
func lastExchange(s *schema.Session, messages []schema.Message) (lines []picker.Line) {
	for i := len(messages) - 1; i >= 0 && len(lines) < 2; i-- {
		switch m := &messages[i]; {
		case strings.TrimSpace(m.Content) == "":
		case m.Role == schema.Assistant && len(lines) == 0:
			who := s.AgentOf(m.Source)
			if who == "" {
				who = "agent"
			}
			lines = append(lines, picker.Line{Who: who, Text: m.Content})
		case m.Role == schema.User && prompt.Manages(m.Content):
			lines = nil
		case m.Role == schema.User:
			return append([]picker.Line{{Who: "you", Text: m.Content}}, lines...)
		}
	}
	return lines
}

func stepsOf(p *schema.Plan) (steps []picker.Step) {
	if p == nil {
		return nil
	}
	for _, s := range p.Steps {
		steps = append(steps, picker.Step{Text: s.Content, Done: s.Status == "completed"})
	}
	return steps
}

// filesOf returns the files of a conversation, latest first.
func filesOf(state *notes.Notes) (files []picker.File) {
	for i := len(state.Files) - 1; i >= 0; i-- {
		f := state.Files[i]
		mark := map[string]string{notes.Created: "A", notes.Deleted: "D"}[f.Action]
		if mark == "" {
			mark = "M"
		}
		files = append(files, picker.File{Mark: mark, Path: f.Path})
	}
	return files
}

// sinceThen describes what happened in the repository since the last message.
func sinceThen(c *resume.Changes) (lines []string) {
	if c == nil {
		return nil
	}
	if c.Commits > 0 {
		text := count(c.Commits, "commit")
		if c.More {
			text = fmt.Sprintf("at least %d commits", c.Commits)
		}
		lines = append(lines, text)
		for _, subject := range c.Subjects[:min(len(c.Subjects), 3)] {
			lines = append(lines, "· "+subject)
		}
	}
	if len(c.Changed) > 0 {
		lines = append(lines, "changed: "+strings.Join(c.Changed, ", "))
	}
	if len(c.Gone) > 0 {
		lines = append(lines, "gone: "+strings.Join(c.Gone, ", "))
	}
	return lines
}
