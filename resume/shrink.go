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
// the word of what the history lacks. A name or title longer than any real one
// goes first; then the command's text becomes a reference to its file, and the list
// of what was left out one line; then the arguments, the plan, the summary and
// the title are cut, each by as little as helps. What is left in the end fits
// [MinBudget].
func (hd *head) shrink(c Command, s *schema.Session, left []LeftOut, budget int) {
	k := shrinking{hd, left, budget}
	k.squeeze(&k.typ, 8, "part of the type")
	k.squeeze(&k.title, 64, "part of the title")
	k.refer(c, s)
	k.brief = k.over() > 0
	k.squeeze(&k.args, 16, "part of the arguments")
	k.dropSteps()
	k.squeeze(&k.summary, 24, "part of the summary")
	k.squeeze(&k.title, 12, "part of the title")
	k.squeeze(&k.summary, 0, "part of the summary")
	k.squeeze(&k.args, 0, "part of the arguments")
	if k.over() > 0 {
		k.plan.status = ""
	}
}

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

// squeeze cuts a part by as little as makes the head fit, down to least tokens.
func (k *shrinking) squeeze(part *string, least int, what string) {
	const worth = 8 // tokens: less is what it takes to say that something was cut
	over := k.over()
	whole := *part
	size := tokens.Count(whole)
	if over <= 0 || size <= least+worth {
		return
	}
	note := k.note(what, k.show)
	before := note.Tokens
	for limit := min(size, k.budget); over > 0 && limit > least; over = k.over() {
		limit = max(limit-over, least)
		*part = cut(whole, limit)
		note.Tokens = before + size - tokens.Count(*part)
	}
}

// refer puts a reference to the command's file in the place of its text, unless
// the text is no longer than that.
func (k *shrinking) refer(c Command, s *schema.Session) {
	if k.command == "" || k.over() <= 0 {
		return
	}
	file, name := oneLine(c.File), oneLine(c.Name)
	show := commandLine(s, "resume", " --print")
	reference := "The command that began this conversation does not fit here."
	switch {
	case file != "" && !c.BuiltIn && tokens.Count(file) <= maxName:
		reference = "Read " + file + " first and follow it."
		show = "cat " + shellWord(file)
	case name != "" && tokens.Count(name) <= maxName:
		reference = "The text of " + name + ", which began this conversation, does not fit here."
	}
	whole := tokens.Count(k.command)
	if whole <= tokens.Count(reference) {
		return
	}
	k.reference, k.args = reference, arguments(s)
	note := k.note("the command's text", show)
	note.Tokens = max(whole-tokens.Count(k.args), 1)
}

// dropSteps keeps the steps of the plan that fit: the current one, then those
// that are open in their order, then those that are done, the latest first.
func (k *shrinking) dropSteps() {
	if len(k.plan.steps) == 0 || k.over() <= 0 {
		return
	}
	const longest = 40 // tokens of a step's text
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
	note := k.note("steps of the plan", k.show)
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
