package listing

import (
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	"cortext/cmd/internal/find"
)

// byLetters finds matches in the last tier, best first.
func (m *matcher) byLetters() ([]int, find.Tier, error) {
	var scores []find.Score
	m.eachAdded(func(at, added int) {
		if score, ok := m.query.Letters(m.added[added].Title, m.added[added].Folder()); ok {
			scores = append(scores, find.Score{At: at, Score: score})
		}
	})
	rows, err := m.base.lettered(m.query)
	if err == nil {
		err = m.eachScored(rows, m.query.Letters, m.query.LettersIn, func(at, score int) { scores = append(scores, find.Score{At: at, Score: score}) })
	}
	if err != nil || len(scores) == 0 {
		return nil, find.None, err
	}
	slices.SortFunc(scores, func(a, b find.Score) int { return a.At - b.At })
	return find.Best(scores, len(scores)), find.ByLetters, nil
}

// eachScored calls f with the position and score of each row in among that the listing has,
// that the filter selects and that score accepts. may reports, from a row's folded name,
// whether score may accept it.
func (m *matcher) eachScored(among rowSet, score func(title, folder string) (int, bool), may func(name []byte) bool, f func(at, score int)) error {
	signatures, err := m.base.signatures.get()
	if err != nil {
		return err
	}
	scores := map[int]int{} // of rows
	var mu sync.Mutex
	add := func(row int, title, folder string) {
		if score, ok := score(title, folder); ok {
			mu.Lock()
			defer mu.Unlock()
			scores[row] = score
		}
	}
	rest, err := m.base.names.selectRows(among, func(row int, name []byte) bool {
		if !signatures(row).IsPlain() {
			return may(name)
		}
		title, folder := find.SplitName(name)
		add(row, text(title), text(folder))
		return false
	})
	if err != nil {
		return err
	}
	err = inChunks(len(rest), func(from, end int) error {
		for _, row := range rest[from:end] {
			r, err := m.base.titled(row)
			if err != nil {
				return err
			}
			add(row, r.Title, r.Folder())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.eachSelected(slices.Sorted(maps.Keys(scores)), func(at, row int) { f(at, scores[row]) })
}

// Signatures say which letters the names of the rows have: see [find.Signature].
type signatures struct{ sections *sections }

// get returns a function that returns the signature of each row.
func (g signatures) get() (func(row int) find.Signature, error) {
	b, err := g.sections.load(signatureSection)
	return func(row int) find.Signature {
		return find.Signature(binary.LittleEndian.Uint64(b[row*signatureBytes:]))
	}, err
}

// accepted returns the rows whose signature is accepted.
func (g signatures) accepted(accepts func(row int, s find.Signature) bool) (rowSet, error) {
	signature, err := g.get()
	if err != nil {
		return nil, err
	}
	rows := noRows(g.sections.n)
	for row := range g.sections.n {
		if accepts(row, signature(row)) {
			rows.add(row)
		}
	}
	return rows, nil
}

// lettered returns the rows whose title or folder may have each word, or its letters.
func (x *index) lettered(q *find.Query) (rowSet, error) {
	want := q.LetterSet()
	all, err := x.signatures.accepted(func(_ int, s find.Signature) bool { return s.HasLetters(want) })
	if err != nil {
		return nil, err
	}
	for _, w := range q.LetterWords() {
		if all.count() <= x.n/fewLettered {
			break
		}
		having, err := x.terms.having(w.Word)
		if err != nil {
			return nil, err
		}
		set := having[nameTerms]
		if w.Scatter != nil {
			scattered, err := x.terms.scattered(w.Scatter)
			if err != nil {
				return nil, err
			}
			set.join(scattered)
		}
		all.keep(set)
	}
	return all, nil
}

// scattered returns the rows in which the letters of a word may be scattered: those with
// terms for pieces that make up the word, at a low enough price.
func (t terms) scattered(s *find.Scatter) (rowSet, error) {
	pieces := map[find.Piece][]int{}
	var mu sync.Mutex
	err := t.each(func(n int, term []byte) {
		s.Pieces(term, func(p find.Piece) {
			if p.Price > s.Price() {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			pieces[p] = append(pieces[p], n)
		})
	})
	if err != nil {
		return nil, err
	}
	prune(s, pieces)
	total := 0
	for _, list := range pieces {
		total += len(list)
	}
	if total > manyPieces {
		return allRows(t.sections.n), nil
	}
	// covered holds, by letter and price, the rows with pieces for all letters before that
	// one, at that price.
	covered := make([][]rowSet, s.Length()+1)
	for i := range covered {
		covered[i] = make([]rowSet, s.Price()+1)
	}
	covered[0][0] = allRows(t.sections.n)
	for _, p := range slices.SortedFunc(maps.Keys(pieces), func(a, b find.Piece) int { return a.From - b.From }) {
		having := noFields(t.sections.n)
		if err := t.addHits(&having, pieces[p]); err != nil {
			return nil, err
		}
		for price, before := range covered[p.From][:s.Price()-p.Price+1] {
			if before == nil {
				continue
			}
			to := &covered[p.To][price+p.Price]
			if *to == nil {
				*to = noRows(t.sections.n)
			}
			to.joinBoth(before, having[nameTerms])
		}
	}
	rows := noRows(t.sections.n)
	for _, set := range covered[s.Length()] {
		if set != nil {
			rows.join(set)
		}
	}
	return rows, nil
}

// fewLettered limits the search by letters: if at most one row in fewLettered is left,
// looking at the letters of their names is faster than looking for words in terms.
const fewLettered = 8

// manyPieces is how many terms make it faster to look at the letters of all names.
const manyPieces = 50_000

// prune removes each piece that is in no sequence of pieces that makes up the word at a low
// enough price, even if each piece may be in another row.
func prune(s *find.Scatter, terms map[find.Piece][]int) {
	const never = 1 << 20
	n := s.Length()
	before, after := make([]int, n+1), make([]int, n+1) // the lowest price up to a letter, and from it on
	for i := range n {
		before[i+1], after[i] = never, never
	}
	pieces := slices.SortedFunc(maps.Keys(terms), func(a, b find.Piece) int { return a.From - b.From })
	for _, p := range pieces {
		before[p.To] = min(before[p.To], before[p.From]+p.Price)
	}
	slices.SortFunc(pieces, func(a, b find.Piece) int { return b.To - a.To })
	for _, p := range pieces {
		after[p.From] = min(after[p.From], p.Price+after[p.To])
	}
	for _, p := range pieces {
		if before[p.From]+p.Price+after[p.To] > s.Price() {
			delete(terms, p)
		}
	}
}
