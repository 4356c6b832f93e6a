// Package resume decides what an agent gets of a conversation that it is to continue. It
// turns the records of package schema into one text, the
// payload: the conversation's command, the resume block and the history.
//
// The package is pure: it reads no file, no clock, no environment and no locale.
// The same session, history and options give the same bytes.
package resume

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cortext/resume/digest"
	"cortext/schema"
	"cortext/schema/prompt"
)

// MinBudget is the smallest budget, in tokens: every conversation fits in
// so many, whatever stands in it.
const MinBudget = 200

// ErrBudget is returned, wrapped, for a budget below [MinBudget].
var ErrBudget = errors.New("the budget is too small")

// ErrStrategy is returned, wrapped, for a strategy that does not exist.
var ErrStrategy = errors.New("no such strategy")

// Options say how much is included, and as of when.
type Options struct {
	Now    time.Time // what "ago" in the block counts from
	Budget int       // tokens that the payload may have; 0: BudgetOf
	Window int       // tokens that the model takes, for BudgetOf; 0: not known
	First  Request   // of the conversation, for BudgetOf; zero: not known
	Model  string    // that the conversation goes on with; empty: not known
	Agent  string    // that the conversation goes on in; empty: the one that it was in
	Last   int       // only the last so many messages; 0: all

	// State is what the conversation is about, nil if that is not known.
	State *digest.State

	// Changes are what happened to the repository since the last message, nil if that is
	// not known or not to be shown.
	Changes *Changes

	// Summaries are those that were made of ranges of the messages; those that
	// no longer hold are left out. Ranked includes those that a model made, of messages for
	// which there is no room.
	Summaries []*schema.Summary

	// Keep is how many messages at the end no summary stands for; 0: 20.
	Keep int

	// Strategy is how a history that does not fit is made to; empty and FullHistory:
	// Ranked.
	Strategy string
	Command  Command // the conversation's command as it stands now
}

// A Command is the prompt that began the conversation, as it stands now. The
// zero value stands for a conversation without one.
type Command struct {
	Name    string // as it is typed: /workspace.brainstorm
	File    string // relative to the workspace, with slashes: .workspace/commands/brainstorm.md
	Body    string // the prompt without its frontmatter
	BuiltIn bool   // the file is missing: Body is the built-in text
}

// A Payload is the text for the agent, with what there is to say about it.
type Payload struct {
	Text       string
	Tokens     int // of Text, exactly, in o200k_base
	Budget     int // the budget that held: never less than Tokens
	Strategy   string
	Original   int       // messages that the branch has
	Included   int       // messages of the history that are in Text
	Summarized int       // messages of which Text has nothing but a summary of some messages
	Parts      []Part    // what is in Text, in its order
	LeftOut    []LeftOut // what is not in Text
	Warnings   []Warning // none of them changes Text
	Estimate   bool      // the model that it is for counts tokens in another way
	Factor     float64   // that model's tokens for each of Tokens, at most about so many
}

// The strategies: what of a history is included.
const (
	FullHistory  = "full-history"        // all of it
	Ranked       = "ranked"              // the end, and of what came before the pieces that the next turns are likely to need
	PrunedTools  = "pruned-tools"        // the end, with the outputs of tools cut
	RecentPlus   = "recent-plus-summary" // the end, and summaries of what comes before
	MinimalState = "minimal-state"       // the state and the last message of the user; command and block shortened if need be
)

// A strategy includes what it can of a history that does not fit, in at most budget tokens
// and beside a head that does; of the last messages only, if last is not zero. ok is false
// where it has nothing to include.
type strategy func(b *builder, hd head, budget, last int) (c choice, left []LeftOut, ok bool)

// strategies are those that are not tried anyway.
func strategies() map[string]strategy {
	return map[string]strategy{Ranked: (*builder).ranked, PrunedTools: (*builder).prunedTools, RecentPlus: (*builder).recentPlusSummary, MinimalState: (*builder).minimalState}
}

// Strategies are the names that Options.Strategy may have.
func Strategies() []string {
	return []string{FullHistory, Ranked, PrunedTools, RecentPlus, MinimalState}
}

// A Part is one thing of the conversation that the payload holds.
type Part struct {
	What    string // command, block, state, or who speaks: "assistant", "tool Bash ok"
	Message int    // the number of the message in the conversation, from 1; 0: it is of none, or of several
	Tokens  int    // that it takes, about
	Whole   bool   // nothing of it is left out
	Why     string // why it is there
}

// A LeftOut is one thing of the conversation that the payload does not hold.
type LeftOut struct {
	What   string
	Count  int    // 0: it cannot be counted, such as a part of the summary
	Tokens int    // about so many; 0: not known
	Show   string // the command line that shows it
}

// PartsOfMessages is the What of messages that are included in part; the count is that of
// the messages.
const PartsOfMessages = "parts of messages"

// A Warning is something the user should know before going on.
type Warning struct {
	Code string // "prompt-drift", "command-missing", "strategy"
	Text string
}

// Build makes the payload of s, whose messages are h. The errors are [ErrBudget] and
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
	b := builder{h: newHistory(h), session: s, state: o.State, summaries: o.Summaries, keep: cmp.Or(o.Keep, keptMessages), earlier: h.Earlier, aside: h.Aside}
	for i := range h.Messages {
		b.total += b.h.stored(&h.Messages[i])
	}
	hd := newHead(s, h, o)
	hd.since = o.Changes.text(p.Budget * changesShare / 100)
	whole := hd
	if left := b.leftOut(b.first(o.Last)); hd.block(left) > overhead(p.Budget) {
		hd = b.fitted(whole, o.Command, left, p.Budget)
	}
	c, fits := b.whole(hd, p.Budget, o.Last)
	if !fits || o.Strategy == MinimalState {
		hd = b.fitted(whole, o.Command, b.mostLeftOut(p.Budget), p.Budget)
		c, fits = b.whole(hd, p.Budget, o.Last)
	}
	p.LeftOut, p.Strategy = b.leftOut(c.start), FullHistory
	if h.Earlier > 0 && o.Last == 0 {
		p.Strategy = Ranked // of all that was read, all
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
			hd, c = b.brief(whole, o.Command, p.Budget)
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

// inTurn are the strategies that are tried where one was asked for, or none: what
// was asked for, else what says most, else what always fits.
func inTurn(asked string, budget int) []string {
	switch {
	case asked != "" && asked != FullHistory:
		return []string{asked, Ranked, MinimalState}
	case budget < rankedFrom:
		return []string{MinimalState}
	}
	return []string{Ranked, MinimalState}
}

// rankedFrom is the budget, in tokens, below which pieces say less than the state.
const rankedFrom = 500

// A builder makes a payload of a history in one of several ways.
type builder struct {
	session        *schema.Session
	state          *digest.State // nil: not known
	h              *history
	summaries      []*schema.Summary
	keep           int // messages at the end that are not summed up
	earlier, aside int
	total          int // tokens of all messages of h, about
}

// A choice is a payload that fits.
type choice struct {
	start      int // how many messages are left out
	text       string
	count      int
	parts      []Part // of the history
	summarized int    // messages that only summaries among these cover
}

// leftOut lists what of the conversation is not in a payload that has the messages from
// start on in full.
func (b *builder) leftOut(start int) []LeftOut {
	var left []LeftOut
	stored := 0
	for i := start; i < len(b.h.messages); i++ {
		stored += b.h.stored(&b.h.messages[i])
	}
	if n := b.earlier + start; n > 0 {
		left = append(left, LeftOut{"earlier messages", n, b.earlierTokens(stored), commandLine(b.session, "show", "")})
	}
	return append(left, b.neverTold(start)...)
}

// neverTold lists what no payload includes: what stands on branches that were left, and
// what the model thought before it spoke, from the message start on.
func (b *builder) neverTold(start int) (left []LeftOut) {
	if b.aside > 0 {
		left = append(left, LeftOut{"messages on branches that were left", b.aside, 0, commandLine(b.session, "show", "")})
	}
	count, size := 0, 0
	for i := start; i < len(b.h.messages); i++ {
		if text := b.h.messages[i].Reasoning; text != "" {
			count++
			size += roughly(text)
		}
	}
	if count > 0 {
		left = append(left, LeftOut{"passages of reasoning", count, size, commandLine(b.session, "show", " --reasoning")})
	}
	return left
}

// earlierTokens is about how many tokens stand before messages that have stored. For
// messages that were not read it goes by the session's own count, if that can tell.
func (b *builder) earlierTokens(stored int) int {
	if b.earlier == 0 {
		return b.total - stored
	}
	if b.aside > 0 || b.session.Tokens <= int64(b.total) {
		return 0
	}
	return int(b.session.Tokens) - stored
}

// warnings are what the user should know about the command.
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
