package slash

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"cortext/cmd/internal/binding"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/store"
)

// none says why a session belongs to no conversation.
func none(t *binding.Binding) string {
	if len(t.Segments) == 0 {
		return "this session belongs to no conversation: /workspace.<type> starts one"
	}
	return "the conversation of this session was removed, here or in another clone, and the session is no longer saved: " +
		shell.Quote("cortext", "import", t.Transcript) + " brings it back, and /workspace.<type> starts another one"
}

// current returns the conversation of the running session. If there is none, said is the
// text that informs the agent.
func (c *Commands) current(ctx context.Context, agent inject.Agent, e inject.Event) (entry store.Entry, said string, err error) {
	t, err := c.capture.Session(ctx, agent, e)
	if err != nil {
		return store.Entry{}, "", err
	}
	if !t.Bound() {
		return store.Entry{}, Prefix + none(t) + ".", nil
	}
	entry, err = c.ws.Entry(t.CurrentSegment().Path)
	return entry, "", err
}

// describe describes the conversation of the running session.
func (c *Commands) describe(ctx context.Context, agent inject.Agent, e inject.Event) (string, error) {
	entry, said, err := c.current(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	s := entry.Session
	summary, err := c.ws.SummaryOf(entry)
	if err != nil {
		return "", err
	}
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
	line("Began", "%s", resume.Ago(c.ws.Env.Now(), s.CreatedAt.Time()))
	line("Last active", "%s", resume.Ago(c.ws.Env.Now(), s.LastActive.Time()))
	line("Summary", "%s", summary)
	line("Tags", "%s", strings.Join(s.Tags, ", "))
	line("Folder", "%s", entry.Path)
	line("Id", "%s", s.ID)
	return Prefix + "this session belongs to the conversation" + b.String(), nil
}

// context shows the payload that a resume of the session's conversation would produce,
// and the one sent last. args may be a budget.
func (c *Commands) context(ctx context.Context, agent inject.Agent, e inject.Event, args string) (string, error) {
	entry, said, err := c.current(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	o, err := c.payloads.TargetIn(agent, entry, nil, payload.Options{})
	if err != nil {
		return "", err
	}
	if args != "" {
		if o.Budget, err = strconv.Atoi(args); err != nil || o.Budget < resume.MinBudget {
			return Prefix + fmt.Sprintf("%q is not a budget: give a number of tokens, at least %d.", workspace.Plain(args), resume.MinBudget), nil
		}
	}
	r, err := c.payloads.Build(ctx, entry, o)
	if err != nil {
		return "", err
	}
	p := r.Payload
	var b strings.Builder
	fmt.Fprintf(&b, "%sa resume would send %d of %d tokens, %s:", Prefix, p.Tokens, p.Budget, p.Strategy)
	for _, l := range contextLines(p.Parts) {
		b.WriteString("\n- " + l)
	}
	for _, l := range p.LeftOut {
		fmt.Fprintf(&b, "\nLeft out: %s", workspace.Plain(l.What))
		if l.Count > 0 {
			fmt.Fprintf(&b, ", %d", l.Count)
		}
		fmt.Fprintf(&b, " (%s)", workspace.Plain(l.Show))
	}
	if s, err := c.payloads.LastSent(entry); err == nil {
		fmt.Fprintf(&b, "\nSent last: %d tokens to %s at %s, %s.", s.Tokens, workspace.Plain(s.Agent), s.At, workspace.Plain(s.Strategy))
	}
	fmt.Fprintf(&b, "\nEach part: %s", shell.Quote("cortext", "context", entry.Session.ID))
	return b.String(), nil
}

// contextLines summarizes the parts of a payload: the messages, the calls, and each other
// part.
func contextLines(parts []resume.Part) (lines []string) {
	type sum struct{ tokens, messages, last int }
	var said, calls sum
	for _, p := range parts {
		of := &said
		switch {
		case p.Message == 0:
			lines = append(lines, fmt.Sprintf("%s: %d tokens", workspace.Plain(p.What), p.Tokens))
			continue
		case strings.HasPrefix(p.What, "tool "):
			of = &calls
		}
		if of.tokens += p.Tokens; p.Message != of.last {
			of.messages++
		}
		of.last = p.Message
	}
	if said.tokens > 0 {
		lines = append(lines, fmt.Sprintf("what was said in %d messages: %d tokens", said.messages, said.tokens))
	}
	if calls.tokens > 0 {
		lines = append(lines, fmt.Sprintf("calls in %d messages: %d tokens", calls.messages, calls.tokens))
	}
	return lines
}

// compactHere shows the effect of each budget on the session's conversation, and makes the
// missing summaries if args asks for it.
func (c *Commands) compactHere(ctx context.Context, agent inject.Agent, e inject.Event, args string) (string, error) {
	entry, said, err := c.current(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	var out *compact.Result
	if args == "apply" || args == "--apply" {
		out, err = c.compact.Compact(ctx, entry)
	} else {
		out, err = c.compact.Preview(entry)
	}
	if err != nil {
		return "", err
	}
	o, err := c.payloads.TargetIn(agent, entry, nil, payload.Options{})
	if err != nil {
		return "", err
	}
	payloads, err := c.payloads.Budgets(ctx, entry, o)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%sof the %d messages of this conversation, a resume would include:", Prefix, out.Messages)
	for _, p := range payloads {
		fmt.Fprintf(&b, "\n- in %d tokens: %d messages, %s", p.Budget, p.Included, p.Strategy)
	}
	for _, r := range out.Ranges {
		switch {
		case r.Why != "":
			fmt.Fprintf(&b, "\nNo summary of messages %d to %d: %s", r.First, r.Last, workspace.Plain(r.Why))
		case r.Tokens == 0:
			fmt.Fprintf(&b, "\nNo summary yet: messages %d to %d; /workspace.compact apply makes it", r.First, r.Last)
		default:
			fmt.Fprintf(&b, "\nSummary of messages %d to %d: %d tokens for %d", r.First, r.Last, r.Tokens, r.SourceTokens)
		}
	}
	return b.String(), nil
}
