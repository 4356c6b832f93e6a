package listing

import (
	"math/bits"
	"slices"
	"sync"

	"cortext/cmd/internal/find"
)

// add adds the rows of the index that match in a tier, in order, if the filter selects them.
func (m *matcher) add(rows []int, tier find.Tier) error {
	if m.tier != find.None && m.tier < tier || len(rows) == 0 {
		return nil
	}
	at := make([]int, 0, len(rows))
	if err := m.eachSelected(rows, func(position, _ int) { at = append(at, position) }); err != nil {
		return err
	}
	switch {
	case len(at) == 0:
	case tier == m.tier:
		m.at = append(m.at, at...)
	default:
		m.tier, m.at = tier, at
	}
	return nil
}

// byBeginning finds matches in the tiers Beginning and ByTitle.
func (m *matcher) byBeginning() error {
	m.eachAdded(func(at, added int) { m.try(at, m.texts(added), find.Beginning, find.ByTitle) })
	if err := m.beginnings(); err != nil || m.tier == find.Beginning {
		return err
	}
	h := baseHash(m.query.Title())
	rows, err := m.base.byHash(titleSection, h, h)
	if err != nil {
		return err
	}
	return m.tryRows(rows, find.ByTitle)
}

// beginnings finds matches of the index in the tier Beginning. It examines only rows whose
// name contains one of a few texts, or all of them if most blocks of names have one.
func (m *matcher) beginnings() error {
	needles := m.query.Beginnings()
	may, err := m.base.names.mayBegin(needles)
	if err != nil {
		return err
	}
	blocks := 0
	for _, b := range may {
		blocks += bits.OnesCount8(b)
	}
	if may == nil || blocks > 2*len(may) { // a quarter
		rows, err := m.scan(find.Beginning, allRows(m.base.n))
		if err != nil {
			return err
		}
		return m.add(rows, find.Beginning)
	}
	places, err := m.base.names.places(needles)
	if err != nil {
		return err
	}
	if len(places) > manyRows {
		if _, err := m.base.sections.load(rowSection); err != nil {
			return err
		}
	}
	rows, err := m.base.names.rows(places)
	if err != nil {
		return err
	}
	return m.tryRows(rows, find.Beginning)
}

// scan returns the given rows of the index that match in a tier by their names alone.
func (m *matcher) scan(tier find.Tier, among rowSet) ([]int, error) {
	return m.base.names.selectRows(among, func(_ int, name []byte) bool { return m.query.Hits(&find.Folded{Name: name}, tier) })
}

// byWords finds matches in the tiers from InName to Anywhere.
func (m *matcher) byWords() error {
	m.eachAdded(func(at, added int) { m.try(at, m.texts(added), find.InName, find.Anywhere) })
	words := m.query.Words()
	if len(words) == 0 {
		return nil
	}
	single := true
	having := make([]fieldSets, len(words))
	for i, w := range words {
		var err error
		if having[i], err = m.base.terms.having(w); err != nil {
			return err
		}
		if having[i].of(find.Anywhere).count() == 0 {
			return nil
		}
		single = single && w.Single
	}
	if !single {
		return m.tryWords(having)
	}
	for tier := find.InName; tier <= find.Anywhere && (m.tier == find.None || tier <= m.tier); tier++ {
		if err := m.add(together(having, tier).rows(), tier); err != nil {
			return err
		}
	}
	return nil
}

// together returns the rows that match in a tier from InName to Anywhere, given those that
// have each word.
func together(having []fieldSets, tier find.Tier) rowSet {
	set := slices.Clone(having[0].of(tier))
	for i := range having[1:] {
		set.keep(having[i+1].of(tier))
	}
	return set
}

// of returns the rows that have a term in the fields that a tier searches.
func (s *fieldSets) of(tier find.Tier) rowSet {
	switch tier {
	case find.InName:
		return s[nameTerms]
	case find.InPrompt:
		return s[promptTerms]
	case find.InSummary:
		return s[summaryTerms]
	}
	set := slices.Clone(s[nameTerms])
	set.join(s[promptTerms])
	set.join(s[summaryTerms])
	return set
}

// tryWords finds matches in the tiers from InName to Anywhere among rows that may have each
// word.
func (m *matcher) tryWords(having []fieldSets) error {
	named := together(having, find.InName)
	if named.count() <= manyRows {
		if err := m.tryRows(named.rows(), find.InName); err != nil {
			return err
		}
	} else {
		rows, err := m.scan(find.InName, named)
		if err != nil {
			return err
		}
		if err := m.add(rows, find.InName); err != nil {
			return err
		}
	}
	if m.tier == find.InName {
		return nil
	}
	buffers := sync.Pool{New: func() any { return new(find.Folded) }}
	return m.eachOf(together(having, find.Anywhere).rows(), func(at, row int) error {
		name, err := m.base.sections.name(row)
		if err != nil {
			return err
		}
		r, _, err := m.base.row(row)
		if err != nil {
			return err
		}
		texts := buffers.Get().(*find.Folded)
		defer buffers.Put(texts)
		prompt := find.AppendPrompt(texts.Prompt[:0], r.Description, r.Tags)
		*texts = find.Folded{Name: name, Prompt: prompt, Summary: find.AppendText(texts.Summary[:0], r.Summary)}
		m.try(at, texts, find.InPrompt, find.Anywhere)
		return nil
	})
}

// eachOf calls f in parallel with the position and number of the given rows of the index
// that are in the listing and that the filter selects.
func (m *matcher) eachOf(rows []int, f func(at, row int) error) error {
	return inChunks(len(rows), func(from, end int) error {
		for _, row := range rows[from:end] {
			at, ok := m.layout.position(row)
			if !ok {
				continue
			}
			ok, err := m.selects(row)
			if err == nil && ok {
				err = f(at, row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
