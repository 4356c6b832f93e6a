package launch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/resume"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/schema/prompt"
	"cortext/store"
)

// opening is the first thing the user sees of a resumed conversation: what it is, how
// much of it the agent has, where it stopped, and what to know before typing.
func (l *Launcher) opening(r *payload.Built) string {
	s, p := r.Entry.Session, r.Payload
	name := s.ConversationType + " / " + s.DisplayTitle()
	first := fmt.Sprintf("Resumed: %s, last active %s", name, resume.Ago(l.ws.Env.Now(), r.Last))
	loaded := fmt.Sprintf("Loaded: %d of %d messages, %d tokens.", p.Included, p.Original, p.Tokens)
	switch {
	case p.Original == 0:
		first, loaded = "Begun: "+name, fmt.Sprintf("No messages yet, %d tokens.", p.Tokens)
	case len(p.LeftOut) == 0 && p.Original == 1:
		loaded = fmt.Sprintf("Loaded: its only message, %d tokens.", p.Tokens)
	case len(p.LeftOut) == 0:
		loaded = fmt.Sprintf("Loaded: all %d messages, %d tokens.", p.Original, p.Tokens)
	}
	lines := []string{first, loaded + " Nothing is sent before you type."}
	var left []string
	for _, l := range p.LeftOut {
		what := l.What
		if l.Count > 0 {
			what = fmt.Sprintf("%s (%d)", what, l.Count)
		}
		left = append(left, what)
	}
	for _, l := range []struct{ name, text string }{
		{"Left out", strings.Join(left, ", ")},
		{"Summary", s.ContextSummary},
		{"You said last", r.Asked},
	} {
		if l.text != "" {
			lines = append(lines, l.name+": "+l.text)
		}
	}
	for _, warning := range r.Warnings {
		lines = append(lines, "Note: "+warning)
	}
	for i := range lines {
		lines[i] = firstWords(lines[i], 170) // what fits on a small screen
	}
	return strings.Join(lines, "\n")
}

// firstWords puts text on one line of up to most characters.
func firstWords(text string, most int) string {
	return clip.Characters(workspace.Plain(text), most)
}

// openElsewhere reports where a conversation is open, according to our launches and the
// agents' programs, or else to its last message.
func (l *Launcher) openElsewhere(e store.Entry) (told []string) {
	const twoSessions = "what is said there and here becomes two branches of the conversation"
	for _, o := range capture.Openings(l.ws, e.Session) {
		agent := o.Agent
		if o.In != "" && o.In != l.ws.Store.Root() {
			agent += " in " + o.In
		}
		told = append(told, fmt.Sprintf("it has been open in %s since %s (process %d): %s", workspace.Plain(agent), l.clock(o.Since), o.PID, twoSessions))
	}
	const fresh = 5 * time.Minute
	at := e.Session.LastActive.Time()
	if len(told) > 0 || e.Session.Status != schema.Active || len(e.Session.Sources) == 0 || l.ws.Env.Now().Sub(at) > fresh {
		return told
	}
	agent, err := history.LastAgent(l.ws.Conversations, e)
	if err != nil || agent == "" {
		return nil
	}
	return []string{fmt.Sprintf("it was active in %s %s and not stopped: it may still be open there, and %s", agent, resume.Ago(l.ws.Env.Now(), at), twoSessions)}
}

// clock formats a time for the user: only the time if it is today, otherwise with the
// day.
func (l *Launcher) clock(at time.Time) string {
	now := l.ws.Env.Now()
	at = at.In(now.Location())
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format("15:04")
	}
	return at.Format("2006-01-02 15:04")
}

// mostBranches is how many branches are listed.
const mostBranches = 3

// otherBranches reports which branch of a conversation continues if other branches have
// answers that it lacks.
func (l *Launcher) otherBranches(r *payload.Built) (told []string, err error) {
	if r.End != "" {
		return []string{"this is branch " + r.Branch + ": what is said now follows its last message"}, nil
	}
	if r.Aside == 0 {
		return nil, nil
	}
	path, others, err := history.Branches(l.ws.Conversations, r.Entry)
	if err != nil {
		return nil, err
	}
	if len(others) == 0 {
		return nil, nil
	}
	told = append(told, fmt.Sprintf("it has %d branches, and this is the newest: %s", len(others)+1, l.branch(r.Entry.Session, path)))
	for _, b := range others[:min(len(others), mostBranches)] {
		told = append(told, fmt.Sprintf("other branch: %s; %d messages", l.branch(r.Entry.Session, b), len(b)))
	}
	show := shell.Quote("cortext", "show", r.Entry.Session.ID)
	if n := len(others) - mostBranches; n > 0 {
		show = fmt.Sprintf("%s, with %d more", show, n)
	}
	told[len(told)-1] += " (all branches: " + show + ")"
	return told, nil
}

// branch names a branch by its last user message.
func (l *Launcher) branch(s *schema.Session, messages []schema.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == schema.User && !prompt.Manages(m.Content) {
			return fmt.Sprintf("“%s” (%s, %s)", firstWords(m.Content, 60), s.AgentOf(m.Source), resume.Ago(l.ws.Env.Now(), m.Timestamp.Time()))
		}
	}
	return "without a message of the user"
}
