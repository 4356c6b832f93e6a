package listing

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"cortext/cmd/internal/find"
	"cortext/store/parallel"
)

// The index holds the terms of all names, first prompts and summaries, each once, with the
// rows that have them: see [find.EachTerm]. A search for words reads the terms, and only
// the numbers of the rows.

// The fields that have terms.
const (
	nameTerms = iota // title and folder
	promptTerms
	summaryTerms
	termFields
)

// fieldBits is the number of bits of a hit that say which fields have the term. The others
// are the number of the row.
const fieldBits = termFields

// addTerms adds the terms, and the hits of each: the differences between the numbers of its
// rows, with the fields.
func (b *builder) addTerms() {
	type hit struct{ term, row uint32 } // row: with the fields
	numbers := make(map[string]uint32, 2*len(b.records))
	hits := make([]hit, 0, 24*len(b.records))
	var texts []byte
	var last, count []uint32 // of each term: the index after its last hit, and the number of hits
	add := func(row uint32, field int, term []byte) {
		n, ok := numbers[string(term)]
		if !ok {
			n = uint32(len(last))
			numbers[string(term)] = n
			texts = append(append(texts, term...), '\n')
			last, count = append(last, 0), append(count, 0)
		}
		if k := last[n]; k > 0 && hits[k-1].row>>fieldBits == row {
			hits[k-1].row |= 1 << field
			return
		}
		hits = append(hits, hit{n, row<<fieldBits | 1<<field})
		last[n] = uint32(len(hits))
		count[n]++
	}
	var folded []byte
	for i, r := range b.records {
		addText := func(field int, text string) {
			folded = find.AppendFold(folded[:0], text)
			find.EachTerm(folded, func(term []byte) { add(uint32(i), field, term) })
		}
		addText(nameTerms, r.Title)
		addText(nameTerms, r.Folder())
		addText(promptTerms, r.Description)
		for _, tag := range r.Tags {
			addText(promptTerms, tag)
		}
		addText(summaryTerms, r.Summary)
	}
	next := uint32(0) // where the hits of a term begin, once they are sorted by term
	for n, k := range count {
		last[n] = next
		next += k
	}
	sorted := make([]uint32, len(hits))
	for _, h := range hits {
		sorted[last[h.term]] = h.row
		last[h.term]++
	}
	places := make([]byte, 0, 4*(len(count)+1))
	list := make([]byte, 0, 2*len(hits))
	for _, k := range count {
		places = binary.LittleEndian.AppendUint32(places, uint32(len(list)))
		before := uint32(0)
		for _, h := range sorted[:k] {
			row := h >> fieldBits
			list = binary.AppendUvarint(list, uint64(row-before)<<fieldBits|uint64(h&(1<<fieldBits-1)))
			before = row
		}
		sorted = sorted[k:]
	}
	places = binary.LittleEndian.AppendUint32(places, uint32(len(list)))
	b.section[termSection], b.section[placeSection], b.section[hitSection] = texts, places, list
}

// A rowSet is a set of rows of an index, with a bit for each.
type rowSet []uint64

// noRows returns an empty set of n rows.
func noRows(n int) rowSet { return make(rowSet, (n+63)/64) }

// allRows returns a set of all n rows.
func allRows(n int) rowSet {
	s := noRows(n)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := n % 64; rest > 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	return s
}

func (s rowSet) add(row int) { s[row/64] |= 1 << (row % 64) }

func (s rowSet) has(row int) bool { return s[row/64]&(1<<(row%64)) != 0 }

// hasAny reports whether the set has any row from first to last, inclusive.
func (s rowSet) hasAny(first, last int) bool {
	for row := first; row <= last; row = (row/64 + 1) * 64 {
		w := s[row/64] >> (row % 64)
		if left := last - row; left < 63 {
			w &= 1<<(left+1) - 1
		}
		if w != 0 {
			return true
		}
	}
	return false
}

// keep removes the rows that are not in another set.
func (s rowSet) keep(other rowSet) {
	for i := range s {
		s[i] &= other[i]
	}
}

// remove removes the rows of another set.
func (s rowSet) remove(other rowSet) {
	for i := range s {
		s[i] &^= other[i]
	}
}

// join adds the rows of another set.
func (s rowSet) join(other rowSet) {
	for i := range s {
		s[i] |= other[i]
	}
}

// joinBoth adds the rows that are in both of two other sets.
func (s rowSet) joinBoth(a, b rowSet) {
	for i := range s {
		s[i] |= a[i] & b[i]
	}
}

func (s rowSet) count() (n int) {
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// rows returns the sorted numbers of the rows.
func (s rowSet) rows() []int {
	list := make([]int, 0, s.count())
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			list = append(list, i*64+bits.TrailingZeros64(w))
		}
	}
	return list
}

// A fieldSets holds a set of rows for each field.
type fieldSets [termFields]rowSet

func noFields(n int) (s fieldSets) {
	for f := range s {
		s[f] = noRows(n)
	}
	return s
}

// Terms are the terms of an index, and the rows that have them.
type terms struct{ sections *sections }

// containing returns the numbers of the terms that contain a text.
func (t terms) containing(text []byte) (numbers []int, err error) {
	all, err := t.sections.load(termSection)
	if err != nil {
		return nil, err
	}
	n := 0
	for {
		at := bytes.Index(all, text)
		if at < 0 {
			return numbers, nil
		}
		n += bytes.Count(all[:at], []byte("\n"))
		numbers = append(numbers, n)
		end := bytes.IndexByte(all[at:], '\n')
		if end < 0 {
			return nil, errDamaged
		}
		all, n = all[at+end+1:], n+1
	}
}

// each calls f with all terms, in parallel.
func (t terms) each(f func(n int, term []byte)) error {
	all, err := t.sections.load(termSection)
	if err != nil {
		return err
	}
	var wrong atomic.Bool
	workers := runtime.GOMAXPROCS(0)
	part := len(all)/workers + 1
	parallel.Each(workers, func(k int) {
		from, end := min(k*part, len(all)), min((k+1)*part, len(all))
		for from > 0 && from < len(all) && all[from-1] != '\n' {
			from++
		}
		for n := bytes.Count(all[:from], []byte("\n")); from < end; n++ {
			size := bytes.IndexByte(all[from:], '\n')
			if size <= 0 { // there is no empty term
				wrong.Store(true)
				return
			}
			f(n, all[from:from+size])
			from += size + 1
		}
	})
	if wrong.Load() {
		return errDamaged
	}
	return nil
}

// manyHits is the least size, in bytes, of hits that are decoded in parallel.
const manyHits = 128 << 10

// addHits adds the rows that have one of some terms.
func (t terms) addHits(to *fieldSets, numbers []int) error {
	if len(numbers) > few {
		if _, err := t.sections.load(placeSection); err != nil {
			return err
		}
	}
	type part struct{ at, size int64 }
	parts, size := make([]part, 0, len(numbers)), int64(0)
	for _, n := range numbers {
		b, err := t.sections.bytes(placeSection, 4*int64(n), 8)
		if err != nil {
			return err
		}
		at := int64(binary.LittleEndian.Uint32(b))
		p := part{at, int64(binary.LittleEndian.Uint32(b[4:])) - at}
		parts = append(parts, p)
		size += p.size
	}
	decode := func(to *fieldSets, parts []part) error {
		for _, p := range parts {
			b, err := t.sections.bytes(hitSection, p.at, p.size)
			if err != nil {
				return err
			}
			if !to.decode(b, t.sections.n) {
				return errDamaged
			}
		}
		return nil
	}
	if size < manyHits {
		return decode(to, parts)
	}
	if _, err := t.sections.load(hitSection); err != nil {
		return err
	}
	var mu sync.Mutex
	return inChunks(len(parts), func(from, end int) error {
		own := noFields(t.sections.n)
		err := decode(&own, parts[from:end])
		mu.Lock()
		defer mu.Unlock()
		for f := range own {
			to[f].join(own[f])
		}
		return err
	})
}

// decode adds the rows of the hits of a term. It returns false if they are damaged.
func (s *fieldSets) decode(b []byte, n int) bool {
	name, prompt, summary := s[nameTerms], s[promptTerms], s[summaryTerms]
	row := uint64(0)
	for len(b) > 0 {
		h, size := uint64(b[0]), 1
		if h >= 0x80 {
			if h, size = binary.Uvarint(b); size <= 0 {
				return false
			}
		}
		b = b[size:]
		if row += h >> fieldBits; row >= uint64(n) {
			return false
		}
		at, bit := row/64, row%64
		name[at] |= h & 1 << bit
		prompt[at] |= h >> promptTerms & 1 << bit
		summary[at] |= h >> summaryTerms & 1 << bit
	}
	return true
}

// having returns the rows with a field that may contain a word; if the word is a single
// term, those with one that does.
func (t terms) having(w find.Word) (fieldSets, error) {
	var all fieldSets
	for f := range all {
		all[f] = allRows(t.sections.n)
	}
	for _, term := range w.Terms {
		numbers, err := t.containing(term)
		if err != nil {
			return all, err
		}
		sets := noFields(t.sections.n)
		if err := t.addHits(&sets, numbers); err != nil {
			return all, err
		}
		for f := range all {
			all[f].keep(sets[f])
		}
	}
	return all, nil
}
