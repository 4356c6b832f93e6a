package listing

import (
	"maps"
	"slices"
	"sync"

	"cortext/cmd/internal/find"
)

// Nearest returns the positions of up to n conversations that a query without a match may
// refer to, among those that a filter selects, best first. See [find.Nearest].
func (l *Listing) Nearest(query string, f Filter, n int) (at []int) {
	l.try(func(v *view) error {
		sel, err := v.selector(&f)
		if err != nil || query == "" {
			return err
		}
		m := &matcher{view: v, sel: sel, all: f.selectsAll()}
		at, err = m.nearest(find.ParseTyped(query), n)
		return err
	})
	return at
}

func (m *matcher) nearest(t *find.Typed, n int) ([]int, error) {
	var hits []find.Score
	m.eachAdded(func(at, added int) {
		if score := t.Score(m.added[added].item()); t.IsNear(score) {
			hits = append(hits, find.Score{At: at, Score: score})
		}
	})
	scores, err := m.base.nearness(t)
	if err != nil {
		return nil, err
	}
	var rows []int
	for row, score := range scores {
		if t.IsNear(int(score)) {
			rows = append(rows, row)
		}
	}
	err = m.eachSelected(rows, func(at, row int) { hits = append(hits, find.Score{At: at, Score: int(scores[row])}) })
	if err != nil {
		return nil, err
	}
	if len(hits) == 0 {
		if hits, err = m.initials(t); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(hits, func(a, b find.Score) int { return a.At - b.At })
	return find.Best(hits, n), nil
}

// nearness returns how near each row is.
func (x *index) nearness(t *find.Typed) ([]int32, error) {
	scores := make([]int32, x.n)
	near := make([]map[int][]int, t.Words()) // the terms of each nearness to each typed word
	for k := range near {
		near[k] = map[int][]int{}
	}
	var mu sync.Mutex
	err := x.terms.each(func(n int, term []byte) {
		letters := find.LettersOf(term)
		for k := range near {
			if d := t.NearTerm(k, term, letters); d > 0 {
				mu.Lock()
				near[k][d] = append(near[k][d], n)
				mu.Unlock()
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for k := range near {
		ids, err := x.names.nearIDs(t, k)
		if err != nil {
			return nil, err
		}
		values := slices.Collect(maps.Keys(near[k]))
		values = slices.AppendSeq(values, maps.Keys(ids))
		slices.Sort(values)
		done := noRows(x.n)
		for _, value := range slices.Backward(slices.Compact(values)) {
			sets := noFields(x.n)
			if err := x.terms.addHits(&sets, near[k][value]); err != nil {
				return nil, err
			}
			set := sets[nameTerms]
			for _, row := range ids[value] {
				set.add(row)
			}
			set.remove(done)
			for _, row := range set.rows() {
				scores[row] += int32(value)
			}
			done.join(set)
		}
	}
	return scores, nil
}

// initials scores the rows that have the typed letters as the first letters of words.
func (m *matcher) initials(t *find.Typed) (hits []find.Score, err error) {
	if !t.MayBeInitials() {
		return nil, nil
	}
	m.eachAdded(func(at, added int) {
		if score, ok := t.Initials(m.added[added].Title, m.added[added].Folder()); ok {
			hits = append(hits, find.Score{At: at, Score: score})
		}
	})
	var having []rowSet // the rows with each pair of neighboring letters
	for _, pair := range t.Pairs() {
		sets := noFields(m.base.n)
		terms, err := m.base.terms.containing([]byte(pair))
		if err == nil {
			err = m.base.terms.addHits(&sets, terms)
		}
		if err != nil {
			return nil, err
		}
		having = append(having, sets[nameTerms])
	}
	want := t.Letters()
	rows, err := m.base.signatures.accepted(func(row int, s find.Signature) bool {
		if !s.HasLetters(want) {
			return false
		}
		adjacent := 0
		for _, set := range having {
			if set.has(row) {
				adjacent++
			}
		}
		return t.MayHaveInitials(s, adjacent)
	})
	if err == nil {
		err = m.eachScored(rows, t.Initials, t.InOrder, func(at, score int) { hits = append(hits, find.Score{At: at, Score: score}) })
	}
	return hits, err
}
