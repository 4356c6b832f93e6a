package rank

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"cortext/schema/tokens"
)

const (
	gapTokens  = 2   // of a line with a Gap
	callShown  = 200 // bytes of a call's input that are told at the end
	callOpened = 60  // bytes of it that stand with anything that is told of the call
)

// Choose returns what is told of each section. The tokens are about those that
// were allowed: the caller counts, and asks for less if it must.
func (h *History) Choose(o Options) []Told {
	c := &chooser{History: h, Options: o, open: make([]bool, len(h.sections)), known: make([]bool, len(h.names)), earned: map[int][]string{}, spent: make([]int, len(h.sections)), chosen: make([]int, len(h.texts)), from: len(h.sections)}
	for i := range h.texts {
		for j := range h.texts[i].segments {
			h.texts[i].segments[j].shown = false
		}
	}
	for _, k := range o.Known {
		names(k, c.tell)
	}
	c.asked()
	c.recent()
	c.older()
	c.fill()
	return c.told()
}

type chooser struct {
	*History
	Options
	open   []bool           // something of the section is told
	earned map[int][]string // by section: names for which it is told
	known  []bool           // the name is told
	used   int              // tokens
	chosen []int            // of these, by text, those that were spent on its worth
	spent  []int            // of these, by section
	before int              // of these, in sections before from
	from   int              // the first section of the end
}

// tell notes that a name is told, with what stands in it.
func (c *chooser) tell(text string) {
	within(text, func(part string) {
		if id, ok := c.ids[part]; ok {
			c.known[id] = true
		}
	})
}

// gain is what telling segment j of text i is worth now.
func (c *chooser) gain(i, j int) int64 {
	t := &c.texts[i]
	if t.segments[j].aside {
		return 0
	}
	g := c.worth(&t.segments[j])
	if g > 0 && !c.open[t.section] {
		for _, p := range c.opening(t.section) {
			if p.text != i || p.segment != j {
				g += c.worth(&c.texts[p.text].segments[p.segment])
			}
		}
	}
	return g
}

// worth is what the names of a segment are worth that are not told yet.
func (c *chooser) worth(s *segment) (sum int64) {
	for _, id := range s.names {
		if !c.known[id] {
			sum += c.names[id].worth
		}
	}
	return sum
}

// cost is how many tokens it takes to tell segment j of text i now.
func (c *chooser) cost(i, j int) int {
	t := &c.texts[i]
	n := t.count(j)
	if j > 0 && !t.segments[j-1].shown {
		n += gapTokens
	}
	if j+1 < len(t.segments) && t.segments[j+1].shown {
		n -= gapTokens // the gap after it is closed
	}
	if !c.open[t.section] {
		n += c.sections[t.section].Heading
		for _, p := range c.opening(t.section) {
			if p.text != i || p.segment != j {
				n += c.texts[p.text].count(p.segment)
			}
		}
	}
	return max(n, 1)
}

// count returns the tokens of a segment.
func (t *text) count(j int) int {
	s := &t.segments[j]
	if s.tokens == 0 {
		s.tokens = max(tokens.Count(t.Text[s.from:s.to]), 1)
	}
	return s.tokens
}

// opening is what stands with anything that is told of a section.
func (c *chooser) opening(section int) []place {
	if c.Keys {
		return c.keys[section]
	}
	return c.lead[section]
}

// upTo returns how many segments lie within so many bytes, at least one; those aside
// do not count.
func (t *text) upTo(size int) int {
	n, bytes := 0, 0
	for ; n < len(t.segments); n++ {
		if s := &t.segments[n]; !s.aside {
			if bytes += s.to - s.from; n > 0 && bytes > size {
				break
			}
		}
	}
	return n
}

// show tells a segment.
func (c *chooser) show(i, j int) {
	t := &c.texts[i]
	if t.segments[j].shown {
		return
	}
	n := c.cost(i, j)
	c.used += n
	c.spent[t.section] += n
	if t.section < c.from {
		c.before += n
	}
	if !c.open[t.section] {
		c.open[t.section] = true
		for _, p := range c.opening(t.section) {
			c.mark(p.text, p.segment)
		}
	}
	c.mark(i, j)
}

func (c *chooser) mark(i, j int) {
	s := &c.texts[i].segments[j]
	s.shown = true
	for _, id := range s.names {
		c.known[id] = true
	}
}

// asked tells what the user said, from the beginning of each text: three quarters of
// the room may go to what was asked for, then each has at most half of what is left,
// the latest first.
func (c *chooser) asked() {
	if c.First > 0 && c.first[c.First-1] < c.first[c.First] {
		c.begin(c.first[c.First-1], c.Asked*3/4)
	}
	for i := range slices.Backward(c.texts) {
		if c.texts[i].Kind == User && c.used < c.Asked {
			c.begin(i, c.used+(c.Asked-c.used+1)/2)
		}
	}
}

// begin tells a text from its beginning, until the limit of tokens is reached.
func (c *chooser) begin(i, limit int) {
	for j := range c.texts[i].segments {
		if !c.shown(i, j, limit) {
			return
		}
	}
}

// shown tells a segment, unless it is aside or that takes more than the limit, which
// it reports.
func (c *chooser) shown(i, j, limit int) bool {
	if c.texts[i].segments[j].aside {
		return true
	}
	if !c.texts[i].segments[j].shown && c.used+c.cost(i, j) > limit {
		return false
	}
	c.show(i, j)
	return true
}

// recent tells the end: what was said as it was said, of the last call as much as
// there is room for, of those before it less and less, but the beginning of the
// input. A section that is too long for what is left is told from its end, since
// that is what the next one answers.
func (c *chooser) recent() {
	limit := c.used + c.Recent
	room := c.Recent / lastCall
	for i := len(c.sections) - 1; i >= 0 && c.used < limit; i-- {
		c.from = i
		if k := c.first[i]; k < c.first[i+1] && c.texts[k].Kind == Call {
			for ; k < c.first[i+1]; k++ {
				c.ends(k, min(c.used+room, limit))
			}
			room /= 2
		}
		if !c.verbatim(i, limit) {
			break
		}
	}
	c.before = 0
	for _, n := range c.spent[:c.from] {
		c.before += n
	}
}

// lastCall is what part of the end the last call's input may take, and its outcome;
// those of the call before half of that, and so on.
const lastCall = 6

// ends tells a text from both its ends, until the limit of tokens is reached.
func (c *chooser) ends(i, limit int) {
	for a, b := 0, len(c.texts[i].segments)-1; a <= b; a, b = a+1, b-1 {
		if !c.shown(i, a, limit) || !c.shown(i, b, limit) {
			return
		}
	}
}

// verbatim tells a section as it was said, but for the outcome of a call, unless
// the limit of tokens is reached; it reports whether it was not.
func (c *chooser) verbatim(section, limit int) bool {
	for i := c.first[section+1] - 1; i >= c.first[section]; i-- {
		t := &c.texts[i]
		if t.Kind == Result {
			continue
		}
		if t.Kind == Assistant && len(t.segments) > 0 && !c.shown(i, 0, limit) { // what it begins with says what it is about
			return false
		}
		last := len(t.segments)
		if t.Kind == Call || t.Kind == System {
			last = t.upTo(callShown)
		}
		for j := last - 1; j >= 0; j-- {
			if !c.shown(i, j, limit) {
				return false
			}
		}
	}
	return true
}

// mostOfText is what part of all one text may have of what is chosen by worth, and
// leastOfText how many tokens it may have anyway: a listing of a thousand files is not
// to take what is left of a large budget.
const (
	mostOfText  = 20
	leastOfText = 1500
)

func (c *chooser) mostOfText() int { return max(c.Tokens/mostOfText, leastOfText) }

// older tells the segments that are worth most for their tokens.
func (c *chooser) older() {
	var q queue
	for i := range c.texts {
		q = c.offer(q, i, 0, len(c.texts[i].segments))
	}
	heap.Init(&q)
	most := c.mostOfText()
	for q.Len() > 0 {
		top := heap.Pop(&q).(candidate)
		t := &c.texts[top.text]
		s := &t.segments[top.segment]
		if s.shown {
			continue
		}
		gain, cost := c.gain(top.text, top.segment), c.cost(top.text, top.segment)
		if gain <= 0 {
			continue
		}
		if gain*int64(top.cost) < top.gain*int64(cost) { // it has become worth less
			top.gain, top.cost = gain, cost
			heap.Push(&q, top)
			continue
		}
		if c.used+cost > c.Tokens || t.section < c.from && c.before+cost > c.Older || c.chosen[top.text]+cost > most {
			continue
		}
		c.chosen[top.text] += cost
		opened := !c.open[t.section]
		c.earn(t, s)
		c.show(top.text, top.segment)
		// What stands beside it has become cheaper.
		from, to := top.text, top.text+1
		if opened {
			from, to = c.first[t.section], c.first[t.section+1]
		}
		for i := from; i < to; i++ {
			a, b := 0, len(c.texts[i].segments)
			if !opened {
				a, b = max(top.segment-1, 0), min(top.segment+2, b)
			}
			for _, again := range c.offer(nil, i, a, b) {
				heap.Push(&q, again)
			}
		}
	}
}

// reasons is how many names are kept that earned a section its place.
const reasons = 5

// earn notes the names for which a segment is told.
func (c *chooser) earn(t *text, s *segment) {
	var fresh []int32
	for _, id := range s.names {
		escaped := t.Kind == Call && strings.Contains(t.Text[s.from:s.to], `\`+c.names[id].text) // the n of a \n is no part of a name
		if !c.known[id] && c.names[id].worth > 0 && !escaped {
			fresh = append(fresh, id)
		}
	}
	slices.SortFunc(fresh, func(a, b int32) int {
		return cmp.Or(cmp.Compare(len(c.names[b].within), len(c.names[a].within)), cmp.Compare(c.names[b].worth, c.names[a].worth), cmp.Compare(c.names[a].text, c.names[b].text))
	})
	for _, id := range fresh {
		text, list := c.names[id].text, c.earned[t.section]
		if len(list) == reasons {
			return
		}
		if !slices.ContainsFunc(list, func(longer string) bool { return strings.Contains(longer, text) }) {
			c.earned[t.section] = append(list, text)
		}
	}
}

// offer adds the segments from a to b of a text to those that may be told.
func (c *chooser) offer(q queue, i, a, b int) queue {
	t := &c.texts[i]
	for j := a; j < b; j++ {
		if s := &t.segments[j]; !s.shown {
			if gain := c.gain(i, j); gain > 0 {
				q = append(q, candidate{gain, c.cost(i, j), i, j})
			}
		}
	}
	return q
}

// fill spends what is left on the end: what was said before, then the outcomes.
func (c *chooser) fill() {
	for i := min(c.from, len(c.sections)-1); i >= 0; i-- {
		c.from = i
		if !c.verbatim(i, c.Tokens) {
			break
		}
	}
	for i := len(c.texts) - 1; i >= c.first[c.from]; i-- {
		c.begin(i, min(c.used+c.mostOfText(), c.Tokens))
	}
	for i := len(c.texts) - 1; i >= c.first[c.from]; i-- {
		c.begin(i, c.Tokens)
	}
	for i := len(c.texts) - 1; i >= c.first[c.from]; i-- {
		for j := range c.texts[i].segments {
			if s := &c.texts[i].segments[j]; s.aside && !s.shown && c.used+c.cost(i, j) <= c.Tokens {
				c.show(i, j)
			}
		}
	}
	c.close()
}

// close tells what takes no more room than the gap that stands for it.
func (c *chooser) close() {
	for i := range c.texts {
		t := &c.texts[i]
		for j := range t.segments {
			if s := &t.segments[j]; !s.shown && j > 0 && t.segments[j-1].shown && (j+1 == len(t.segments) || t.segments[j+1].shown) && t.count(j) <= gapTokens {
				c.show(i, j)
			}
		}
	}
}

// A candidate is a segment that may be told.
type candidate struct {
	gain          int64 // what it was worth when it came, which is what it is worth at most
	cost          int   // in tokens
	text, segment int
}

// A queue has the candidate that is worth most first; of equals the later, then
// the earlier in its text.
type queue []candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	switch x, y := a.gain*int64(b.cost), b.gain*int64(a.cost); {
	case x != y:
		return x > y
	case a.text != b.text:
		return a.text > b.text
	}
	return a.segment < b.segment
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
