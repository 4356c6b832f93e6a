package resume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cortext/resume/digest"
	"cortext/resume/excerpt"
	"cortext/schema"
	"cortext/schema/tokens"
)

// stateHeading stands over the state in the fence.
const stateHeading = " state\n"

// A fact is a line of the state. The lines are told in the order of their groups;
// where not all fit, those of the lowest rank are.
type fact struct {
	group factGroup
	text  string
	n     int // of its message
	at    int // which it was of those of its kind
	rank  int
}

// A factGroup is a kind of facts, in the order in which they are told.
type factGroup int

const (
	taskFacts factGroup = iota
	requestFacts
	decisionFacts
	fileFacts
	commandFacts
	errorFacts
	questionFacts
	statusFacts
	groups
)

// title is the line over a group; one that is empty has none.
func (g factGroup) title() string {
	return [groups]string{
		decisionFacts: "Decisions and demands:",
		fileFacts:     "Files changed:",
		commandFacts:  "Commands run:",
		errorFacts:    "Errors not resolved:",
		questionFacts: "Open questions:",
	}[g]
}

// facts spells the state, each fact with the number of the message that it is
// from, in the order of their ranks.
func facts(st *digest.State) []fact {
	var all []fact
	// In each group the latest are worth most; first and step say how the groups mix.
	add := func(g factGroup, first, step int, facts ...fact) {
		for i, f := range facts {
			f.group, f.at, f.rank = g, i, first+step*(len(facts)-1-i)
			all = append(all, f)
		}
	}
	notes := func(prefix string, notes ...digest.Note) (facts []fact) {
		for _, n := range notes {
			if n.Text != "" {
				facts = append(facts, fact{text: prefix + oneLine(n.Text) + source(n.N, n.By), n: n.N})
			}
		}
		return facts
	}
	var users, agents []digest.Note
	for _, d := range st.Decisions {
		switch {
		case d.By != schema.User:
			agents = append(agents, d)
		case !strings.Contains(st.Request.Text, d.Text): // else it is told as what was asked for
			users = append(users, d)
		}
	}
	var files, commands []fact
	for _, f := range st.Files {
		files = append(files, fact{text: fmt.Sprintf("- %s %s%s", f.Action, oneLine(f.Path), source(f.N, "")), n: f.N})
	}
	for _, c := range st.Commands {
		outcome := c.Outcome
		if c.ExitCode != nil && *c.ExitCode != 0 {
			outcome = fmt.Sprintf("%s, exit code %d", outcome, *c.ExitCode)
		}
		commands = append(commands, fact{text: fmt.Sprintf("- %s: %s%s", outcome, oneLine(c.Line), source(c.N, "")), n: c.N})
	}
	if st.Request.N > st.Task.N { // the task has moved on
		began := st.Task
		if len(began.Text) > beganBytes {
			began.Text = before(began.Text, beganBytes) + "…"
		}
		add(taskFacts, 1, 0, notes("Began with: ", began)...)
		add(requestFacts, 0, 0, notes(askedLast, st.Request)...)
	} else {
		add(taskFacts, 0, 1, notes("Task: ", st.Task)...)
	}
	add(statusFacts, 1, 1, notes("Status: ", digest.Note{Text: st.Status})...)
	add(questionFacts, 2, 6, notes("- ", st.Questions...)...)
	add(errorFacts, 3, 6, notes("- ", st.Errors...)...)
	add(decisionFacts, 4, 3, notes("- ", users...)...)
	add(fileFacts, 5, 2, files...)
	add(commandFacts, 7, 4, commands...)
	add(decisionFacts, 8, 6, notes("- ", agents...)...)
	slices.SortStableFunc(all, func(a, b fact) int { return a.rank - b.rank })
	return all
}

// askedLast stands before the request at hand in the state.
const askedLast = "Asked last: "

// source says what message something is from, and of a decision who said it.
func source(n int, by schema.Role) string {
	switch {
	case n > 0 && by != "":
		return fmt.Sprintf(" (%s, %d)", role(by), n)
	case n > 0:
		return fmt.Sprintf(" (%d)", n)
	}
	return ""
}

// beganBytes is how much is told of what a conversation began with, where it has moved
// on.
const beganBytes = 120

// tellState spells as much of a state as has at most limit tokens, but for the groups
// that are told elsewhere; "" if nothing fits.
func tellState(st *digest.State, limit int, elsewhere ...factGroup) string {
	if st == nil {
		return ""
	}
	var told []fact
	titled, more := [groups]bool{}, [groups]int{}
	for _, f := range facts(st) {
		if slices.Contains(elsewhere, f.group) {
			continue
		}
		n := tokens.Count(f.text) + 1
		if title := f.group.title(); title != "" && !titled[f.group] {
			n += tokens.Count(title) + 1
		}
		if n > limit && f.group == requestFacts {
			f.text = cutTo(f.text, limit-1)
			n = tokens.Count(f.text) + 1
		}
		if n > limit || f.text == "" {
			more[f.group]++
			continue
		}
		limit -= n
		titled[f.group] = true
		told = append(told, f)
	}
	slices.SortStableFunc(told, func(a, b fact) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.n, b.n), cmp.Compare(a.at, b.at))
	})
	var b strings.Builder
	for i, f := range told {
		if title := f.group.title(); title != "" && (i == 0 || told[i-1].group != f.group) {
			b.WriteString(title + "\n")
			if n := more[f.group]; n > 0 {
				fmt.Fprintf(&b, "- %s %d more\n", excerpt.Gap, n)
			}
		}
		b.WriteString(f.text + "\n")
	}
	return b.String()
}

// leastRequest is how many bytes of a request say something.
const leastRequest = 40

// cutTo cuts a line to limit tokens, with a mark; "" if that leaves next to nothing.
func cutTo(line string, limit int) string {
	for n := len(line); n > leastRequest; n = n * 7 / 8 {
		if cut := before(line, n) + excerpt.Gap; tokens.Count(cut) <= limit {
			return cut
		}
	}
	return ""
}

// minimalState tells the state and the last message of the user.
func (b *builder) minimalState(hd head, budget, _ int) (choice, []LeftOut, bool) {
	last := max(b.lastSaid(), 0)
	r := b.read(last, min(last+1, len(b.h.messages)))
	return b.tell(hd, budget, func(room, _ int) ([]section, []excerpt.Chosen) {
		lead := led(stateHeading, tellState(b.state, room*2/3, b.toldBy(hd, last)...))
		return lead, r.Choose(excerpt.Options{Tokens: max(room-sectionTokens(lead), 0)})
	}, r)
}

// toldBy are the groups of facts that the block tells, or the messages from first on.
func (b *builder) toldBy(hd head, first int) (elsewhere []factGroup) {
	if hd.summary != "" {
		elsewhere = append(elsewhere, statusFacts)
	}
	if b.state != nil && b.state.Request.N > b.earlier+first {
		elsewhere = append(elsewhere, requestFacts)
	}
	if b.state != nil && b.state.Task.N > b.earlier+first {
		elsewhere = append(elsewhere, taskFacts)
	}
	return elsewhere
}

// lastSaid is the index of the last message of the user, but for one that only takes
// leave; -1 if there is none.
func (b *builder) lastSaid() int {
	last := -1
	for i := len(b.h.messages) - 1; i >= 0; i-- {
		if b.h.messages[i].Role != schema.User {
			continue
		}
		if b.state == nil || b.state.LastUser.N == 0 || b.earlier+i+1 == b.state.LastUser.N {
			return i
		}
		last = max(last, i)
	}
	return last
}
