package resume

import (
	"cmp"
	"slices"

	"cortext/resume/tildes"
	"cortext/schema/tokens"
)

// A trimmer cuts a head to fit a budget.
type trimmer struct {
	*head
	left   []LeftOut // what the history omits
	budget int
}

// Limits on command, block and introduction together, in percent of a budget that is
// not small. Changes since the last message have a share of their own.
const (
	overheadShare = 12
	smallBudget   = 2000
)

// headBudget returns the limit for command and block, in tokens.
func headBudget(budget int) int {
	if budget < smallBudget {
		return budget
	}
	return budget*overheadShare/100 - introductionTokens()
}

// introductionTokens returns the size of an introduction, with the lines that open
// and close the fence.
func introductionTokens() int {
	return tokens.Count("\n" + excerptIntroduction(tildes.Least) + fenced(tildes.Least, ""))
}

// blockTokens returns the size of the command and the block, without the changes since
// the last message.
func (hd head) blockTokens(left []LeftOut) int {
	hd.since = ""
	return tokens.Count(hd.text(left))
}

// fitHead returns hd cut to its limits for a budget. left is what the history omits.
func (b *builder) fitHead(hd head, left []LeftOut, budget int) head {
	room := headBudget(budget)
	if len(b.Messages) > 0 {
		hd.limitParts(left, budget, room)
	}
	since := hd.since
	if room < budget {
		hd.since = ""
	}
	if tokens.Exceed(hd.text(left), room) {
		hd.trimToFit(left, room)
	}
	if room < budget {
		hd.since = since
	}
	return hd
}

// partShare limits the command's text, the plan and the summary to 1/partShare of the
// budget each if the history has to be cut. With more, too little room is left for the
// history. The agent can read the command's file.
const partShare = 8

// limitParts cuts the parts of the head that exceed their share of the budget. most is
// how many tokens the whole head may take.
func (hd *head) limitParts(left []LeftOut, budget, most int) {
	k := trimmer{hd, left, budget}
	each := min(budget/partShare, most/3)
	k.bound(&k.typ, 8, theType)
	k.bound(&k.title, 64, theTitle)
	k.bound(&k.summary, each, theSummary)
	if tokens.Exceed(k.command.text, min(budget/partShare, most*2/3)) {
		k.refer()
	}
	k.sharePlan(each)
}

// trimToFit shortens the head part by part until it fits the budget together with the
// note about what the history omits. Anything longer than real data goes first. Then
// the command's text becomes a reference to its file, and the list of omissions
// becomes one line. Then it cuts the arguments, the user's words, the plan, the
// summary and the title, each by as little as helps. The minimum fits [MinBudget].
func (hd *head) trimToFit(left []LeftOut, budget int) {
	k := trimmer{hd, left, budget}
	k.bound(&k.typ, 8, theType)
	k.bound(&k.title, 64, theTitle)
	if k.excess() > 0 {
		k.since = ""
	}
	if k.excess() > 0 {
		k.branches = "" // the headings still name them
	}
	if k.excess() > 0 {
		k.refer()
	}
	k.shorten(inOneLine)
	if k.command.referred {
		k.squeeze(&k.command.arguments, 16, theArguments)
	}
	k.squeeze(&k.last, 64, unlisted)
	k.squeeze(&k.task, 40, unlisted)
	k.squeeze(&k.summary, max(budget/partShare, 24), theSummary)
	k.dropSteps(k.excess)
	k.squeeze(&k.summary, 24, theSummary)
	k.squeeze(&k.title, 12, theTitle)
	k.squeeze(&k.last, 24, unlisted)
	k.squeeze(&k.task, 16, unlisted)
	k.shorten(totalOnly)
	k.squeeze(&k.summary, 0, theSummary)
	if k.command.referred {
		k.squeeze(&k.command.arguments, 0, theArguments)
	}
	if k.excess() > 0 {
		k.plan.status = ""
	}
	k.squeeze(&k.task, 0, unlisted)
	k.squeeze(&k.last, 0, unlisted)
	k.squeeze(&k.title, 0, theTitle)
}

// shorten shortens the note about what was left out if the head does not fit.
func (k *trimmer) shorten(how detail) {
	if k.excess() > 0 {
		k.detail = how
	}
}

// Parts that can be missing from a head.
const (
	theType      = "part of the type"
	theTitle     = "part of the title"
	theSummary   = "part of the summary"
	theArguments = "part of the arguments"
	theCommand   = "the command's text"
	theSteps     = "steps of the plan"
	unlisted     = "" // not listed: the message with the words is listed instead
)

// excess returns by how many tokens the head is too long. At zero or less it fits.
func (k *trimmer) excess() int { return tokens.Count(k.text(k.left)) - k.budget }

// note returns an entry for a removed part of the head, to be filled in.
func (k *trimmer) note(what, show string) *LeftOut {
	if what == unlisted {
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

// bound cuts a part that is longer than limit tokens, regardless of the others.
func (k *trimmer) bound(part *string, limit int, what string) {
	if tokens.Exceed(*part, limit) {
		k.note(what, k.show).Tokens = max(estimate(*part)-limit, 1)
		*part = cutTokens(*part, limit)
	}
}

// squeeze cuts a part by as little as makes the head fit, down to least tokens.
func (k *trimmer) squeeze(part *string, least int, what string) {
	const worth = 8 // tokens: the note about a cut takes as many
	over := k.excess()
	whole := *part
	size := tokens.Count(whole)
	if over <= 0 || size <= least || least > 0 && size <= least+worth {
		return
	}
	note := k.note(what, k.show)
	before := note.Tokens
	for limit := size; over > 0 && limit > least; over = k.excess() {
		limit = max(limit-over, least)
		*part = cutTokens(whole, limit)
		note.Tokens = before + size - tokens.Count(*part)
	}
}

// refer replaces the command's text with a reference if that is shorter.
func (k *trimmer) refer() {
	c := &k.command
	if c.referred || c.text == "" || !tokens.Exceed(c.text, tokens.Count(c.reference)) {
		return
	}
	c.referred = true
	k.note(theCommand, c.show).Tokens = max(estimate(c.text)-estimate(c.arguments), 1)
}

// sharePlan reduces a plan that exceeds its share to the open steps that fit. The
// steps that are done stay in the count.
func (k *trimmer) sharePlan(most int) {
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

// dropSteps drops steps until excess returns at most 0. It keeps the current step
// first, then open steps in order, then finished steps, newest first.
func (k *trimmer) dropSteps(excess func() int) {
	if len(k.plan.steps) == 0 || excess() <= 0 {
		return
	}
	const longest = 40 // tokens of the text of a step that is kept
	note := k.note(theSteps, k.show)
	all := slices.Clone(k.plan.steps)
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
		note.Tokens += tokens.Count(all[i].line())
		all[i].text = cutTokens(all[i].text, longest)
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
