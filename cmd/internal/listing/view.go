package listing

import (
	"encoding/binary"
	"slices"
	"sort"
	"sync/atomic"

	"cortext/cmd/internal/find"
	"cortext/schema"
)

// A view is the rows of an index after an update: without replaced rows and with the new
// ones.
type view struct {
	base   *index
	gone   map[int]bool
	added  []*record
	layout layout

	folded []atomic.Pointer[find.Folded] // of added; see texts
}

// newView makes a view of an index. up is nil if nothing changed.
func newView(base *index, up *update) (*view, error) {
	v := &view{base: base}
	if up != nil {
		v.gone, v.added = up.gone, up.added
		v.folded = make([]atomic.Pointer[find.Folded], len(v.added))
	}
	gone := make([]int, 0, len(v.gone))
	for i := range v.gone {
		gone = append(gone, i)
	}
	slices.Sort(gone)
	from := 0
	until := func(end int) {
		for len(gone) > 0 && gone[0] < end {
			v.layout.addRun(from, gone[0])
			from, gone = gone[0]+1, gone[1:]
		}
		v.layout.addRun(from, end)
		from = max(from, end)
	}
	for k := range v.added {
		at, err := v.place(&v.added[k].Row, from)
		if err != nil {
			return nil, err
		}
		until(at)
		v.layout.addOne(k)
	}
	until(base.n)
	return v, nil
}

// place returns the first row of the index, from a given one on, that comes after r.
func (v *view) place(r *Row, from int) (at int, err error) {
	after := func(i int) bool {
		f, e := v.base.sections.fixed(i)
		if e == nil && !f.active.Equal(r.LastActive) {
			return f.active.Before(r.LastActive)
		}
		var other Row
		if e == nil {
			other, _, e = v.base.row(i)
		}
		if e != nil {
			err = e
			return true
		}
		return compareRows(r, &other) < 0
	}
	step := 1 // most changed rows are new and near the beginning
	for from+step <= v.base.n && !after(from+step-1) {
		from += step
		step *= 2
	}
	return from + sort.Search(min(step, v.base.n-from), func(i int) bool { return after(from + i) }), err
}

func (v *view) row(i int) (Row, error) {
	base, added := v.layout.find(i)
	if base < 0 {
		return v.added[added].Row, nil
	}
	r, _, err := v.base.row(base)
	return r, err
}

func (v *view) record(i int) (record, error) {
	base, added := v.layout.find(i)
	if base < 0 {
		return *v.added[added], nil
	}
	return v.base.record(base)
}

// sources returns the sources of a row.
func (v *view) sources(i int) ([]schema.Source, error) {
	base, added := v.layout.find(i)
	if base < 0 {
		return v.added[added].sources, nil
	}
	return v.base.sources(base)
}

// fixed returns a row without its strings.
func (v *view) fixed(i int) (fixed, error) {
	base, added := v.layout.find(i)
	if base < 0 {
		r := v.added[added]
		return fixed{active: r.LastActive, created: r.Created, tokens: r.Tokens, messages: int64(r.Messages), flags: r.flags}, nil
	}
	return v.base.sections.fixed(base)
}

// all returns every record, with its sources.
func (v *view) all() ([]*record, error) {
	made, records := make([]record, v.layout.n), make([]*record, v.layout.n)
	for i := range made {
		var err error
		if made[i], err = v.record(i); err != nil {
			return nil, err
		}
		if made[i].sources, err = v.sources(i); err != nil {
			return nil, err
		}
		records[i] = &made[i]
	}
	return records, nil
}

// byID returns the position of the conversation with the given id.
func (v *view) byID(id string) (int, bool, error) {
	for k, s := range v.layout.spans {
		if s.base < 0 && schema.SameConversation(v.added[s.added].ID, id) {
			return v.layout.spans[k].at, true, nil
		}
	}
	rows, err := v.base.byKey(id)
	if err != nil {
		return 0, false, err
	}
	slices.Sort(rows)
	for _, row := range rows {
		r, _, err := v.base.row(row)
		if err != nil {
			return 0, false, err
		}
		if at, ok := v.layout.position(row); ok && schema.SameConversation(r.ID, id) {
			return at, true, nil
		}
	}
	return 0, false, nil
}

// byFolder returns the position of the conversation that has a folder.
func (v *view) byFolder(folder string) (int, bool, error) {
	for _, s := range v.layout.spans {
		if s.base < 0 && v.added[s.added].isIn(folder) {
			return s.at, true, nil
		}
	}
	row, ok, err := v.base.byFolder(folder)
	if !ok || err != nil {
		return 0, false, err
	}
	at, ok := v.layout.position(row)
	return at, ok, nil
}

// flags returns the flags of a row.
func (v *view) flags(i int) (uint32, error) {
	base, added := v.layout.find(i)
	if base < 0 {
		return v.added[added].allFlags(), nil
	}
	return v.base.sections.flags(base)
}

// counts returns how many conversations the zero filter selects, and how many are archived.
func (v *view) counts() (shown, archived int, err error) {
	shown, archived = v.base.shown, v.base.archived
	count := func(flags uint32, by int) {
		if flags&isShown != 0 {
			shown += by
		}
		if flags&isArchived != 0 {
			archived += by
		}
	}
	for i := range v.gone {
		flags, err := v.base.sections.flags(i)
		if err != nil {
			return 0, 0, err
		}
		count(flags, -1)
	}
	for i := range v.added {
		count(v.added[i].allFlags(), 1)
	}
	return shown, archived, nil
}

// A selector filters rows of an index without reading their strings.
type selector struct {
	filter                          *Filter
	types, statuses, agents, models []bool // by word
	decided                         []bool // of each row of the index, if not nil
}

func (v *view) selector(f *Filter) (*selector, error) {
	words, err := v.base.allWords()
	if err != nil {
		return nil, err
	}
	s := &selector{filter: f}
	for _, each := range []struct {
		to   *[]bool
		keep func(word string) bool
	}{
		{&s.types, func(w string) bool { return anyOf(f.Types, w) }},
		{&s.agents, f.hasAgent},
		{&s.models, f.hasModel},
		{&s.statuses, f.hasStatus},
	} {
		*each.to = make([]bool, len(words))
		for i, w := range words {
			(*each.to)[i] = each.keep(w)
		}
	}
	return s, nil
}

// selects reports whether the filter selects a row, apart from tags and words.
func (s *selector) selects(row []byte) (bool, error) {
	word := func(at int) int { return int(binary.LittleEndian.Uint32(row[at:])) }
	typ, status, agent, model := word(typeAt), word(statusAt), word(agentAt), word(modelAt)
	if max(typ, status, agent, model) >= len(s.types) {
		return false, errDamaged
	}
	if word(flagsAt)&isArchived != 0 && !s.filter.Archived || !s.types[typ] || !s.statuses[status] || !s.agents[agent] || !s.models[model] {
		return false, nil
	}
	if s.filter.Since.IsZero() && s.filter.Until.IsZero() {
		return true, nil
	}
	f := decodeFixed(row)
	return s.filter.hasTime(f.active), nil
}

// decide decides on all rows of the index, which takes half as long as deciding on each
// when asked. Tags and words are in other sections.
func (s *selector) decide(x *index) error {
	if len(s.filter.Tags)+len(s.filter.Words) > 0 || x.sections.whole[rowSection].Load() != nil {
		_, err := x.sections.load(rowSection)
		return err
	}
	decided := make([]bool, x.n)
	err := x.sections.eachRow(func(i int, row []byte) (err error) {
		decided[i], err = s.selects(row)
		return err
	})
	s.decided = decided
	return err
}

// selected reports whether the filter selects a row of the index.
func (s *selector) selected(x *index, i int) (bool, error) {
	if s.decided != nil {
		return s.decided[i], nil
	}
	b, err := x.sections.bytes(rowSection, int64(i)*rowBytes, rowBytes)
	if err != nil {
		return false, err
	}
	ok, err := s.selects(b)
	if ok && len(s.filter.Tags)+len(s.filter.Words) > 0 {
		var r Row
		r, _, err = x.row(i)
		ok = s.filter.hasTag(r.Tags) && s.filter.hasWords(&r)
	}
	return ok, err
}

// each calls f with the positions that a filter selects until it returns false.
func (v *view) each(filter *Filter, f func(at int) bool) error {
	s, err := v.selector(filter)
	if err != nil {
		return err
	}
	return v.eachSelected(s, f)
}

func (v *view) eachSelected(s *selector, f func(at int) bool) error {
	for k, span := range v.layout.spans {
		if span.base < 0 {
			if s.filter.Selects(&v.added[span.added].Row) && !f(span.at) {
				return nil
			}
			continue
		}
		for at := span.at; at < v.layout.end(k); at++ {
			ok, err := s.selected(v.base, span.base+at-span.at)
			if err != nil {
				return err
			}
			if ok && !f(at) {
				return nil
			}
		}
	}
	return nil
}
