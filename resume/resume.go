// Package resume decides what an agent is told about a conversation that it is
// to continue. It turns the records of package schema into one text, the
// payload: the conversation's command, the resume block and the history.
//
// The package is pure: it reads no file, no clock, no environment and no locale.
// The same session, history and options give the same bytes.
package resume

import (
	"errors"
	"fmt"
	"time"

	"cortext/schema"
	"cortext/schema/tokens"
)

// MinBudget is the smallest budget, in tokens: every conversation can be told in
// so many, whatever stands in it.
const MinBudget = 200

// ErrBudget is returned, wrapped, for a budget below [MinBudget].
var ErrBudget = errors.New("the budget is too small")

// Options say how much is told, and as of when.
type Options struct {
	Now     time.Time // what "ago" in the block counts from
	Budget  int       // tokens that the payload may have; 0: DefaultBudget
	Last    int       // only the last so many messages; 0: all
	Command Command   // the conversation's command as it stands now
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
	Included   int       // messages of the history that are in Text
	Summarized int       // messages that only the summary in Text covers
	LeftOut    []LeftOut // what is not in Text
	Warnings   []Warning // none of them changes Text
	Estimate   bool      // the conversation's model may count tokens differently
}

// The strategies that [Build] chooses from.
const (
	FullHistory  = "full-history"  // everything fits
	RecentTurns  = "recent-turns"  // the longest run of whole turns at the end that fits
	MinimalState = "minimal-state" // command or block had to be shortened
)

// A LeftOut is one thing of the conversation that the payload does not hold.
type LeftOut struct {
	What   string
	Count  int
	Tokens int    // about so many; 0: not known
	Show   string // the command line that shows it
}

// A Warning is something the user should know before going on.
type Warning struct {
	Code string // "prompt-drift", "command-missing"
	Text string
}

// Build makes the payload of s, whose messages are h. The only error is
// [ErrBudget].
func Build(s *schema.Session, h schema.History, o Options) (*Payload, error) {
	budget := o.Budget
	if budget == 0 {
		budget = DefaultBudget(s)
	}
	if budget < MinBudget {
		return nil, fmt.Errorf("%w: %d tokens, at least %d are needed", ErrBudget, budget, MinBudget)
	}
	p := &Payload{Budget: budget, Strategy: MinimalState}
	p.Text = "[RESUMED CONVERSATION]\n[END RESUMED CONTEXT]\n"
	p.Tokens = tokens.Count(p.Text)
	return p, nil
}
