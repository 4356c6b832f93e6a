package resume

import (
	"cmp"
	"slices"

	"cortext/schema"
	"cortext/schema/tokens"
)

// A shrinking is a head on its way to a budget.
type shrinking struct {
	*head
	left   []LeftOut // what the history lacks
	budget int
}

// shrink shortens the head part by part until it fits the budget together with
// the word of what the history lacks. What is longer than anything real goes
// first; then the command's text becomes a reference to its file, and the list of
// what was left out one line; then the arguments, the plan, the summary and the
// title are cut, each by as little as helps. What is left in the end fits
// [MinBudget].
func (hd *head) shrink(c Command, s *schema.Session, left []LeftOut, budget int) {
	k := shrinking{hd, left, budget}
	k.bound(&k.typ, 8, theType)
	k.bound(&k.title, 64, theTitle)
	k.refer(c, s)
	k.say(asLine)
	k.squeeze(&k.args, 16, theArguments)
	k.dropSteps()
	k.squeeze(&k.summary, 24, theSummary)
	k.squeeze(&k.title, 12, theTitle)
	k.squeeze(&k.summary, 0, theSummary)
	k.squeeze(&k.args, 0, theArguments)
	k.say(asSum)
	if k.over() > 0 {
		k.plan.status = ""
	}
	k.squeeze(&k.title, 0, theTitle)
}

// say makes what was left out shorter to tell if the head does not fit.
func (k *shrinking) say(how telling) {
	if k.over() > 0 {
		k.telling = how
	}
}

// What can be missing of a head.
const (
	theType      = "part of the type"
	theTitle     = "part of the title"
	theSummary   = "part of the summary"
	theArguments = "part of the arguments"
	theCommand   = "the command's text"
	theSteps     = "steps of the plan"
)

// over is by how many tokens the head is too long; it fits if that is not more
// than zero.
func (k *shrinking) over() int { return tokens.Count(k.text(k.left)) - k.budget }

// note returns the entry for what was taken out of the head, to be filled in.
func (k *shrinking) note(what, show string) *LeftOut {
	for i := range k.cut {
		if k.cut[i].What == what {
			return &k.cut[i]
		}
	}
	k.cut = append(k.cut, LeftOut{What: what, Show: show})
	return &k.cut[len(k.cut)-1]
}

// bound cuts a part that is longer than limit tokens, whatever the others are.
func (k *shrinking) bound(part *string, limit int, what string) {
	if longer(*part, limit) {
		k.note(what, k.show).Tokens = max(roughly(*part)-limit, 1)
		*part = cut(*part, limit)
	}
}

// squeeze cuts a part by as little as makes the head fit, down to least tokens.
func (k *shrinking) squeeze(part *string, least int, what string) {
	const worth = 8 // tokens: less is what it takes to say that something was cut
	over := k.over()
	whole := *part
	size := tokens.Count(whole)
	if over <= 0 || size <= least || least > 0 && size <= least+worth {
		return
	}
	note := k.note(what, k.show)
	before := note.Tokens
	for limit := size; over > 0 && limit > least; over = k.over() {
		limit = max(limit-over, least)
		*part = cut(whole, limit)
		note.Tokens = before + size - tokens.Count(*part)
	}
}

// nameless stands for a command that is too long to name.
const nameless = "The command that began this conversation does not fit here."

// refer puts a reference to the command's file in the place of its text if the head
// does not fit, unless the text is no longer than that.
func (k *shrinking) refer(c Command, s *schema.Session) {
	if k.over() > 0 {
		k.referTo(c, s)
	}
}

func (k *shrinking) referTo(c Command, s *schema.Session) {
	if k.command == "" {
		return
	}
	file, name := oneLine(c.File), oneLine(c.Name)
	show := commandLine(s, "resume", " --print")
	reference := nameless
	switch {
	case file != "" && !c.BuiltIn && !longer(shellWord(file), maxName):
		reference = "Read " + file + " first and follow it."
		show = "cat " + shellWord(file)
	case name != "" && !longer(name, maxName):
		reference = "The text of " + name + ", which began this conversation, does not fit here."
	}
	if !longer(k.command, tokens.Count(reference)) {
		return
	}
	k.reference, k.args = reference, arguments(s)
	k.note(theCommand, show).Tokens = max(roughly(k.command)-roughly(k.args), 1)
}

// dropSteps keeps the steps of the plan that fit: the current one, then those
// that are open in their order, then those that are done, the latest first.
func (k *shrinking) dropSteps() {
	if len(k.plan.steps) == 0 || k.over() <= 0 {
		return
	}
	const longest = 40 // tokens of the text of a step that stays
	all := k.plan.steps
	short := make([]step, len(all))
	order := make([]int, len(all))
	whole := 0
	for i, st := range all {
		order[i] = i
		whole += tokens.Count(st.line())
		st.text = cut(st.text, longest)
		short[i] = st
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].rank, all[b].rank) })
	note := k.note(theSteps, k.show)
	keep := func(n int) {
		kept := slices.Sorted(slices.Values(order[:n]))
		k.plan.steps = nil
		note.Count, note.Tokens = len(all)-n, whole
		for _, i := range kept {
			k.plan.steps = append(k.plan.steps, short[i])
			note.Tokens -= tokens.Count(short[i].line())
		}
	}
	keep(0)
	room := -k.over()
	n := 0
	for n < len(all) {
		if room -= tokens.Count(short[order[n]].line()); room < 0 {
			break
		}
		n++
	}
	for keep(n); n > 0 && k.over() > 0; keep(n) {
		n--
	}
}
