package excerpt

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"

	"cortext/schema/tokens"
)

const (
	gapTokens    = 3   // of a line about omissions
	cutTokens    = 1   // of a Gap within a line
	lineBytes    = 200 // bytes of a call's input on its line
	openingBytes = 60  // bytes of it shown with any other part of the call
)

// Choose returns what to include of each section: first the dialogue, then what the
// next turns are most likely to need. The result has about budget tokens, headings
// included. The caller counts them and asks for less if necessary. known has texts that
// the payload contains anyway; names in them are worth nothing.
func (h *History) Choose(budget int, known []string) []Chosen {
	c := h.newChooser(budget)
	for _, text := range known {
		eachName(text, func(_ int, n string) { c.addKnown(n) })
	}
	all := c.dialogue()
	c.failures()
	if all {
		c.reports()
	}
	c.byWorth()
	c.rest()
	return c.result()
}

// Outputs controls how much of the calls' outputs [History.ChooseEnd] includes.
type Outputs int

const (
	ShortOutputs Outputs = iota // the last output gets a share, each one before it half as much
	WholeOutputs                // without parts of low priority
)

// ChooseEnd returns the end of the history in about budget tokens, headings included,
// whatever the rest is worth.
func (h *History) ChooseEnd(budget int, o Outputs) []Chosen {
	c := h.newChooser(budget)
	c.end(o)
	return c.result()
}

// newChooser returns a chooser that has included nothing.
func (h *History) newChooser(budget int) *chooser {
	for i := range h.texts {
		for j := range h.texts[i].snippets {
			h.texts[i].snippets[j].included = false
		}
	}
	c := &chooser{
		History: h, budget: budget, open: make([]bool, len(h.sections)), known: make([]knowledge, len(h.names)),
		share: [...]int64{0, namedShare, 100}, out: make([]Chosen, len(h.sections)), spent: make([]int, len(h.texts)),
	}
	if budget < littleRoom {
		c.share[named] = littleNamed
	}
	return c
}

// A chooser chooses from a history.
type chooser struct {
	*History
	budget   int         // tokens
	used     int         // tokens used
	open     []bool      // part of the section is included
	known    []knowledge // by name
	share    [3]int64    // by knowledge: its share of a name's worth, in percent
	improved []improved  // scratch space of gain
	spent    []int       // by text: how many tokens were spent on its names
	out      []Chosen
}

// addKnown records the names in text, and those within them, as known.
func (c *chooser) addKnown(text string) {
	eachPart(text, func(part string) {
		if id, ok := c.ids[part]; ok {
			c.known[id] = inPlace
		}
	})
}

// count returns the tokens of a snippet.
func (t *text) count(j int) int {
	s := &t.snippets[j]
	if s.tokens == 0 {
		s.tokens = max(tokens.Count(t.Text.Text[s.from:s.to]), 1)
	}
	return s.tokens
}

// gapCost returns the cost of marking an omission before snippet j.
func (t *text) gapCost(j int) int {
	if t.Kind == Input || !t.startsLine(j) {
		return cutTokens
	}
	return gapTokens
}

// startsLine reports whether snippet j begins a line.
func (t *text) startsLine(j int) bool {
	at := t.snippets[j].from
	return at == 0 || t.Text.Text[at-1] == '\n'
}

// cost returns the tokens it takes to include those snippets from a to b of text i
// that are not included yet.
func (c *chooser) cost(i, a, b int) (n int) {
	t := &c.texts[i]
	for j := a; j <= b; j++ {
		if !t.snippets[j].included {
			n += t.count(j)
		}
	}
	if n == 0 {
		return 0
	}
	if a > 0 && !t.snippets[a].included && !t.snippets[a-1].included {
		n += t.gapCost(a)
	}
	if b+1 < len(t.snippets) && !t.snippets[b].included {
		if t.snippets[b+1].included {
			n -= t.gapCost(b + 1)
		} else {
			n += t.gapCost(b + 1)
		}
	}
	if !c.open[t.section] {
		n += c.sections[t.section].Heading
		opened := t.section
		for _, p := range c.required[t.section] {
			with := &c.texts[p.text]
			if with.snippets[p.snippet].included || p.text == i && p.snippet >= a && p.snippet <= b {
				continue
			}
			n += with.count(p.snippet)
			if with.section != opened && !c.open[with.section] {
				opened = with.section
				n += c.sections[opened].Heading
			}
		}
	}
	return max(n, 1)
}

// upTo returns the snippets in the first size bytes of a text, at least one, without
// those of low priority.
func (t *text) upTo(size int) (all []int) {
	for j, s := range t.snippets {
		if s.lowPriority {
			continue
		}
		if size -= s.to - s.from; len(all) > 0 && size < 0 {
			break
		}
		all = append(all, j)
	}
	return all
}

// include includes the snippets from a to b of text i and returns true, if the total
// stays within limit tokens.
func (c *chooser) include(i, a, b, limit int) bool {
	n := c.cost(i, a, b)
	if n > 0 && c.used+n > limit {
		return false
	}
	c.used += n
	t := &c.texts[i]
	if n > 0 && !c.open[t.section] {
		c.open[t.section] = true
		for _, p := range c.required[t.section] {
			c.open[c.texts[p.text].section] = true
			c.mark(p.text, p.snippet, p.snippet)
		}
	}
	c.mark(i, a, b)
	return true
}

// mark marks snippets as included, and the names whose context is now included.
func (c *chooser) mark(i, a, b int) {
	t := &c.texts[i]
	for j := a; j <= b; j++ {
		t.snippets[j].included = true
	}
	a, b = t.includedAround(a, b)
	for _, o := range t.between(a, b) {
		for _, in := range c.names[o.name].within {
			c.known[in] = max(c.known[in], o.known(a, b))
		}
	}
}

// includedAround extends the range from a to b by the adjacent snippets that are
// included.
func (t *text) includedAround(a, b int) (int, int) {
	for n := 0; n < wide && a > 0 && t.snippets[a-1].included; n++ {
		a--
	}
	for n := 0; n < wide && b+1 < len(t.snippets) && t.snippets[b+1].included; n++ {
		b++
	}
	return a, b
}

// wide is how many neighbouring snippets may matter to the names in a snippet.
const wide = 40

// between returns the occurrences in the snippets from a to b.
func (t *text) between(a, b int) []occurrence {
	bySnippet := func(o occurrence, j int) int { return int(o.snippet) - j }
	from, _ := slices.BinarySearchFunc(t.named, a, bySnippet)
	to, _ := slices.BinarySearchFunc(t.named[from:], b+1, bySnippet)
	return t.named[from : from+to]
}

// A knowledge says how much is included about a name.
type knowledge uint8

const (
	unknown knowledge = iota
	named             // the name alone
	inPlace           // the name and its context
)

// known returns how much the snippets from a to b include about a name that occurs in
// one of them.
func (o occurrence) known(a, b int) knowledge {
	if int(o.from) >= a && int(o.to) <= b {
		return inPlace
	}
	return named
}

// namedShare is the share of a name's worth, in percent, for including the name
// alone. littleNamed applies with little room: a payload of many names without
// context is hard to read.
const (
	namedShare  = 95
	littleRoom  = 4000 // tokens
	littleNamed = 50
)

// byWorth includes the candidates with the best worth per token.
func (c *chooser) byWorth() {
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
			if k == 0 || t.named[k-1].snippet != o.snippet {
				offer(i, int(o.snippet), int(o.snippet))
			}
			if (k == 0 || t.named[k-1].from != o.from || t.named[k-1].to != o.to) && o.from != o.to {
				offer(i, int(o.from), int(o.to))
			}
		}
	}
	heap.Init(&q)
	most := max(c.budget/mostOfText, leastOfText)
	for q.Len() > 0 {
		top := heap.Pop(&q).(candidate)
		gain, cost := c.gain(top.text, top.from, top.to), c.cost(top.text, top.from, top.to)
		if gain <= 0 || cost == 0 {
			continue
		}
		if gain*int64(top.cost) < top.gain*int64(cost) { // it has lost worth since
			top.gain, top.cost = gain, cost
			heap.Push(&q, top)
			continue
		}
		if c.used+cost > c.budget || c.spent[top.text]+cost > most {
			continue
		}
		c.spent[top.text] += cost
		c.recordNames(top)
		c.include(top.text, top.from, top.to, c.budget)
	}
}

// mostOfText limits the share of one text in the excerpts chosen by worth; leastOfText
// is how many tokens it may have anyway. A listing of a thousand files must not use up
// a large budget.
const (
	mostOfText  = 20
	leastOfText = 300
)

// gain returns the worth of the names that become better known if the snippets from a
// to b of text i are included.
func (c *chooser) gain(i, a, b int) (sum int64) {
	t := &c.texts[i]
	from, to := t.includedAround(a, b)
	c.improved = c.improved[:0]
	for _, o := range t.between(from, to) {
		k := o.known(from, to)
		for _, in := range c.names[o.name].within {
			if c.known[in] >= k {
				continue
			}
			at := slices.IndexFunc(c.improved, func(f improved) bool { return f.name == in })
			if at < 0 {
				c.improved = append(c.improved, improved{in, c.known[in]})
				at = len(c.improved) - 1
			}
			if f := &c.improved[at]; f.known < k {
				sum += c.names[in].worth * (c.share[k] - c.share[f.known]) / 100
				f.known = k
			}
		}
	}
	return sum
}

// An improved is a name that becomes better known.
type improved struct {
	name  int32
	known knowledge
}

// mostNames is how many of the names that earned a section its place are recorded.
const mostNames = 5

// recordNames records the names for which a candidate is included.
func (c *chooser) recordNames(what candidate) {
	t := &c.texts[what.text]
	d := &c.out[t.section]
	for _, o := range t.between(what.from, what.to) {
		if len(d.Names) == mostNames {
			return
		}
		n := &c.names[o.name]
		if n.worth > 0 && c.known[o.name] < o.known(what.from, what.to) && !slices.ContainsFunc(d.Names, func(have string) bool { return strings.Contains(have, n.text) }) {
			d.Names = append(d.Names, n.text)
		}
	}
}

// A candidate is a run of snippets that may be included.
type candidate struct {
	gain     int64 // its worth when it was offered
	cost     int   // in tokens
	text     int
	from, to int // snippets, both included
}

// A queue has the most worthwhile candidate first. Among equals, it prefers the later
// text, then the earlier place in a text.
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
