package resume

import (
	"cmp"

	"cortext/resume/excerpt"
	"cortext/resume/notes"
	"cortext/resume/summary"
	"cortext/resume/tildes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// The strategies: which part of a history to include.
const (
	FullHistory  = "full-history"        // all of it
	Ranked       = "ranked"              // the notes, the dialogue, and the calls that the next turns are likely to need
	PrunedTools  = "pruned-tools"        // the end, with tool outputs cut
	RecentPlus   = "recent-plus-summary" // the end, and summaries of what precedes it
	MinimalState = "minimal-state"       // the notes and the user's last message; command and block shortened if necessary
)

// Strategies returns the valid names for Options.Strategy.
func Strategies() []string {
	return []string{FullHistory, Ranked, PrunedTools, RecentPlus, MinimalState}
}

// A strategy decides how much of a history to include.
type strategy interface {
	// choose returns a payload of at most budget tokens that begins with hd. ok is
	// false if the strategy has nothing to include, or no room for it.
	choose(hd head, budget int) (c choice, ok bool)
}

// A choice is a payload that fits.
type choice struct {
	strategy   string // its name
	complete   bool   // nothing is left out of the messages that may be included
	text       string
	tokens     int
	parts      []Part // of the history
	leftOut    []LeftOut
	omitted    int // messages that are omitted entirely
	summarized int // omitted messages that a summary among parts covers
}

// A builder holds what the strategies choose from.
type builder struct {
	*history
	session   *schema.Session
	notes     *notes.Notes // nil if unknown
	summaries []*schema.Summary
	keep      int  // messages at the end that are not summarized
	last      int  // include only so many messages at the end; 0 for all
	branch    int  // number of the branch; 0 for the newest
	branches  bool // the history has several branches
	first     int  // index of the first message to include
	total     int  // estimated tokens of the history
}

func newBuilder(s *schema.Session, h schema.History, o Options) *builder {
	b := &builder{
		history: newHistory(h), session: s, notes: o.Notes, summaries: o.Summaries,
		keep: cmp.Or(o.Keep, defaultKeep), last: o.Last, branch: o.Branch,
	}
	if o.Last > 0 {
		b.first = max(len(h.Messages)-o.Last, 0)
	}
	for i := range h.Messages {
		b.total += b.recordedTokens(&h.Messages[i])
		b.branches = b.branches || h.Messages[i].Branch > 0
	}
	return b
}

// number returns the number of the message at i in the conversation.
func (b *builder) number(i int) int {
	if i < len(b.Messages) && b.Messages[i].Number > 0 {
		return b.Messages[i].Number
	}
	return b.Earlier + i + 1
}

// strategy returns the strategy with the given name.
func (b *builder) strategy(name string) strategy {
	switch name {
	case FullHistory:
		return fullHistory{b}
	case PrunedTools:
		return prunedTools{b}
	case RecentPlus:
		return recentPlusSummary{b}
	case MinimalState:
		return minimalState{b}
	}
	return ranked{b}
}

// inTurn returns the strategies in the order to try them for a history that does not
// fit: the requested one, the most informative one, and the one that always fits.
func inTurn(requested string, budget int) []string {
	switch {
	case requested != "" && requested != FullHistory:
		return []string{requested, Ranked, MinimalState}
	case budget < rankedFrom:
		return []string{MinimalState}
	}
	return []string{Ranked, MinimalState}
}

// rankedFrom is the budget, in tokens, below which excerpts say less than the notes.
const rankedFrom = 500

// leastFenced is the budget, in tokens, below which excerpts are not worth a fence:
// with its introduction, the fence takes more than 100.
const leastFenced = 400

// choose returns the payload of the first strategy that fits, and its head. whole is
// the head in full.
func (b *builder) choose(whole head, requested string, budget int) (hd head, c choice) {
	hd = whole
	if left := b.leftOutBefore(b.first); hd.blockTokens(left) > headBudget(budget) {
		hd = b.fitHead(whole, left, budget)
	}
	c, fits := b.strategy(FullHistory).choose(hd, budget)
	if !fits || requested == MinimalState {
		hd = b.fitHead(whole, b.mostLeftOut(budget), budget)
		c, fits = b.strategy(FullHistory).choose(hd, budget)
	}
	if fits && requested != MinimalState {
		return hd, c
	}
	for _, name := range inTurn(requested, budget) {
		if c, fits = b.strategy(name).choose(hd, budget); fits {
			c.strategy = name
			break
		}
	}
	if n := len(b.Messages); len(c.parts) == 0 || budget < leastFenced || c.omitted == n && budget < 2*leastFenced {
		hd, c = b.headOnly(whole, budget)
	}
	return hd, c
}

// A leadSection is a section before the excerpt: the notes, or a summary.
type leadSection struct {
	section
	covers summary.Range // the messages that a summary covers
}

// leadTokens estimates the size of sections in tokens.
func leadTokens(lead []leadSection) (n int) {
	for _, s := range lead {
		n += tokens.Count(string(s.section)) + fenceTokens
	}
	return n
}

// An excerptFunc returns an excerpt and the sections that precede it, in about room
// tokens.
type excerptFunc func(room int) (lead []leadSection, chosen []excerpt.Chosen)

// assemble renders a payload whose fence holds only part of the history r. ok is
// false if there is no room for any of it.
func (b *builder) assemble(hd head, budget int, r *reading, excerpted excerptFunc) (c choice, ok bool) {
	command := hd.command.render()
	most := b.leftOutOf(b.nothing(), 1)
	least := tildes.Around(tildes.Longest(command + hd.blockText(most)))
	render := func(left []LeftOut, run int, body string) string {
		return command + hd.blockText(left) + "\n" + excerptIntroduction(run) + fenced(run, body)
	}
	around := tokens.Count(render(most, least, ""))
	for allowed, more := budget, roomTries; ; {
		room := allowed - around
		if room < leastRoom {
			return c, ok
		}
		lead, chosen := excerpted(room)
		e := b.render(r, lead, chosen, least)
		left := b.leftOutOf(e, budget/rangeTokens)
		text := render(left, e.run, e.body)
		count := tokens.Count(text)
		switch {
		case count > budget && ok:
			return c, ok
		case count > budget:
			allowed -= count - budget + 2
			continue
		case e.body != "" && count >= c.tokens:
			c = choice{text: text, tokens: count, parts: e.parts, leftOut: left, omitted: e.omitted(), summarized: e.summarized(lead)}
			ok = true
		}
		if more--; more == 0 || (budget-count)*100 < budget {
			return c, ok
		}
		allowed += budget - count
	}
}

// roomTries is how often we choose again to use up remaining room: the size of the
// pieces is known only once they are assembled.
const roomTries = 3

// leastRoom is the smallest room, in tokens, for an excerpt.
const leastRoom = 40
