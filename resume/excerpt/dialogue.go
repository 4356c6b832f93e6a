package excerpt

import (
	"regexp"
	"slices"
	"sync"
	"unicode"
)

// How to divide the tokens, in percent. The dialogue is included whole if it
// takes no more than allShare. Otherwise it gets dialogueShare, of which
// exchangeShare goes to the user's requests and the last answers. Of the rest,
// failedShare goes to the latest failed calls and lineShare to the lines of the
// latest calls. If the dialogue fits, reportShare of the remainder goes to outputs
// that read like prose. A text that is prose for at least proseShare is a document.
const (
	dialogueShare = 78
	allShare      = 90
	exchangeShare = 92
	failedShare   = 3
	proseShare    = 50
	reportShare   = 15
	lineShare     = 4
)

// An answer is shortened to shortest tokens before others get more. A request gets
// askedTimes as many, but at least leastAsked: people state their purpose in few
// words. The latest answer gets latestTimes as many more, the one before it half of
// that, and so on. The last request and the last answer get lastShare percent each
// before any other.
const (
	shortest    = 30
	askedTimes  = 6
	leastAsked  = 40
	latestTimes = 4
	lastShare   = 25
)

// dialogue includes the dialogue, and reports whether it is whole. If not everything
// fits, requests and last answers come first, shortened in older turns, and then the
// other texts, newest first.
func (c *chooser) dialogue() bool {
	limit := c.budget * dialogueShare / 100
	if c.wholeDialogue(c.budget * allShare / 100) {
		return true
	}
	// The first turn states the purpose, so it comes right after the last.
	var order []turn
	for i, t := range slices.Backward(c.turns) {
		switch {
		case len(order) == 1 && i > 0:
			order = append(order, c.turns[0], t)
		case i > 0 || len(order) < 2:
			order = append(order, t)
		}
	}
	exchangeLimit := limit * exchangeShare / 100
	for _, t := range order[:min(1, len(order))] {
		for _, i := range t.exchange() {
			c.extend(i, limit*lastShare/100, exchangeLimit)
		}
	}
	for most := 1; most < limit; most = max(most+most/2, shortest) { // begin with one sentence of each
		for age, t := range order {
			for _, i := range t.asked {
				c.extend(i, max(askedTimes*most, leastAsked), exchangeLimit)
			}
			c.extend(t.answer, most+most*latestTimes/(age+1), exchangeLimit)
		}
	}
	for _, t := range slices.Backward(c.turns) {
		for _, i := range slices.Backward(t.others) {
			c.extend(i, limit, limit)
		}
	}
	for _, t := range order {
		for _, i := range t.exchange() {
			c.extend(i, limit, limit)
		}
	}
	return false
}

// wholeDialogue includes the whole dialogue if it fits in limit tokens, and reports
// whether it did.
func (c *chooser) wholeDialogue(limit int) bool {
	n := 0
	for i := range c.texts {
		if t := &c.texts[i]; t.Kind.isDialogue() {
			for j := range t.snippets {
				n += t.count(j)
			}
			if n += c.sections[t.section].Heading; n > limit {
				return false
			}
		}
	}
	for i := range c.texts {
		if t := &c.texts[i]; t.Kind.isDialogue() && len(t.snippets) > 0 {
			c.include(i, 0, len(t.snippets)-1, c.budget)
		}
	}
	return true
}

// extend includes more of text i, if it exists, until the text takes most tokens or the
// total reaches limit. Users often say at the end what they want; agents say at the
// beginning how it went.
func (c *chooser) extend(i, most, limit int) {
	if i < 0 {
		return
	}
	t := &c.texts[i]
	n := 0
	for j := range t.snippets {
		if t.snippets[j].included {
			n += t.count(j)
		}
	}
	for a, b := 0, len(t.snippets)-1; a <= b; {
		j, end := a, len(t.snippets)-1-b // how many snippets from the end come before snippet j
		if t.Kind == User && a > 0 && end == 0 || t.Kind != User && a >= 3*(end+1) {
			j = b
			b--
		} else {
			a++
		}
		if t.snippets[j].included {
			continue
		}
		if n+t.count(j) > most && n > 0 || !c.include(i, j, j, limit) {
			return
		}
		n += t.count(j)
	}
}

// failures includes the latest failed calls, each with the line that says why, and the
// lines of the latest calls.
func (c *chooser) failures() {
	limit := c.used + c.budget*failedShare/100
	included := map[string]bool{} // reasons of failures
	for i := range slices.Backward(c.texts) {
		t := &c.texts[i]
		why := t.Text.Text[t.ErrorLine.From:t.ErrorLine.To]
		if why == "" || included[why] {
			continue
		}
		included[why] = true
		j := slices.IndexFunc(t.snippets, func(s snippet) bool { return s.errorLine })
		if !c.include(i, max(j-1, 0), min(j+1, len(t.snippets)-1), limit) && !c.include(i, j, j, limit) {
			break
		}
	}
	c.callLines(c.used + c.budget*lineShare/100)
}

// reports includes outputs that read like prose and that the agent cannot get again:
// task descriptions, reports, replies of programs. It first takes those that open a
// turn, newest turn first, since they say what is to be done.
func (c *chooser) reports() {
	room := (c.budget - c.used) * reportShare / 100
	limit := c.used + room
	for i, end := len(c.sections)-1, len(c.sections); i >= 0; i-- {
		if i > 0 && c.sections[i-1].Turn == c.sections[i].Turn {
			continue
		}
		for k := c.first[i]; k < c.first[end]; k++ {
			if !c.texts[k].Reproducible {
				c.report(k, min(limit, c.used+room/3))
			}
		}
		end = i
	}
	for i := range slices.Backward(c.texts) {
		c.report(i, min(limit, c.used+room/3))
	}
}

// report includes a document from its beginning. Of other texts it includes the lines
// that read like prose, until limit tokens are used.
func (c *chooser) report(i, limit int) {
	t := &c.texts[i]
	if t.Kind != Output {
		return
	}
	speech := 0
	for _, s := range t.snippets {
		if isProse(t.Text.Text[s.from:s.to]) {
			speech += s.to - s.from
		}
	}
	document := !t.Reproducible && speech*100 >= len(t.Text.Text)*proseShare
	for j, s := range t.snippets {
		if !s.lowPriority && (document || isProse(t.Text.Text[s.from:s.to])) && !c.include(i, j, j, limit) {
			return
		}
	}
}

// isProse reports whether a line reads like prose: words and almost nothing else.
func isProse(line string) bool {
	letters, others := 0, 0
	for _, r := range line {
		if unicode.IsLetter(r) {
			letters++
		} else if !unicode.IsSpace(r) {
			others++
		}
	}
	return letters > 8*others && len(word().FindAllStringIndex(line, leastWords)) == leastWords
}

// leastWords is the fewest words of a line that reads like prose.
const leastWords = 6

// word matches a word without punctuation after it.
var word = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\pL{2,}\s`) })

// callLines includes the lines of the latest calls, until limit tokens are used.
func (c *chooser) callLines(limit int) {
	for i := range slices.Backward(c.texts) {
		t := &c.texts[i]
		if t.Kind != Input {
			continue
		}
		for _, j := range t.upTo(lineBytes) {
			if !c.include(i, j, j, limit) {
				return
			}
		}
	}
}

// rest spends the rest on the dialogue, on calls, and on their outputs, newest
// first.
func (c *chooser) rest() {
	for i := range slices.Backward(c.texts) {
		if c.texts[i].Kind.isDialogue() {
			c.extend(i, c.budget, c.budget)
		}
	}
	c.callLines(c.budget)
	for _, low := range []bool{false, true} {
		for i := range slices.Backward(c.texts) {
			for j, s := range c.texts[i].snippets {
				if s.lowPriority == low && !c.include(i, j, j, c.budget) {
					break
				}
			}
		}
	}
	c.closeGaps()
}

// closeGaps fills gaps that take no more room than their mark.
func (c *chooser) closeGaps() {
	for i := range c.texts {
		t := &c.texts[i]
		for j := 1; j < len(t.snippets); j++ {
			if !t.snippets[j].included && t.snippets[j-1].included && (j+1 == len(t.snippets) || t.snippets[j+1].included) && t.count(j) <= t.gapCost(j) {
				c.include(i, j, j, c.used+gapTokens)
			}
		}
	}
}

// When the end is chosen, the last output gets this fraction of the tokens, and each
// one before it half as much, but at least leastOutput.
const (
	lastAsked   = 4 // likewise for the user's last request
	lastOutput  = 6
	leastOutput = 40
)

// end includes the end of the history, and the user's last request.
func (c *chooser) end(o Outputs) {
	if n := len(c.turns); n > 0 {
		for _, i := range c.turns[n-1].asked {
			c.extend(i, c.budget/lastAsked, c.budget)
		}
	}
	room := c.budget / lastOutput
	for i := range slices.Backward(c.sections) {
		for k := c.first[i]; k < c.first[i+1]; k++ {
			t := &c.texts[k]
			limit := c.budget
			if !t.Kind.isDialogue() && o == ShortOutputs {
				limit = min(c.used+room, c.budget)
			}
			for j := range t.snippets {
				if t.snippets[j].lowPriority && o == WholeOutputs || c.include(k, j, j, limit) {
					continue
				}
				if limit == c.budget {
					return
				}
				break
			}
			if t.Kind == Output {
				room = max(room/2, leastOutput)
			}
		}
	}
}
