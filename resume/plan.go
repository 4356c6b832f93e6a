package resume

import (
	"fmt"
	"strings"

	"cortext/schema"
)

// A plan is the plan in the block: a status line, and one line per step unless all
// are done.
type plan struct {
	status string
	steps  []step
}

// A step is a line of a plan. Steps with the highest rank are dropped first.
type step struct {
	mark, text string
	rank       int
	done       bool
}

// newPlan renders p. The result is empty if p has no steps.
func newPlan(p *schema.Plan) plan {
	if p == nil || len(p.Steps) == 0 {
		return plan{}
	}
	n := len(p.Steps)
	var out plan
	done := 0
	current := -1
	if p.Current >= 0 && p.Current < n && p.Steps[p.Current].Status != "completed" {
		current = p.Current
	}
	for i, s := range p.Steps {
		st := step{mark: "[ ]", text: field(s.Content), rank: 1 + i}
		switch {
		case s.Status == "completed":
			st.mark, st.done = "[x]", true
			st.rank = 2*n + 1 - i // after all open steps, newest first
			done++
		case s.Status == "in_progress":
			st.mark = "[>]"
		}
		if i == current {
			st.rank = 0
		}
		out.steps = append(out.steps, st)
	}
	out.status = fmt.Sprintf("%d of %d steps done", done, n)
	if done == n {
		out.steps = nil
	}
	if current >= 0 {
		out.status += fmt.Sprintf(", step %d is current", current+1)
	}
	if p.Awaiting {
		out.status += ", waiting for the user"
	}
	return out
}

func (p plan) text() string {
	if p.status == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString("Plan: " + p.status + "\n")
	for _, s := range p.steps {
		b.WriteString(s.line())
	}
	return b.String()
}

// line renders the step. Its tokens can be counted on their own: none spans the
// newline before or after it.
func (s step) line() string { return "- " + s.mark + " " + s.text + "\n" }
