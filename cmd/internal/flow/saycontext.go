package flow

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/store"
)

// here returns the conversation of the running session, or in said a text that tells the
// agent there is none.
func (w *Workspace) here(ctx context.Context, agent inject.Agent, e inject.Event) (entry store.Entry, said string, err error) {
	t, err := w.Session(ctx, agent, e)
	if err != nil {
		return store.Entry{}, "", err
	}
	if !t.Bound() {
		return store.Entry{}, sayPrefix + "this session belongs to no conversation: one begins with /workspace.<type>.", nil
	}
	entry, err = w.Entry(t.CurrentSegment().Path)
	return entry, "", err
}

// sayContext shows the payload that a resume of the session's conversation would produce,
// and the one sent last. args may be a budget.
func (w *Workspace) sayContext(ctx context.Context, agent inject.Agent, e inject.Event, args string) (string, error) {
	entry, said, err := w.here(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	o, err := w.target(agent, entry, LaunchOptions{})
	if err != nil {
		return "", err
	}
	if args != "" {
		if o.Budget, err = strconv.Atoi(args); err != nil || o.Budget < resume.MinBudget {
			return sayPrefix + fmt.Sprintf("%q is no budget: a number of tokens from %d on.", workspace.Plain(args), resume.MinBudget), nil
		}
	}
	r, err := w.Resume(ctx, entry, o)
	if err != nil {
		return "", err
	}
	p := r.Payload
	var b strings.Builder
	fmt.Fprintf(&b, "%sa resume would tell %d of %d tokens, %s:", sayPrefix, p.Tokens, p.Budget, p.Strategy)
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
	if s, err := w.LastSent(entry); err == nil {
		fmt.Fprintf(&b, "\nTold last: %d tokens to %s at %s, %s.", s.Tokens, workspace.Plain(s.Agent), s.At, workspace.Plain(s.Strategy))
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

// CompactBudgets returns the budgets that a compaction shows; 0 is the default.
func CompactBudgets() []int { return []int{2_000, 8_000, 32_000, 0} }

// sayCompact shows the effect of each budget on the session's conversation, and makes the
// missing summaries if args asks for it.
func (w *Workspace) sayCompact(ctx context.Context, agent inject.Agent, e inject.Event, args string) (string, error) {
	entry, said, err := w.here(ctx, agent, e)
	if said != "" || err != nil {
		return said, err
	}
	out, err := w.Compact(ctx, entry, args == "apply" || args == "--apply")
	if err != nil {
		return "", err
	}
	o, err := w.target(agent, entry, LaunchOptions{})
	if err != nil {
		return "", err
	}
	payloads, err := w.Budgets(ctx, entry, o, CompactBudgets()...)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%sof the %d messages of this conversation a resume would tell:", sayPrefix, out.Messages)
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
