// Package resume decides what an agent gets of a conversation it continues. It turns
// the records of package schema into one text, the payload: the conversation's
// command, the resume block and the history.
//
// The package is pure: it reads no files, clock, environment or locale. The same
// session, history and options give the same bytes.
package resume

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/prompt"
)

// MinBudget is the smallest budget, in tokens. Every conversation fits into it,
// whatever its content.
const MinBudget = 200

// ErrBudget is returned, wrapped, for a budget below [MinBudget].
var ErrBudget = errors.New("the budget is too small")

// ErrStrategy is returned, wrapped, for an unknown strategy.
var ErrStrategy = errors.New("no such strategy")

// Options control how much is included, and as of when.
type Options struct {
	Now    time.Time // reference time for "ago" in the block
	Budget int       // size of the payload in tokens; 0: BudgetOf
	Window int       // context window for BudgetOf, in tokens; 0: unknown
	First  Request   // of the conversation, for BudgetOf; zero: unknown
	Model  string    // that continues the conversation; empty: unknown
	Agent  string    // that continues the conversation; empty: the one it was in
	Last   int       // include only the last so many messages; 0: all

	// Notes are the notes on the conversation, nil if unknown.
	Notes *notes.Notes

	// Changes are the changes to the repository since the last message, nil if
	// unknown or not to be shown.
	Changes *Changes

	// Summaries are the existing summaries of ranges of messages. Build skips those
	// that are out of date. Ranked includes those by a model, for messages that do
	// not fit.
	Summaries []*schema.Summary

	// Keep is how many messages at the end are never replaced by a summary; 0: 20.
	Keep int

	// Strategy selects how to shorten a history that does not fit; empty and
	// FullHistory mean Ranked.
	Strategy string
	Command  Command // the conversation's command in its current form
}

// A Command is the current form of the prompt that began the conversation. The zero
// value means that the conversation has none.
type Command struct {
	Name    string // as typed: /workspace.brainstorm
	File    string // relative to the workspace, with slashes: .workspace/commands/brainstorm.md
	Body    string // the prompt without its frontmatter
	BuiltIn bool   // the file is missing: Body is the built-in text
}

// A Payload is the text for the agent, with details about it.
type Payload struct {
	Text       string
	Tokens     int // of Text, exact, in o200k_base
	Budget     int // the budget applied: never less than Tokens
	Strategy   string
	Original   int       // messages on the branch
	Included   int       // messages of the history that are in Text
	Summarized int       // messages for which Text has only a summary
	Parts      []Part    // what is in Text, in order
	LeftOut    []LeftOut // what is not in Text
	Warnings   []Warning // they do not change Text
	Estimate   bool      // the target model counts tokens differently
	Factor     float64   // that model's tokens per token of Text: an approximate upper bound
}

// The strategies: which part of a history to include.
const (
	FullHistory  = "full-history"        // all of it
	Ranked       = "ranked"              // the end, and the earlier pieces that the next turns are likely to need
	PrunedTools  = "pruned-tools"        // the end, with tool outputs cut
	RecentPlus   = "recent-plus-summary" // the end, and summaries of what precedes it
	MinimalState = "minimal-state"       // the state and the user's last message; command and block shortened if necessary
)

// A strategy includes what it can of a history that does not fit, in at most budget
// tokens and with a head that does fit. If last is not zero, it uses only the last
// messages. ok is false if it has nothing to include.
type strategy func(b *builder, hd head, budget, last int) (c choice, left []LeftOut, ok bool)

// strategies returns the strategies that Build does not try anyway.
func strategies() map[string]strategy {
	return map[string]strategy{Ranked: (*builder).ranked, PrunedTools: (*builder).prunedTools, RecentPlus: (*builder).recentPlusSummary, MinimalState: (*builder).minimalState}
}

// Strategies returns the valid names for Options.Strategy.
func Strategies() []string {
	return []string{FullHistory, Ranked, PrunedTools, RecentPlus, MinimalState}
}

// A Part is one piece of the conversation in the payload.
type Part struct {
	What    string // command, block, state, or the speaker: "assistant", "tool Bash ok"
	Message int    // number of the message in the conversation, from 1; 0: none, or several
	Tokens  int    // approximate size
	Whole   bool   // nothing of it is left out
	Why     string // why it is included
}

// A LeftOut is one piece of the conversation that the payload omits.
type LeftOut struct {
	What   string
	Count  int    // 0: not countable, such as a part of the summary
	Tokens int    // approximate; 0: unknown
	Show   string // the command line that shows it
}

// PartsOfMessages is the What for messages that are included in part. Its Count is
// the number of such messages.
const PartsOfMessages = "parts of messages"

// A Warning is something the user should know before continuing.
type Warning struct {
	Code string // "prompt-drift", "command-missing", "strategy"
	Text string
}

// Build makes the payload for s, whose messages are h. It returns [ErrBudget] or
// [ErrStrategy].
func Build(s *schema.Session, h schema.History, o Options) (*Payload, error) {
	room := BudgetOf(s, o)
	p := &Payload{Budget: o.Budget, Warnings: warnings(s, o.Command), Estimate: !room.Exact, Factor: room.Factor}
	if p.Budget == 0 {
		p.Budget = room.Tokens
		p.Warnings = append(p.Warnings, room.warnings(cmp.Or(o.Agent, s.AgentConfig.Agent))...)
	}
	if p.Budget < MinBudget {
		return nil, fmt.Errorf("%w: %d tokens, at least %d are needed", ErrBudget, p.Budget, MinBudget)
	}
	if o.Strategy != "" && !slices.Contains(Strategies(), o.Strategy) {
		return nil, fmt.Errorf("%w: %s; there are %s", ErrStrategy, o.Strategy, strings.Join(Strategies(), ", "))
	}
	b := builder{h: newHistory(h), session: s, notes: o.Notes, summaries: o.Summaries, keep: cmp.Or(o.Keep, defaultKeep), earlier: h.Earlier, aside: h.Aside}
	for i := range h.Messages {
		b.total += b.h.recordedTokens(&h.Messages[i])
	}
	hd := newHead(s, h, o)
	hd.since = o.Changes.text(p.Budget * changesShare / 100)
	whole := hd
	if left := b.leftOut(b.first(o.Last)); hd.blockTokens(left) > headBudget(p.Budget) {
		hd = b.fitHead(whole, o.Command, left, p.Budget)
	}
	c, fits := b.whole(hd, p.Budget, o.Last)
	if !fits || o.Strategy == MinimalState {
		hd = b.fitHead(whole, o.Command, b.mostLeftOut(p.Budget), p.Budget)
		c, fits = b.whole(hd, p.Budget, o.Last)
	}
	p.LeftOut, p.Strategy = b.leftOut(c.start), FullHistory
	if h.Earlier > 0 && o.Last == 0 {
		p.Strategy = Ranked // it includes all of h, but h is not the whole conversation
	}
	if !fits || o.Strategy == MinimalState {
		for _, name := range inTurn(o.Strategy, p.Budget) {
			var done bool
			if c, p.LeftOut, done = strategies()[name](&b, hd, p.Budget, o.Last); done {
				p.Strategy = name
				break
			}
		}
		if len(c.parts) == 0 || p.Budget < leastFenced || c.start == len(h.Messages) && p.Budget < 2*leastFenced {
			hd, c = b.headOnly(whole, o.Command, p.Budget)
			p.LeftOut, p.Strategy = b.leftOut(len(h.Messages)), MinimalState
		}
		if o.Strategy != "" && p.Strategy != o.Strategy {
			why := "has no room"
			if o.Strategy == RecentPlus {
				why = "has no room, or nothing to sum up,"
			}
			p.Warnings = append(p.Warnings, Warning{"strategy", fmt.Sprintf("%s %s in %d tokens: %s is used", o.Strategy, why, p.Budget, p.Strategy)})
		}
	}
	p.Text, p.Tokens = c.text, c.count
	p.Parts = hd.parts(p.LeftOut)
	rest := p.Tokens
	for _, part := range append(p.Parts, c.parts...) {
		rest -= part.Tokens
	}
	if len(c.parts) > 0 {
		intro := min(introductionTokens(), rest)
		p.Parts = append(p.Parts, Part{What: "introduction", Tokens: intro, Whole: true, Why: "says how to read the history"})
		p.Parts = append(p.Parts, c.parts...)
		p.Parts = append(p.Parts, Part{What: "headings and gaps", Tokens: rest - intro, Whole: true, Why: "say whose words these are, and what is missing"})
	}
	p.LeftOut = append(p.LeftOut, hd.cut...)
	p.Original, p.Included = h.Earlier+len(h.Messages), len(h.Messages)-c.start
	p.Summarized = c.summarized
	return p, nil
}

// inTurn returns the strategies in the order to try them: the requested one, the most
// informative one, and the one that always fits.
func inTurn(asked string, budget int) []string {
	switch {
	case asked != "" && asked != FullHistory:
		return []string{asked, Ranked, MinimalState}
	case budget < rankedFrom:
		return []string{MinimalState}
	}
	return []string{Ranked, MinimalState}
}

// rankedFrom is the budget, in tokens, below which excerpts say less than the state.
const rankedFrom = 500

// A builder makes a payload for a history by one of several strategies.
type builder struct {
	session        *schema.Session
	notes          *notes.Notes // nil: unknown
	h              *history
	summaries      []*schema.Summary
	keep           int // messages at the end that are not summarized
	earlier, aside int
	total          int // estimated tokens of all messages of h
}

// A choice is a payload that fits.
type choice struct {
	start      int // how many messages are left out
	text       string
	count      int
	parts      []Part // of the history
	summarized int    // messages covered only by summaries among parts
}

// leftOut lists what a payload omits that has the messages from start on in full.
func (b *builder) leftOut(start int) []LeftOut {
	var left []LeftOut
	stored := 0
	for i := start; i < len(b.h.messages); i++ {
		stored += b.h.recordedTokens(&b.h.messages[i])
	}
	if n := b.earlier + start; n > 0 {
		left = append(left, LeftOut{"earlier messages", n, b.earlierTokens(stored), commandLine(b.session, "show", "")})
	}
	return append(left, b.neverIncluded(start)...)
}

// neverIncluded lists what no payload includes: abandoned branches, and the model's
// reasoning from message start on.
func (b *builder) neverIncluded(start int) (left []LeftOut) {
	if b.aside > 0 {
		left = append(left, LeftOut{"messages on branches that were left", b.aside, 0, commandLine(b.session, "show", "")})
	}
	count, size := 0, 0
	for i := start; i < len(b.h.messages); i++ {
		if text := b.h.messages[i].Reasoning; text != "" {
			count++
			size += estimate(text)
		}
	}
	if count > 0 {
		left = append(left, LeftOut{"passages of reasoning", count, size, commandLine(b.session, "show", " --reasoning")})
	}
	return left
}

// earlierTokens estimates the tokens before messages that have stored tokens. For
// messages that were not read it uses the session's own count, if that is usable.
func (b *builder) earlierTokens(stored int) int {
	if b.earlier == 0 {
		return b.total - stored
	}
	if b.aside > 0 || b.session.Tokens <= int64(b.total) {
		return 0
	}
	return int(b.session.Tokens) - stored
}

// warnings returns what the user should know about the command.
func warnings(s *schema.Session, c Command) []Warning {
	var ws []Warning
	where := oneLine(cmp.Or(c.File, c.Name))
	empty := strings.TrimSpace(c.Body) == ""
	switch {
	case empty && where != "":
		ws = append(ws, Warning{"command-missing", fmt.Sprintf("the command %s has no text: the conversation goes on without it", where)})
	case c.BuiltIn:
		ws = append(ws, Warning{"command-missing", fmt.Sprintf("the command %s is missing; the built-in text is used", where)})
	}
	if was := s.AgentConfig.SystemPromptHash; !empty && was != "" && was != prompt.Hash(c.Body) {
		ws = append(ws, Warning{"prompt-drift", fmt.Sprintf("the command %s has changed since this conversation began; the current text is used", where)})
	}
	return ws
}
