package resume

import (
	"cmp"
	"slices"
	"strings"

	"cortext/resume/tildes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// A shrinking is a head on its way to a budget.
type shrinking struct {
	*head
	left   []LeftOut // what the history lacks
	budget int
}

// brief is the head of a conversation of which no message has room: the last words
// of the user stand in the block, which is shorter than the fence and what introduces
// it.
func (b *builder) brief(hd head, c Command, budget int) (head, choice) {
	nothing := len(b.h.messages)
	hd.instead(b.state, b.h.messages)
	hd.shrink(c, b.session, b.leftOut(nothing), budget)
	text := hd.text(b.leftOut(nothing))
	return hd, choice{start: nothing, text: text, count: tokens.Count(text)}
}

// leastFenced is the budget, in tokens, below which pieces of a history are not worth
// the fence around them: with its introduction it has more than 100.
const leastFenced = 400

// The most that command, block and introduction may take together, in percent of a budget
// that is not small. What happened since has a share of its own.
const (
	overheadShare = 12
	smallBudget   = 2000
)

// overhead is how many tokens command and block may have.
func overhead(budget int) int {
	if budget < smallBudget {
		return budget
	}
	return budget*overheadShare/100 - introductionTokens()
}

// introductionTokens is how many tokens an introduction has, with the lines that open and
// close the fence.
func introductionTokens() int {
	fence := strings.Repeat("~", tildes.Least)
	return tokens.Count("\n" + excerptIntroduction(tildes.Least) + fence + fenceOpen + fence + fenceClose)
}

// block is how many tokens the command and the block have without what happened since.
func (hd head) block(left []LeftOut) int {
	hd.since = ""
	return tokens.Count(hd.text(left))
}

// fitted is hd with no more in it than may be of a budget, left being what the history
// lacks.
func (b *builder) fitted(hd head, c Command, left []LeftOut, budget int) head {
	room := overhead(budget)
	if len(b.h.messages) > 0 {
		hd.limit(c, b.session, left, budget, room)
	}
	since := hd.since
	if room < budget {
		hd.since = ""
	}
	if tokens.Exceed(hd.text(left), room) {
		hd.shrink(c, b.session, left, room)
	}
	if room < budget {
		hd.since = since
	}
	return hd
}

// A share of the budget is what the command's text, the plan and the summary may each
// take where the history has to be cut: with more, too little of the work is left. The
// agent can read the command's file.
const share = 8

// limit takes out of the head what has more than its share of the budget, of which most
// tokens are for the head.
func (hd *head) limit(c Command, s *schema.Session, left []LeftOut, budget, most int) {
	k := shrinking{hd, left, budget}
	each := min(budget/share, most/3)
	k.bound(&k.typ, 8, theType)
	k.bound(&k.title, 64, theTitle)
	k.bound(&k.summary, each, theSummary)
	if tokens.Exceed(k.command, min(budget/share, most*2/3)) {
		k.referTo(c, s)
	}
	k.sharePlan(each)
}

// shrink shortens the head part by part until it fits the budget together with
// the word of what the history lacks. What is longer than anything real goes
// first; then the command's text becomes a reference to its file, and the list of
// what was left out one line; then the arguments, the words of the user, the plan,
// the summary and the title are cut, each by as little as helps. What is left in the
// end fits [MinBudget].
func (hd *head) shrink(c Command, s *schema.Session, left []LeftOut, budget int) {
	k := shrinking{hd, left, budget}
	k.bound(&k.typ, 8, theType)
	k.bound(&k.title, 64, theTitle)
	if k.over() > 0 {
		k.since = ""
	}
	k.refer(c, s)
	k.say(asLine)
	k.squeeze(&k.args, 16, theArguments)
	k.squeeze(&k.last, 64, theWords)
	k.squeeze(&k.task, 40, theWords)
	k.squeeze(&k.summary, max(budget/share, 24), theSummary)
	k.dropSteps(k.over)
	k.squeeze(&k.summary, 24, theSummary)
	k.squeeze(&k.title, 12, theTitle)
	k.squeeze(&k.last, 24, theWords)
	k.squeeze(&k.task, 16, theWords)
	k.say(asSum)
	k.squeeze(&k.summary, 0, theSummary)
	k.squeeze(&k.args, 0, theArguments)
	if k.over() > 0 {
		k.plan.status = ""
	}
	k.squeeze(&k.task, 0, theWords)
	k.squeeze(&k.last, 0, theWords)
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
	theWords     = "" // not listed: they are of a message, which is
)

// over is by how many tokens the head is too long; it fits if that is not more
// than zero.
func (k *shrinking) over() int { return tokens.Count(k.text(k.left)) - k.budget }

// note returns the entry for what was taken out of the head, to be filled in.
func (k *shrinking) note(what, show string) *LeftOut {
	if what == theWords {
		return new(LeftOut)
	}
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
	if tokens.Exceed(*part, limit) {
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
	case file != "" && !c.BuiltIn && !tokens.Exceed(shellWord(file), maxName):
		reference = "Read " + file + " first and follow it."
		show = "cat " + shellWord(file)
	case name != "" && !tokens.Exceed(name, maxName):
		reference = "The text of " + name + ", which began this conversation, does not fit here."
	}
	if !tokens.Exceed(k.command, tokens.Count(reference)) {
		return
	}
	k.reference, k.args = reference, arguments(s)
	k.note(theCommand, show).Tokens = max(roughly(k.command)-roughly(k.args), 1)
}

// sharePlan leaves of a plan that has more than its share the steps that are open,
// as far as they fit it: those that are done are in the count of them.
func (k *shrinking) sharePlan(most int) {
	excess := func() int { return tokens.Count(k.plan.text()) - most }
	if excess() <= 0 {
		return
	}
	note := k.note(theSteps, k.show)
	k.plan.steps = slices.DeleteFunc(slices.Clone(k.plan.steps), func(st step) bool {
		if st.done {
			note.Count++
			note.Tokens += tokens.Count(st.line())
		}
		return st.done
	})
	k.dropSteps(excess)
}

// dropSteps keeps the steps of the plan that fit, which excess says by how many tokens
// they do not: the current one, then those that are open in their order, then those
// that are done, the latest first.
func (k *shrinking) dropSteps(excess func() int) {
	if len(k.plan.steps) == 0 || excess() <= 0 {
		return
	}
	const longest = 40 // tokens of the text of a step that stays
	note := k.note(theSteps, k.show)
	all := slices.Clone(k.plan.steps)
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
		note.Tokens += tokens.Count(all[i].line())
		all[i].text = cut(all[i].text, longest)
		note.Tokens -= tokens.Count(all[i].line())
	}
	k.plan.steps = all
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].rank, all[b].rank) })
	for over := excess(); over > 0 && len(order) > 0; over = excess() {
		for ; over > 0 && len(order) > 0; order = order[:len(order)-1] {
			n := tokens.Count(all[order[len(order)-1]].line())
			note.Count, note.Tokens, over = note.Count+1, note.Tokens+n, over-n
		}
		k.plan.steps = nil
		for _, i := range slices.Sorted(slices.Values(order)) {
			k.plan.steps = append(k.plan.steps, all[i])
		}
	}
}
