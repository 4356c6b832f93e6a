package screen

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// How many conversations are examined before a key is answered, and how many before
// checking for a newer key.
const (
	atOnce  = 4096
	between = 1024
)

// An entry is the text that words are matched against: the folded title, then type, agent,
// tags and folder, then the summary.
type entry struct {
	id          string
	text        string
	title, head int // ends of the title and of the fields after it
	mask        uint64
}

// An index holds the entries of all conversations. It is built in parts, newest first,
// because only filtering needs it.
type index struct {
	rows    picker.Rows
	mu      sync.Mutex // held while entries are added
	entries []entry
	buf     []byte
	ready   atomic.Int64 // number of finished entries, which never change
}

func newIndex(rows picker.Rows) *index { return &index{rows: rows, entries: make([]entry, rows.Len())} }

// grow builds the entries up to index to.
func (x *index) grow(to int) {
	for int(x.ready.Load()) < to {
		x.mu.Lock()
		from := int(x.ready.Load())
		part := min(from+between, to)
		for i := from; i < part; i++ {
			row := x.rows.Row(i)
			x.entries[i] = x.entry(&row)
		}
		if part > from {
			x.ready.Store(int64(part))
		}
		x.mu.Unlock()
	}
}

// complete reports whether all entries are built.
func (x *index) complete() bool { return int(x.ready.Load()) == len(x.entries) }

// having returns the conversations that have all letters of a mask.
func (x *index) having(mask uint64, among []int) []int {
	have := make([]int, 0, len(among))
	for _, at := range among {
		if x.entries[at].mask&mask == mask {
			have = append(have, at)
		}
	}
	return have
}

// entry builds the entry of a conversation.
func (x *index) entry(r *listing.Row) (e entry) {
	e.id = r.ID
	x.buf = x.buf[:0]
	x.add(&e, r.Title)
	e.title = len(x.buf)
	x.add(&e, "\n")
	x.add(&e, r.Type)
	x.add(&e, "\n")
	x.add(&e, r.Agents)
	for _, tag := range r.Tags {
		x.add(&e, "\n")
		x.add(&e, tag)
	}
	x.add(&e, "\n")
	x.add(&e, r.Folder())
	e.head = len(x.buf)
	x.add(&e, "\n")
	x.add(&e, r.Summary)
	e.text = string(x.buf)
	return e
}

// add appends a folded text to an entry.
func (x *index) add(e *entry, text string) {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf {
			from := len(x.buf)
			x.buf = appendFold(x.buf, text[i:])
			e.mask |= maskOf(string(x.buf[from:]))
			return
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		x.buf = append(x.buf, c)
		e.mask |= bit(rune(c))
	}
}

// maskOf returns a set of the letters in text.
func maskOf(text string) (mask uint64) {
	for _, r := range text {
		mask |= bit(r)
	}
	return mask
}

// ownBits are the bits that stand for a single letter.
const ownBits = 1<<36 - 1

// bit returns the bit of a letter. Letters outside a-z and 0-9 share bits.
func bit(r rune) uint64 {
	switch {
	case 'a' <= r && r <= 'z':
		return 1 << (r - 'a')
	case '0' <= r && r <= '9':
		return 1 << (26 + r - '0')
	case r > ' ':
		return 1 << (36 + r%28)
	}
	return 0
}

// How well a word matches an entry, worst first. Scattered letters count only if they are
// close together, because long texts contain them by accident.
const (
	noMatch = iota
	scatteredInSummary
	scatteredInFields
	scatteredInTitle
	inSummary
	inFields
	inTitle
	beginsInTitle
)

// The maximum span of scattered letters in bytes, from the beginning of a word. It does not
// depend on the typed word, so that extending the word only narrows the matches.
const (
	span        = 24
	summarySpan = 16
)

// match returns how well a folded word matches an entry.
func (e *entry) match(word string) int {
	title, fields, summary := e.text[:e.title], e.text[e.title:e.head], e.text[e.head:]
	if at := strings.Index(title, word); at >= 0 {
		for {
			if begins(title, at) {
				return beginsInTitle
			}
			next := strings.Index(title[at+1:], word)
			if next < 0 {
				return inTitle
			}
			at += next + 1
		}
	}
	switch {
	case strings.Contains(fields, word):
		return inFields
	case strings.Contains(summary, word):
		return inSummary
	case scattered(title, word, span):
		return scatteredInTitle
	case scattered(fields, word, span):
		return scatteredInFields
	case scattered(summary, word, summarySpan):
		return scatteredInSummary
	}
	return noMatch
}

// begins reports whether a word begins at an offset of text.
func begins(text string, at int) bool {
	if at == 0 || text[at] >= utf8.RuneSelf {
		return true
	}
	r, _ := utf8.DecodeLastRuneInString(text[:at])
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// scattered reports whether text contains the letters of word in order within most
// bytes, starting at the beginning of a word.
func scattered(text, word string, most int) bool {
	first, size := utf8.DecodeRuneInString(word)
	for from := 0; ; {
		at := strings.IndexRune(text[from:], first)
		if at < 0 {
			return false
		}
		begin := from + at
		from = begin + size
		end := from
		for _, r := range word[size:] {
			next := strings.IndexRune(text[end:], r)
			if next < 0 {
				return false // nor from a later beginning
			}
			end += next + utf8.RuneLen(r)
		}
		if end-begin <= most && begins(text, begin) {
			return true
		}
	}
}

// leastOfID is how many characters identify an id.
const leastOfID = 6

// A query holds the words to filter by.
type query struct {
	text  string
	words []string // folded
	mask  uint64
}

func newQuery(text string) query {
	var words []string
	for _, word := range strings.Fields(fold(text)) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return query{text, words, maskOf(strings.Join(words, ""))}
}

// letter reports whether the query is a single letter, which does not affect the ranking.
func (q *query) letter() bool {
	return len(q.words) == 1 && utf8.RuneCountInString(q.words[0]) == 1
}

// masked reports whether the mask alone determines the matches.
func (q *query) masked() bool { return q.letter() && q.mask&ownBits != 0 }

// maybeID reports whether the query may be the start of an id.
func (q *query) maybeID() bool { return len(q.words) == 1 && len(q.words[0]) >= leastOfID }

// score returns how well an entry matches all words, or noMatch.
func (q *query) score(e *entry) int {
	if q.maybeID() && strings.HasPrefix(e.id, q.words[0]) {
		return beginsInTitle << 4
	}
	if e.mask&q.mask != q.mask {
		return noMatch
	}
	worst := beginsInTitle
	for _, w := range q.words {
		worst = min(worst, e.match(w))
		if worst == noMatch {
			return noMatch
		}
	}
	if q.letter() {
		return inFields
	}
	score := worst << 4
	if worst == scatteredInTitle {
		score += q.nearness(e.text[:e.title])
	}
	return score
}

// nearness grades scattered letters in a title from 0 to 15. The grades are coarse, so that
// the newest of about equally good matches comes first.
func (q *query) nearness(title string) int {
	sum := 0
	for _, w := range q.words {
		if found := fuzzy.FindNoSort(w, []string{title}); len(found) > 0 {
			sum += found[0].Score + len(title)
		}
	}
	return min(max(sum/len(q.words)/16, 0), 15)
}

// An answer lists the conversations that match a query.
type answer struct {
	query   query
	matched []int // in the order of the rows
	shown   []int // best first
	hidden  int   // number of matches that the filter hides
	whole   bool  // whether all rows were examined
	all     bool  // whether it may have rows that the filter hides
}

// extends reports whether every match of q is also in a.
func (a *answer) extends(q query) bool {
	return a.whole && strings.HasPrefix(q.text, a.query.text) && q.maybeID() == a.query.maybeID()
}

// A finder filters the conversations of an index.
type finder struct {
	index   *index
	filter  listing.Filter
	listed  []int    // selected by the filter
	hidden  []int    // the rest
	answers []answer // whole answers to prefixes of the last query, shortest first
	newest  *atomic.Int64
}

func newFinder(x *index, f listing.Filter) *finder {
	listed := x.rows.Select(f)
	hidden := make([]int, 0, x.rows.Len()-len(listed))
	next := 0
	for i := range x.rows.Len() {
		if next < len(listed) && listed[next] == i {
			next++
			continue
		}
		hidden = append(hidden, i)
	}
	return &finder{index: x, filter: f, listed: listed, hidden: hidden, newest: new(atomic.Int64)}
}

// find answers a query from the newest conversations. If there are more, rest examines them
// too. It returns false if another query arrives in the meantime.
func (f *finder) find(q query) (first answer, rest func() (answer, bool)) {
	number := f.newest.Add(1)
	if len(q.words) == 0 {
		f.answers = nil
		return answer{query: q, matched: f.listed, shown: f.listed, hidden: len(f.hidden), whole: true}, nil
	}
	for len(f.answers) > 0 && !f.answers[len(f.answers)-1].extends(q) {
		f.answers = f.answers[:len(f.answers)-1]
	}
	among := f.listed
	if n := len(f.answers); n > 0 {
		if f.answers[n-1].query.text == q.text {
			return f.answers[n-1], nil
		}
		among = f.answers[n-1].matched
	}
	if q.masked() && f.index.complete() {
		first = answer{query: q, matched: f.index.having(q.mask, among), whole: true}
		first.shown, first.hidden = first.matched, len(f.index.having(q.mask, f.hidden))
		f.keep(first)
		return first, nil
	}
	most := min(len(among), atOnce)
	scores := f.scores(q, among[:most], number)
	first = ranked(q, among, scores)
	first.whole = most == len(among)
	if first.whole && len(f.hidden) <= atOnce {
		first.hidden = len(f.scores(q, f.hidden, number))
		f.keep(first)
		return first, nil
	}
	return first, func() (answer, bool) {
		all := slices.Clone(scores)
		f.index.grow(f.index.rows.Len())
		var wait sync.WaitGroup
		parts := make([][]int64, runtime.GOMAXPROCS(0))
		left := among[most:]
		for i := range parts {
			from, to := len(left)*i/len(parts), len(left)*(i+1)/len(parts)
			wait.Go(func() {
				part := f.scores(q, left[from:to], number)
				for k := range part {
					part[k] += int64(most + from)
				}
				parts[i] = part
			})
		}
		wait.Wait()
		for _, part := range parts {
			all = append(all, part...)
		}
		whole := ranked(q, among, all)
		whole.hidden, whole.whole = len(f.scores(q, f.hidden, number)), true
		return whole, f.newest.Load() == number
	}
}

// given answers a query with positions that were found otherwise, also of rows that the filter
// hides. It ranks them unless there are too many for that.
func (f *finder) given(q query, at []int) answer {
	f.newest.Add(1)
	a := answer{query: q, matched: at, shown: at, whole: true, all: true}
	if len(at) > atOnce {
		return a
	}
	var scratch index
	packed := make([]int64, len(at))
	for k, i := range at {
		row := f.index.rows.Row(i)
		e := scratch.entry(&row)
		packed[k] = int64(q.score(&e))<<32 | int64(k)
	}
	a.shown = ranked(q, at, packed).shown
	return a
}

// keep caches a whole answer, for queries that extend it.
func (f *finder) keep(a answer) { f.answers = append(f.answers, a) }

// scores returns the score of each match and its place in among, packed. It returns nothing if
// another query arrives in the meantime.
func (f *finder) scores(q query, among []int, number int64) (packed []int64) {
	for from := 0; from < len(among); from += between {
		if f.newest.Load() != number {
			return nil
		}
		part := among[from:min(from+between, len(among))]
		f.index.grow(part[len(part)-1] + 1)
		for k, at := range part {
			if score := q.score(&f.index.entries[at]); score != noMatch {
				packed = append(packed, int64(score)<<32|int64(from+k))
			}
		}
	}
	return packed
}

// ranked returns the answer for packed scores in the order of among.
func ranked(q query, among []int, packed []int64) answer {
	const place = 1<<32 - 1
	a := answer{query: q, matched: make([]int, len(packed))}
	for i, p := range packed {
		a.matched[i] = among[p&place]
	}
	a.shown = a.matched
	if q.letter() {
		return a
	}
	best := slices.Clone(packed)
	slices.SortFunc(best, func(x, y int64) int { return cmp.Or(cmp.Compare(y>>32, x>>32), cmp.Compare(x&place, y&place)) })
	a.shown = make([]int, len(best))
	for i, p := range best {
		a.shown[i] = among[p&place]
	}
	return a
}
