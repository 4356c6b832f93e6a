package resume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cortext/resume/excerpt"
	"cortext/resume/notes"
	"cortext/schema/tokens"
)

// notesHeading is the heading of the notes in the fence.
const notesHeading = " notes\n"

// A noteLine is a line of the notes. Lines are ordered by group; if not all fit, those
// with the lowest rank stay.
type noteLine struct {
	group  noteGroup
	text   string
	number int // of its message
	rank   int
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

// rank returns the rank of a note with age newer ones in its group.
func (g noteGroup) rank(age int) int {
	interleave := [noteGroups]struct{ first, step int }{
		topicNotes:    {0, 1},
		errorNotes:    {1, 4},
		decisionNotes: {1, 3},
		fileNotes:     {2, 2},
		commandNotes:  {3, 4},
	}[g]
	return interleave.first + interleave.step*age
}

// noteLines returns the notes as lines by rank, each with the number of its source
// message.
func noteLines(n *notes.Notes) []noteLine {
	var all []noteLine
	add := func(g noteGroup, age, number int, text string) {
		if number > 0 {
			text += fmt.Sprintf(" (%d)", number)
		}
		all = append(all, noteLine{g, text, number, g.rank(age)})
	}
	if n.Topic.Text != "" {
		add(topicNotes, 0, n.Topic.Number, "Began with: "+oneLine(n.Topic.Text))
	}
	for i, e := range n.Errors {
		add(errorNotes, len(n.Errors)-1-i, e.Number, "- "+oneLine(e.Text))
	}
	for i, d := range n.Decisions {
		add(decisionNotes, len(n.Decisions)-1-i, d.Number, "- "+oneLine(d.Text))
	}
	for i, f := range n.Files {
		add(fileNotes, len(n.Files)-1-i, f.Number, "- "+f.Action+" "+oneLine(f.Path))
	}
	for i, c := range n.Commands {
		if c.Outcome == notes.Failed && !slices.ContainsFunc(n.Errors, func(e notes.Note) bool { return e.Number == c.Number }) {
			continue // failures that were resolved since are history
		}
		outcome := c.Outcome
		if c.ExitCode != nil && *c.ExitCode != 0 {
			outcome = fmt.Sprintf("%s, exit code %d", outcome, *c.ExitCode)
		}
		add(commandNotes, len(n.Commands)-1-i, c.Number, "- "+outcome+": "+oneLine(c.Line))
	}
	slices.SortStableFunc(all, func(a, b noteLine) int { return a.rank - b.rank })
	return all
}

// notesSection renders as many notes as fit in limit tokens, as at most one section.
// It skips the topic if its message has number included or a later one, since the
// payload has that message.
func (b *builder) notesSection(limit, included int) []leadSection {
	if b.notes == nil {
		return nil
	}
	var fit []noteLine
	titled, more := [noteGroups]bool{}, [noteGroups]int{}
	for _, l := range noteLines(b.notes) {
		if l.group == topicNotes && l.number >= included {
			continue
		}
		n := tokens.Count(l.text) + 1
		if title := l.group.title(); title != "" && !titled[l.group] {
			n += tokens.Count(title) + 1
		}
		if n > limit {
			more[l.group]++
			continue
		}
		limit -= n
		titled[l.group] = true
		fit = append(fit, l)
	}
	if len(fit) == 0 {
		return nil
	}
	slices.SortStableFunc(fit, func(a, b noteLine) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.number, b.number)) })
	var text strings.Builder
	text.WriteString(notesHeading)
	for i, l := range fit {
		if title := l.group.title(); title != "" && (i == 0 || fit[i-1].group != l.group) {
			text.WriteString(title + "\n")
			if n := more[l.group]; n > 0 {
				fmt.Fprintf(&text, "- %s %d more\n", excerpt.Gap, n)
			}
		}
		text.WriteString(l.text + "\n")
	}
	return []leadSection{{section: section(text.String())}}
}
