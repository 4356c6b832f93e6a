package slash

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/caller"
	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// resumeHere brings a conversation into the running session, or lists the conversations
// to choose from.
func (c *Commands) resumeHere(ctx context.Context, agent inject.Agent, e inject.Event, query string, limits inject.ReplyLimits) (string, error) {
	t, err := c.capture.Session(ctx, agent, e)
	if err != nil {
		return "", err
	}
	if page, ok := capture.ListPage(query); ok || query == "" {
		return c.lists.page(limits.Bytes, max(page, 1))
	}
	query, reopen := strings.CutSuffix(query, " "+capture.ReopenWord)
	found, err := c.lists.matching(query)
	var missing *workspace.NotFoundError
	switch {
	case errors.As(err, &missing):
		return c.lists.nearest(limits.Bytes, missing)
	case err != nil:
		return "", err
	case len(found) > 1:
		return c.lists.candidates(limits.Bytes, query, found), nil
	}
	entry := found[0]
	if entry.Session.Status == schema.Completed && !reopen {
		return fmt.Sprintf("%s%s is completed. To resume it anyway, type /workspace.resume %s %s", Prefix,
			workspace.Plain(entry.Session.DisplayTitle()), entry.Session.ID, capture.ReopenWord), nil
	}
	if err := c.ws.Removed.Unskip(agent.Name(), e.NativeID); err != nil {
		return "", err
	}
	if _, err := c.capture.Sources(ctx, entry, e.NativeID, capture.Options{Mode: capture.PutBack}); err != nil {
		return "", err
	}
	say, err := c.payload(ctx, agent, entry, limits)
	if err != nil {
		return "", err
	}
	if n := len(t.Segments); n == 0 || t.CurrentSegment().Path != entry.Path || t.CurrentSegment().Removed {
		if err := c.leave(t); err != nil {
			return "", err
		}
		if err := c.capture.ContinueIn(agent, e, t, capture.Place{Path: entry.Path}); err != nil {
			return "", err
		}
	}
	t.Stopped = false
	saveErr := c.capture.Save(agent.Name(), e.NativeID, t)
	_, err = c.ws.Status.Activate(entry)
	return say, errors.Join(saveErr, err)
}

// hereLimit is how many bytes a command may print so that an agent's shell tool is sure
// to pass all of it to the model: Gemini CLI 0.61.0 cuts out the middle above 40,000
// characters, OpenCode 1.18.33 above 50 KiB or 2,000 lines.
const hereLimit = 24_000

// Here returns the answer to /workspace.resume for an agent that runs the command itself
// from within its session.
func (c *Commands) Here(ctx context.Context, query string) (say string, err error) {
	agent, id, err := caller.New(c.ws, c.capture).Session()
	if err != nil {
		return "", err
	}
	limits := replyLimits(agent)
	limits.Bytes = hereLimit
	e := inject.Event{Type: inject.PromptSubmit, NativeID: id}
	file, ok, err := agent.Locate(c.ws.Env.Machine, id)
	if err != nil {
		return "", err
	}
	if ok {
		e.Transcript = file
		e.PromptID = lastCommand(agent, file)
	}
	err = c.capture.Locked(agent.Name(), e.NativeID, func() error {
		say, err = c.resumeHere(ctx, agent, e, query, limits)
		return err
	})
	return say, err
}

// lastCommand returns the agent's id of the last prompt in a transcript that is one of
// our commands, or "".
func lastCommand(agent inject.Agent, transcript string) string {
	t, err := agent.Open(transcript, inject.Options{})
	if err != nil {
		return ""
	}
	defer t.Close()
	if n := len(t.Commands); n > 0 {
		return t.Commands[n-1].PromptID
	}
	return ""
}

// payload passes a conversation to a running session: the payload if it fits, otherwise as
// much as fits and the file that holds all of it. The agent also gets the file if it alters
// the text.
func (c *Commands) payload(ctx context.Context, agent inject.Agent, e store.Entry, limits inject.ReplyLimits) (string, error) {
	limit := limits.Bytes
	o, err := c.payloads.TargetIn(agent, e, nil, payload.Options{})
	if err != nil {
		return "", err
	}
	r, err := c.payloads.Build(ctx, e, o)
	if err != nil {
		return "", err
	}
	intro := Prefix + "the conversation " + workspace.Plain(e.Session.DisplayTitle()) + " is resumed here.\n\n"
	warn := func(text string) { intro = Prefix + "warning: " + workspace.Plain(text) + "\n" + intro }
	for _, warning := range r.Payload.Warnings {
		warn(warning.Text)
	}
	lost, err := c.checks.Lost(context.Background(), e)
	switch {
	case errors.As(err, new(*store.StandInError)):
		warn(err.Error())
	case err == nil && lost != nil:
		warn(lost.String())
	}
	altered := limits.Note != "" && strings.ContainsAny(r.Payload.Text, "<>")
	if altered {
		intro += limits.Note + "\n\n"
	}
	c.payloads.RecordSent(e.Path, agent.Name(), r.Payload)
	if len(intro)+len(r.Payload.Text) <= limit && !altered {
		return intro + r.Payload.Text, nil
	}
	name := workspace.PayloadFile(e.Session.ID)
	if err := c.ws.Store.WriteFile(name, []byte(r.Payload.Text)); err != nil {
		return "", err
	}
	file := filepath.Join(c.ws.Store.Root(), filepath.FromSlash(name))
	all := intro + fmt.Sprintf("All of it follows, %d tokens. You need not read the file %s, too.\n\n", r.Payload.Tokens, file) + r.Payload.Text
	if len(all) <= limit {
		return all, nil
	}
	intro += fmt.Sprintf("The whole of it, %d tokens, is in the file %s: read that file in full, part by part, before you answer. What follows is as much of it as fits here.\n\n",
		r.Payload.Tokens, file)
	for budget := limit / 3; ; budget = budget * 4 / 5 {
		budget = max(budget, resume.MinBudget)
		part, err := c.payloads.Build(ctx, e, payload.Options{Budget: budget})
		if err != nil {
			return "", err
		}
		if len(intro)+len(part.Payload.Text) <= limit {
			return intro + part.Payload.Text, nil
		}
		if budget == resume.MinBudget {
			return intro, nil
		}
	}
}
