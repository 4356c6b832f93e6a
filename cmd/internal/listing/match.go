package listing

import (
	"bytes"
	"math"
	"slices"
	"sync"

	"cortext/cmd/internal/find"
)

// Match returns the positions of the conversations that match a query, among those that a
// filter selects, and the tier of the match. See [find.Match] for the order.
func (l *Listing) Match(query string, f Filter) (at []int, tier find.Tier) {
	at, _, tier = l.First(query, f, math.MaxInt)
	return at, tier
}

// First returns the first n positions that [Listing.Match] returns, and how many it returns.
func (l *Listing) First(query string, f Filter, n int) (at []int, of int, tier find.Tier) {
	q, ok := find.Parse(query)
	if !ok {
		return nil, 0, find.None
	}
	l.try(func(v *view) (err error) {
		if at, tier, err = v.match(&q, &f); err == nil {
			of = len(at)
			at = at[:min(n, of)]
			err = v.ready(at)
		}
		return err
	})
	return at, of, tier
}

// few is the number of rows up to which rows are read one by one, instead of whole
// sections.
const few = 64

// ready loads the index if necessary, so that rows can be read.
func (v *view) ready(at []int) error {
	if len(at) > few {
		return v.base.loadAll()
	}
	for _, i := range at {
		if _, err := v.row(i); err != nil {
			return err
		}
	}
	return nil
}

// A matcher collects the matches of a query.
type matcher struct {
	*view
	query *find.Query
	sel   *selector
	all   bool // whether the filter selects everything

	mu   sync.Mutex
	tier find.Tier // tier of the hits, None without hits
	at   []int
}

// selects reports whether the filter selects a row of the index.
func (m *matcher) selects(row int) (bool, error) {
	if m.all {
		return true, nil
	}
	return m.sel.selected(m.base, row)
}

// hit adds a position that matches in a tier, unless there are hits in a lower one.
func (m *matcher) hit(at int, tier find.Tier) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.tier == find.None || tier < m.tier:
		m.tier, m.at = tier, append(m.at[:0], at)
	case tier == m.tier:
		m.at = append(m.at, at)
	}
}

// try adds a position if it matches in one of the tiers from first to last.
func (m *matcher) try(at int, texts *find.Folded, first, last find.Tier) {
	for tier := first; tier <= last; tier++ {
		if m.query.Hits(texts, tier) {
			m.hit(at, tier)
			return
		}
	}
}

func (v *view) match(q *find.Query, f *Filter) ([]int, find.Tier, error) {
	sel, err := v.selector(f)
	if err != nil {
		return nil, find.None, err
	}
	m := &matcher{view: v, query: q, sel: sel, all: f.selectsAll()}
	for _, step := range []func() error{m.exactly, m.byBeginning, m.byWords} {
		if err := step(); err != nil {
			return nil, find.None, err
		}
		if m.tier != find.None {
			slices.Sort(m.at)
			return m.at, m.tier, nil
		}
	}
	return m.byLetters()
}

// eachSelected calls f with the positions of the given sorted rows of the index that are
// still there and that the filter selects.
func (m *matcher) eachSelected(rows []int, f func(at, row int)) error {
	if !m.all && len(rows) > manyRows {
		if err := m.sel.decide(m.base); err != nil {
			return err
		}
	}
	for k, s := range m.layout.spans {
		if s.base < 0 {
			continue
		}
		from, _ := slices.BinarySearch(rows, s.base)
		for _, row := range rows[from:] {
			if row >= s.base+m.layout.end(k)-s.at {
				break
			}
			ok, err := m.selects(row)
			if err != nil {
				return err
			}
			if ok {
				f(s.at+row-s.base, row)
			}
		}
	}
	return nil
}

// eachAdded calls f for each row that is not in the index and that the filter selects,
// with its position in the view and among the added rows.
func (m *matcher) eachAdded(f func(at, added int)) {
	for _, s := range m.layout.spans {
		if s.base >= 0 {
			continue
		}
		if m.sel.filter.Selects(&m.added[s.added].Row) {
			f(s.at, s.added)
		}
	}
}

// texts returns the folded texts of a row that was added. A command that looks up many
// conversations needs them each time.
func (v *view) texts(added int) *find.Folded {
	if t := v.folded[added].Load(); t != nil {
		return t
	}
	t := v.added[added].item().Fold()
	v.folded[added].Store(&t)
	return &t
}

func (r *Row) item() *find.Item {
	return &find.Item{ID: r.ID, Folder: r.Folder(), Title: r.Title, Summary: r.Summary, Prompt: r.Description, Tags: r.Tags}
}

// exactly finds matches in tiers up to ByFolder, without reading all names.
func (m *matcher) exactly() error {
	m.eachAdded(func(at, added int) { m.try(at, m.texts(added), find.ByID, find.ByFolder) })
	id, bases := m.query.Exact()
	rows, err := m.base.byKey(id)
	for _, name := range bases {
		if err != nil {
			return err
		}
		var more []int
		h := baseHash(name)
		more, err = m.base.byHash(baseSection, h, h)
		rows = append(rows, more...)
	}
	if err != nil {
		return err
	}
	slices.Sort(rows)
	return m.tryRows(slices.Compact(rows), find.ByFolder)
}

// manyRows is how many rows make it faster to read all of them at once than one by one.
const manyRows = 32

// tryRows adds the rows of the index that match in a tier up to last.
func (m *matcher) tryRows(rows []int, last find.Tier) error {
	return m.eachOf(rows, func(at, row int) error {
		name, err := m.base.sections.name(row)
		if err == nil {
			m.try(at, &find.Folded{Name: name}, find.ByID, last)
		}
		return err
	})
}

// Mentioning returns the positions of the conversations that have a text in their title,
// folder or id, in any case.
func (l *Listing) Mentioning(text string) (at []int) {
	folded := find.AppendText(nil, text)
	if len(folded) == 0 {
		return nil
	}
	l.try(func(v *view) error {
		at = nil
		places, err := v.base.names.places([][]byte{folded})
		if err != nil {
			return err
		}
		rows, err := v.base.names.rows(places)
		if err != nil {
			return err
		}
		at = v.positions(rows, func(r *record) bool { return bytes.Contains(find.AppendName(nil, r.Title, r.Folder(), r.ID), folded) })
		return v.ready(at)
	})
	return at
}
