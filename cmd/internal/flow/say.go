package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// Texts for an agent in a running session. Titles and summaries are data: each is printed
// on one line, without control characters.

// Listed returns the conversations in the order of a selection list: the most recently
// active first, completed ones last.
func (w *Workspace) Listed() ([]store.Entry, error) {
	all, err := w.Store.List()
	slices.SortStableFunc(all, func(a, b store.Entry) int {
		return boolInt(a.Session.Status == schema.Completed) - boolInt(b.Session.Status == schema.Completed)
	})
	return all, err
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// shownFirst is how many conversations a list in an agent shows unless all are asked for.
const shownFirst = 20

// sayList lists the conversations with numbers to choose from, and counts those that do
// not fit.
func (w *Workspace) sayList(limit int, all bool) (string, error) {
	entries, err := w.Listed()
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return sayPrefix + "there are no conversations yet. One begins with /workspace.brainstorm, /workspace.plan and the like.", nil
	}
	most := shownFirst
	if all {
		most = len(entries)
	}
	return w.sayEntries("the conversations, the last active first:", entries, limit, most)
}

func (w *Workspace) sayNone(limit int, e *workspace.NotFoundError) (string, error) {
	head := fmt.Sprintf("no conversation matches %q.", workspace.Plain(e.Query))
	if len(e.Near) == 0 {
		return sayPrefix + head + " /workspace.resume without words lists them.", nil
	}
	return w.sayEntries(head+" The nearest are:", e.Near, limit, len(e.Near))
}

func (w *Workspace) sayAmbiguous(limit int, e *workspace.AmbiguousError) (string, error) {
	return w.sayEntries(fmt.Sprintf("%q matches %d conversations:", workspace.Plain(e.Query), len(e.Candidates)), e.Candidates, limit, shownFirst)
}

// sayEntries writes a numbered list and remembers it, so that a number keeps its meaning
// after the list was shown.
func (w *Workspace) sayEntries(head string, entries []store.Entry, limit, most int) (string, error) {
	const tail = "\n… and %d more: /workspace.sessions all, or /workspace.resume with words"
	const how = "\n\nOne is taken up with /workspace.resume and its number, or words of its title."
	var b strings.Builder
	b.WriteString(sayPrefix + head + "\n")
	var ids []string
	for i, e := range entries {
		s := e.Session
		line := fmt.Sprintf("\n%d. %s / %s (%s, %s)", i+1, workspace.Plain(s.ConversationType), workspace.Plain(s.DisplayTitle()), workspace.ShownStatus(e), resume.Ago(w.Env.Now(), s.LastActive.Time()))
		if s.ContextSummary != "" {
			line += "\n   " + workspace.Plain(s.ContextSummary)
		}
		if i == most || b.Len()+len(line)+len(tail)+len(how)+10 > limit {
			fmt.Fprintf(&b, tail, len(entries)-i)
			break
		}
		b.WriteString(line)
		ids = append(ids, s.ID)
	}
	b.WriteString(how)
	if raw, err := json.Marshal(ids); err == nil {
		_ = w.Store.WriteCache(listedName, raw)
	}
	return b.String(), nil
}

// listedName is the cache file with the ids of the conversations listed last.
const listedName = "listed.json"

// pickNumbered is Pick in which a number selects from the list that was shown.
func (w *Workspace) pickNumbered(query string) (store.Entry, error) {
	n, err := strconv.Atoi(query)
	if err != nil || n < 1 || strconv.Itoa(n) != query {
		return w.Pick(query)
	}
	var ids []string
	if raw, ok := w.Store.ReadCache(listedName); ok {
		_ = json.Unmarshal(raw, &ids)
	}
	if n <= len(ids) && ids[n-1] != "" {
		if e, err := w.Pick(ids[n-1]); err == nil {
			return e, nil
		}
	}
	entries, err := w.Listed()
	if err != nil {
		return store.Entry{}, err
	}
	if n > len(entries) {
		return w.Pick(query)
	}
	return entries[n-1], nil
}

// sayStopped confirms a stop, or reports what it did not save.
func (w *Workspace) sayStopped(s *StopResult) string {
	sess := s.Entry.Session
	if s.Unsaved != nil {
		return fmt.Sprintf("NOT saved in full: %s (%s, %d messages are kept), in %s. Missing is what is new in the transcript: %s.\n"+
			"Tell the user so. The next turn, cortext stop and cortext sync try again.",
			workspace.Plain(sess.DisplayTitle()), sess.Status, sess.MessageCount, s.Entry.Path, workspace.Plain(s.Unsaved.Error()))
	}
	text := fmt.Sprintf("saved: %s (%s, %d messages), in %s.", workspace.Plain(sess.DisplayTitle()), sess.Status, sess.MessageCount, s.Entry.Path)
	if s.Summary != "" {
		text += "\nSummary: " + workspace.Plain(s.Summary)
	}
	if w.Config.Commit == workspace.CommitStop {
		text += "\nIt will be committed to git when this answer is complete."
	}
	return text + "\nTake it up again with /workspace.resume"
}

// saySession describes the conversation of the running session.
func (w *Workspace) saySession(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	entry, said, err := w.here(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	s := entry.Session
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(&b, "\n%s: %s", name, workspace.Plain(text))
		}
	}
	line("Title", "%s", s.DisplayTitle())
	line("Type", "%s", s.ConversationType)
	line("Status", "%s", s.Status)
	line("Messages", "%d", s.MessageCount)
	line("Tokens", "%d", s.Tokens)
	line("Began", "%s", resume.Ago(w.Env.Now(), s.CreatedAt.Time()))
	line("Last active", "%s", resume.Ago(w.Env.Now(), s.LastActive.Time()))
	line("Summary", "%s", s.ContextSummary)
	line("Tags", "%s", strings.Join(s.Tags, ", "))
	line("Folder", "%s", entry.Path)
	line("Id", "%s", s.ID)
	return sayPrefix + "this session belongs to the conversation" + b.String(), nil
}

// sayPayload passes a conversation to a running session: the payload if it fits,
// otherwise as much as fits and the file that holds all of it.
func (w *Workspace) sayPayload(ctx context.Context, agent inject.Agent, e store.Entry, limits inject.ReplyLimits) (string, error) {
	o, err := w.target(agent, e, LaunchOptions{})
	if err != nil {
		return "", err
	}
	r, err := w.Resume(ctx, e, o)
	if err != nil {
		return "", err
	}
	intro := sayPrefix + "the conversation " + workspace.Plain(e.Session.DisplayTitle()) + " is resumed here.\n\n"
	for _, warning := range r.Payload.Warnings {
		intro = sayPrefix + "warning: " + workspace.Plain(warning.Text) + "\n" + intro
	}
	if lost, err := w.Lost(context.Background(), e); err == nil && lost != nil {
		intro = sayPrefix + "warning: " + workspace.Plain(lost.String()) + "\n" + intro
	}
	altered := limits.Note != "" && strings.ContainsAny(r.Payload.Text, "<>")
	if altered {
		intro += limits.Note + "\n\n"
	}
	w.noteSent(e.Path, agent.Name(), r.Payload)
	if len(intro)+len(r.Payload.Text) <= limits.Bytes && !altered {
		return intro + r.Payload.Text, nil
	}
	name := capture.PayloadDir + schema.PathElement(e.Session.ID) + ".md"
	if err := w.Store.WriteFile(name, []byte(r.Payload.Text)); err != nil {
		return "", err
	}
	intro += fmt.Sprintf("The whole of it, %d tokens, is in the file %s: read that file in full, part by part, before you answer. What follows is as much of it as fits here.\n\n",
		r.Payload.Tokens, filepath.Join(w.Store.Root(), filepath.FromSlash(name)))
	for budget := limits.Bytes / 3; ; budget = budget * 4 / 5 {
		budget = max(budget, resume.MinBudget)
		part, err := w.Resume(ctx, e, ResumeOptions{Budget: budget})
		if err != nil {
			return "", err
		}
		if len(intro)+len(part.Payload.Text) <= limits.Bytes {
			return intro + part.Payload.Text, nil
		}
		if budget == resume.MinBudget {
			return intro, nil
		}
	}
}

// SayFailed tells an agent that a /workspace command failed, so that it informs the user.
// It returns "" if the prompt is not such a command.
func (w *Workspace) SayFailed(e inject.Event, err error) string {
	typed, ok := inject.ParseCommand(e.Prompt)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s%s failed: %s. Tell the user so.", sayPrefix, workspace.Plain(typed.Line()), workspace.Plain(err.Error()))
}
