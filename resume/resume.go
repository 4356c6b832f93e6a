// Package resume builds what an agent gets when it continues a conversation. It turns
// the records of package schema into one text, the payload: the conversation's command,
// the resume block and the history.
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
	Budget int       // size of the payload in tokens; 0 for that of BudgetOf
	Window int       // context window for BudgetOf, in tokens; 0 if unknown
	First  Request   // first request of the conversation, for BudgetOf; zero if unknown
	Model  string    // model that continues the conversation; empty if unknown
	Agent  string    // agent that continues the conversation; empty for the one it was in
	Last   int       // include only the last so many messages; 0 for all
	Branch int       // number of the branch that the history is, if it is not the newest; 0 otherwise

	// Notes are the notes on the conversation, nil if unknown.
	Notes *notes.Notes

	// Changes are the changes to the repository since the last message, nil if
	// unknown or not to be shown.
	Changes *Changes

	// Summaries are the existing summaries of ranges of messages. Build skips those
	// that are out of date. Ranked includes those by a model, for messages that do
	// not fit.
	Summaries []*schema.Summary

	// Keep is how many messages at the end are never replaced by a summary; 0 means 20.
	Keep int

	// Strategy selects how to shorten a history that does not fit; empty and
	// FullHistory mean Ranked.
	Strategy string
	Command  Command // the conversation's command in its current form
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

// A Part is one piece of the conversation in the payload. Its JSON is stable: commands and the
// server print it.
type Part struct {
	What    string `json:"what"`    // command, block, notes, or the speaker: "assistant", "tool Bash ok"
	Message int    `json:"message"` // number of the message in the conversation, from 1; 0 for none or several
	Tokens  int    `json:"tokens"`  // approximate size
	Whole   bool   `json:"whole"`   // nothing of it is left out
	Why     string `json:"why"`     // why it is included
}

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
	whole := newHead(s, h, o)
	whole.since = o.Changes.text(p.Budget * changesShare / 100)
	hd, c := newBuilder(s, h, o).choose(whole, o.Strategy, p.Budget)
	if o.Strategy != "" && c.strategy != o.Strategy && !c.complete {
		why := "has no room"
		if o.Strategy == RecentPlus {
			why = "has no room, or nothing to sum up,"
		}
		p.Warnings = append(p.Warnings, Warning{"strategy", fmt.Sprintf("%s %s in %d tokens: %s is used", o.Strategy, why, p.Budget, c.strategy)})
	}
	p.Text, p.Tokens, p.Strategy = c.text, c.tokens, c.strategy
	p.Original, p.Included, p.Summarized = h.Earlier+len(h.Messages), len(h.Messages)-c.omitted, c.summarized
	p.Parts, p.LeftOut = parts(hd, c), append(c.leftOut, hd.cut...)
	return p, nil
}

// parts lists what is in a payload.
func parts(hd head, c choice) []Part {
	all := hd.parts(c.leftOut)
	if len(c.parts) == 0 {
		return all
	}
	rest := c.tokens
	for _, part := range slices.Concat(all, c.parts) {
		rest -= part.Tokens
	}
	intro := min(introductionTokens(), rest)
	all = append(all, Part{What: "introduction", Tokens: intro, Whole: true, Why: "says how to read the history"})
	all = append(all, c.parts...)
	return append(all, Part{What: "headings and gaps", Tokens: rest - intro, Whole: true, Why: "say whose words these are, and what is missing"})
}
