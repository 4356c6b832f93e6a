// Package digest makes a person's notes about a conversation from its messages
// and tool calls, without a model: a title, a description, where things
// stopped, and the plan as it stands.
package digest

import (
	"strings"
	"unicode/utf8"

	"cortext/schema"
)

// The most runes of a summary and of its parts.
const (
	maxSummary  = 300
	maxDecision = 110
	maxOpen     = 100
)

// Summary says in at most 300 runes on one line where the conversation stopped:
// the last decision, the question that waits for the user, the last state of the
// work, as far as there are such; "" where nothing was said.
func Summary(h schema.History) string {
	var all []turn
	for _, t := range turns(h) {
		if !t.closing {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	var parts []string
	if d := decision(all); d != "" {
		parts = append(parts, "Decided: "+cut(d, maxDecision))
	}
	if q := openQuestion(last); q != "" {
		parts = append(parts, "Open: "+cut(q, maxOpen))
	}
	room := maxSummary
	for i, p := range parts {
		if !strings.HasSuffix(p, "?") && !strings.HasSuffix(p, "…") {
			parts[i] = p + "."
		}
		room -= utf8.RuneCountInString(parts[i]) + 1
	}
	var before turn
	if len(all) > 1 {
		before = all[len(all)-2]
	}
	if s := state(last, before, room); s != "" {
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}
