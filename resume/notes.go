package resume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cortext/resume/excerpt"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// notesHeading is the heading of the notes in the fence.
const notesHeading = " notes\n"

// A noteLine is a line of the notes. Notes are ordered by group; if not all fit, those
// with the lowest rank stay.
type noteLine struct {
	group noteGroup
	text  string
	n     int // number of its message
	rank  int
}

// A noteGroup is a kind of note. The constants are in display order.
type noteGroup int

const (
	topicNotes noteGroup = iota
	decisionNotes
	fileNotes
	commandNotes
	errorNotes
	noteGroups
)

// title returns the line above a group, or "" if it has none.
func (g noteGroup) title() string {
	return [noteGroups]string{
		decisionNotes: "Decisions of the user:",
		fileNotes:     "Files changed:",
		commandNotes:  "Commands run:",
		errorNotes:    "Errors not resolved:",
	}[g]
}

// noteLines lists the notes of a state, each with the number of its source message. They
// are ordered by rank: the latest of each group first.
func noteLines(st *notes.Notes) []noteLine {
	var all []noteLine
	// first and step control how the groups interleave.
	add := func(g noteGroup, first, step, i, of, n int, text string) {
		if n > 0 {
			text += fmt.Sprintf(" (%d)", n)
		}
		all = append(all, noteLine{g, text, n, first + step*(of-1-i)})
	}
	if st.Topic.Text != "" {
		add(topicNotes, 0, 1, 0, 1, st.Topic.Number, "Began with: "+oneLine(st.Topic.Text))
	}
	for i, e := range st.Errors {
		add(errorNotes, 1, 4, i, len(st.Errors), e.Number, "- "+oneLine(e.Text))
	}
	for i, d := range st.Decisions {
		add(decisionNotes, 1, 3, i, len(st.Decisions), d.Number, "- "+oneLine(d.Text))
	}
	for i, f := range st.Files {
		add(fileNotes, 2, 2, i, len(st.Files), f.Number, "- "+f.Action+" "+oneLine(f.Path))
	}
	for i, c := range st.Commands {
		if c.Outcome == notes.Failed && !slices.ContainsFunc(st.Errors, func(e notes.Note) bool { return e.Number == c.Number }) {
			continue // failures that were resolved since are history
		}
		outcome := c.Outcome
		if c.ExitCode != nil && *c.ExitCode != 0 {
			outcome = fmt.Sprintf("%s, exit code %d", outcome, *c.ExitCode)
		}
		add(commandNotes, 3, 4, i, len(st.Commands), c.Number, "- "+outcome+": "+oneLine(c.Line))
	}
	slices.SortStableFunc(all, func(a, b noteLine) int { return a.rank - b.rank })
	return all
}

// renderNotes renders as many notes as fit in limit tokens, or "" if none fits. It
// skips notes from messages at or after number included, which are in the payload
// themselves.
func renderNotes(st *notes.Notes, limit, included int) string {
	if st == nil {
		return ""
	}
	var fit []noteLine
	titled, more := [noteGroups]bool{}, [noteGroups]int{}
	for _, f := range noteLines(st) {
		if f.group == topicNotes && f.n >= included {
			continue
		}
		n := tokens.Count(f.text) + 1
		if title := f.group.title(); title != "" && !titled[f.group] {
			n += tokens.Count(title) + 1
		}
		if n > limit {
			more[f.group]++
			continue
		}
		limit -= n
		titled[f.group] = true
		fit = append(fit, f)
	}
	slices.SortStableFunc(fit, func(a, b noteLine) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.n, b.n)) })
	var b strings.Builder
	for i, f := range fit {
		if title := f.group.title(); title != "" && (i == 0 || fit[i-1].group != f.group) {
			b.WriteString(title + "\n")
			if n := more[f.group]; n > 0 {
				fmt.Fprintf(&b, "- %s %d more\n", excerpt.Gap, n)
			}
		}
		b.WriteString(f.text + "\n")
	}
	return b.String()
}

// minimalState includes the notes and the user's last message.
func (b *builder) minimalState(hd head, budget, _ int) (choice, []LeftOut, bool) {
	last := max(b.lastRequest(), 0)
	r := b.read(last, min(last+1, len(b.h.messages)), 0)
	return b.assemble(hd, budget, func(room, _ int) ([]section, []excerpt.Chosen) {
		lead := leadSection(notesHeading, renderNotes(b.notes, room*2/3, b.number(last)))
		return lead, r.Choose(excerpt.Options{Tokens: max(room-sectionTokens(lead), 0)})
	}, r)
}

// lastRequest returns the index of the last user message that is not just a goodbye, or
// -1 if there is none.
func (b *builder) lastRequest() int {
	last := -1
	for i := len(b.h.messages) - 1; i >= 0; i-- {
		if b.h.messages[i].Role != schema.User {
			continue
		}
		if b.notes == nil || b.notes.LastUser.Number == 0 || b.number(i) == b.notes.LastUser.Number {
			return i
		}
		last = max(last, i)
	}
	return last
}
