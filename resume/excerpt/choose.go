package excerpt

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"cortext/schema/tokens"
)

const (
	gapTokens  = 3   // of a line that says what is left out
	cutTokens  = 1   // of a Gap within a line
	callShown  = 200 // bytes of a call's input that its line has
	callOpened = 60  // bytes of it that stand with anything that is included of the call
)

// Choose returns what is included of each section. The tokens are about those that
// were allowed: the caller counts, and asks for less if it must.
func (h *History) Choose(o Options) []Chosen {
	c := &chooser{History: h, Options: o, open: make([]bool, len(h.sections)), known: make([]knowledge, len(h.names)), part: [...]int64{0, namedShare, 100}, out: make([]Chosen, len(h.sections)), spent: make([]int, len(h.texts))}
	for i := range h.texts {
		for j := range h.texts[i].segments {
			h.texts[i].segments[j].shown = false
		}
	}
	if o.Tokens < littleRoom {
		c.part[named] = littleNamed
	}
	for _, k := range o.Known {
		names(k, func(_ int, n string) { c.know(n) })
	}
	if o.Recent {
		c.recent()
	} else {
		all := c.said()
		c.done()
		if all {
			c.reports()
		}
		c.worthwhile()
		c.fill()
	}
	return c.chosen()
}

type chooser struct {
	*History
	Options
	open  []bool      // something of the section is included
	known []knowledge // by name
	part  [3]int64    // by knowledge: how much of a name's worth it is, in percent
	fresh []fresh
	used  int   // tokens
	spent []int // of these, by text, those that were spent on its names
	out   []Chosen
}

// know notes that a name is known, with what stands in it.
func (c *chooser) know(text string) {
	within(text, func(part string) {
		if id, ok := c.ids[part]; ok {
			c.known[id] = inPlace
		}
	})
}

// count returns the tokens of a segment.
func (t *text) count(j int) int {
	s := &t.segments[j]
	if s.tokens == 0 {
		s.tokens = max(tokens.Count(t.Text.Text[s.from:s.to]), 1)
	}
	return s.tokens
}

// gap is what it takes to say that segments are left out before segment j.
func (t *text) gap(j int) int {
	if t.Kind == Input || !t.starts(j) {
		return cutTokens
	}
	return gapTokens
}

// starts reports whether segment j begins a line.
func (t *text) starts(j int) bool {
	at := t.segments[j].from
	return at == 0 || t.Text.Text[at-1] == '\n'
}

// cost is how many tokens it takes to include the segments from a to b of text i
// that are not yet.
func (c *chooser) cost(i, a, b int) (n int) {
	t := &c.texts[i]
	for j := a; j <= b; j++ {
		if !t.segments[j].shown {
			n += t.count(j)
		}
	}
	if n == 0 {
		return 0
	}
	if a > 0 && !t.segments[a].shown && !t.segments[a-1].shown {
		n += t.gap(a)
	}
	if b+1 < len(t.segments) && !t.segments[b].shown {
		if t.segments[b+1].shown {
			n -= t.gap(b + 1)
		} else {
			n += t.gap(b + 1)
		}
	}
	if !c.open[t.section] {
		n += c.sections[t.section].Heading
		opened := t.section
		for _, p := range c.opening[t.section] {
			with := &c.texts[p.text]
			if with.segments[p.segment].shown || p.text == i && p.segment >= a && p.segment <= b {
				continue
			}
			n += with.count(p.segment)
			if with.section != opened && !c.open[with.section] {
				opened = with.section
				n += c.sections[opened].Heading
			}
		}
	}
	return max(n, 1)
}

// upTo are the segments that lie within so many bytes of a text, at least one, without
// those that are aside.
func (t *text) upTo(size int) (all []int) {
	for j, s := range t.segments {
		if s.aside {
			continue
		}
		if size -= s.to - s.from; len(all) > 0 && size < 0 {
			break
		}
		all = append(all, j)
	}
	return all
}

// include includes the segments from a to b of text i, if that takes no more than limit
// tokens in all, which it reports.
func (c *chooser) include(i, a, b, limit int) bool {
	n := c.cost(i, a, b)
	if n > 0 && c.used+n > limit {
		return false
	}
	c.used += n
	t := &c.texts[i]
	if n > 0 && !c.open[t.section] {
		c.open[t.section] = true
		for _, p := range c.opening[t.section] {
			c.open[c.texts[p.text].section] = true
			c.mark(p.text, p.segment, p.segment)
		}
	}
	c.mark(i, a, b)
	return true
}

// mark marks segments as included, and the names that stand among what surrounded
// them now.
func (c *chooser) mark(i, a, b int) {
	t := &c.texts[i]
	for j := a; j <= b; j++ {
		t.segments[j].shown = true
	}
	a, b = t.shownAround(a, b)
	for _, o := range t.between(a, b) {
		for _, in := range c.names[o.name].within {
			c.known[in] = max(c.known[in], o.known(a, b))
		}
	}
}

// shownAround widens the segments from a to b by those around them that are included.
func (t *text) shownAround(a, b int) (int, int) {
	for n := 0; n < wide && a > 0 && t.segments[a-1].shown; n++ {
		a--
	}
	for n := 0; n < wide && b+1 < len(t.segments) && t.segments[b+1].shown; n++ {
		b++
	}
	return a, b
}

// wide is how many segments beside another may matter to the names in it.
const wide = 40

// between are the occurrences in the segments from a to b.
func (t *text) between(a, b int) []occurrence {
	bySegment := func(o occurrence, j int) int { return int(o.segment) - j }
	from, _ := slices.BinarySearchFunc(t.named, a, bySegment)
	to, _ := slices.BinarySearchFunc(t.named[from:], b+1, bySegment)
	return t.named[from : from+to]
}

// A knowledge is how much of what a name says is included.
type knowledge uint8

const (
	unknown knowledge = iota
	named             // the name alone
	inPlace           // the name, and what surrounds it
)

// known is what the segments from a to b say of an occurrence in one of them.
func (o occurrence) known(a, b int) knowledge {
	if int(o.from) >= a && int(o.to) <= b {
		return inPlace
	}
	return named
}

// namedShare is how much of a name's worth it is to include the name alone, in percent;
// littleNamed where there is little room: a payload of many names without what surrounds
// them is hard to read.
const (
	namedShare  = 95
	littleRoom  = 4000 // tokens
	littleNamed = 50
)

// worthwhile includes what is worth most for its tokens.
func (c *chooser) worthwhile() {
	var q queue
	offer := func(i, a, b int) {
		if gain := c.gain(i, a, b); gain > 0 {
			if cost := c.cost(i, a, b); cost > 0 {
				q = append(q, candidate{gain, cost, i, a, b})
			}
		}
	}
	for i := range c.texts {
		t := &c.texts[i]
		for k, o := range t.named {
			if k == 0 || t.named[k-1].segment != o.segment {
				offer(i, int(o.segment), int(o.segment))
			}
			if (k == 0 || t.named[k-1].from != o.from || t.named[k-1].to != o.to) && o.from != o.to {
				offer(i, int(o.from), int(o.to))
			}
		}
	}
	heap.Init(&q)
	most := max(c.Tokens/mostOfText, leastOfText)
	for q.Len() > 0 {
		top := heap.Pop(&q).(candidate)
		gain, cost := c.gain(top.text, top.from, top.to), c.cost(top.text, top.from, top.to)
		if gain <= 0 || cost == 0 {
			continue
		}
		if gain*int64(top.cost) < top.gain*int64(cost) { // it has become worth less
			top.gain, top.cost = gain, cost
			heap.Push(&q, top)
			continue
		}
		if c.used+cost > c.Tokens || c.spent[top.text]+cost > most {
			continue
		}
		c.spent[top.text] += cost
		c.earn(top)
		c.include(top.text, top.from, top.to, c.Tokens)
	}
}

// mostOfText is what part of all one text may have of what is chosen by worth, and
// leastOfText how many tokens it may have anyway: a listing of a thousand files is not
// to take what is left of a large budget.
const (
	mostOfText  = 20
	leastOfText = 300
)

// gain is what the names are worth that are known better if the segments from a to b
// of text i are included.
func (c *chooser) gain(i, a, b int) (sum int64) {
	t := &c.texts[i]
	from, to := t.shownAround(a, b)
	c.fresh = c.fresh[:0]
	for _, o := range t.between(from, to) {
		k := o.known(from, to)
		for _, in := range c.names[o.name].within {
			if c.known[in] >= k {
				continue
			}
			at := slices.IndexFunc(c.fresh, func(f fresh) bool { return f.name == in })
			if at < 0 {
				c.fresh = append(c.fresh, fresh{in, c.known[in]})
				at = len(c.fresh) - 1
			}
			if f := &c.fresh[at]; f.known < k {
				sum += c.names[in].worth * (c.part[k] - c.part[f.known]) / 100
				f.known = k
			}
		}
	}
	return sum
}

// A fresh name is one that becomes better known.
type fresh struct {
	name  int32
	known knowledge
}

// reasons is how many names are kept that earned a section its place.
const reasons = 5

// earn notes the names for which something is included.
func (c *chooser) earn(what candidate) {
	t := &c.texts[what.text]
	d := &c.out[t.section]
	for _, o := range t.between(what.from, what.to) {
		if len(d.Names) == reasons {
			return
		}
		n := &c.names[o.name]
		if n.worth > 0 && c.known[o.name] < o.known(what.from, what.to) && !slices.ContainsFunc(d.Names, func(have string) bool { return strings.Contains(have, n.text) }) {
			d.Names = append(d.Names, n.text)
		}
	}
}

// A candidate is a run of segments that may be included.
type candidate struct {
	gain     int64 // what it was worth when it was offered
	cost     int   // in tokens
	text     int
	from, to int // segments, both included
}

// A queue has the candidate that is worth most first; of equals the later, then
// the earlier in its text.
type queue []candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(cmp.Compare(b.gain*int64(a.cost), a.gain*int64(b.cost)), b.text-a.text, a.from-b.from, a.to-b.to) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(candidate)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
