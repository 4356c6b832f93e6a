// Package digest makes a person's notes about a conversation from its messages
// and tool calls, without a model: a title, a description, where things
// stopped, the plan as it stands, and the state that one needs to go on.
package digest

import "cortext/schema"

// The most runes of a summary and of its parts.
const (
	maxSummary  = 300
	maxDecision = 110
	maxOpen     = 100
)

// Summary is [State.Summary] of a conversation that is at hand as a whole.
func Summary(h schema.History) string {
	var s State
	s.Add(h)
	return s.Summary()
}
