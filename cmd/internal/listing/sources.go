package listing

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
	"sync"

	"cortext/schema"
	"cortext/store"
)

// All describes all conversations by their rows and sources. It reads from their files
// those whose rows do not say enough, because they are damaged, waiting, in several folders
// or written by a later cortext.
func All(l *Listing) ([]store.Entry, error) {
	return describe(l, func(v *view) (at []int, err error) {
		for i := range v.layout.n {
			at = append(at, i)
		}
		return at, v.base.loadAll()
	})
}

// OfSession is All for the conversations that may have records of a native session: those
// that list it as a source, and those whose rows do not say enough.
func OfSession(l *Listing, nativeID string) ([]store.Entry, error) {
	return describe(l, func(v *view) ([]int, error) { return v.ofSession(nativeID) })
}

// describe describes the conversations at some positions.
func describe(l *Listing, positions func(v *view) ([]int, error)) (entries []store.Entry, err error) {
	var rows []Row
	var sources [][]schema.Source
	l.try(func(v *view) error {
		rows, sources = nil, nil
		var at []int
		if at, err = positions(v); err != nil {
			return err
		}
		for _, i := range at {
			r, e := v.row(i)
			list, err2 := v.sources(i)
			if err = cmp.Or(e, err2); err != nil {
				return err
			}
			rows, sources = append(rows, r), append(sources, list)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if !rows[i].hasNotes() {
			e := rows[i].Entry()
			e.Session.Sources = sources[i]
			entries = append(entries, e)
			continue
		}
		e, err := l.Read(&rows[i])
		switch {
		case err == nil:
			entries = append(entries, e)
		case !errors.Is(err, store.ErrNotFound): // it has just been removed
			return nil, err
		}
	}
	return entries, nil
}

// ofSession returns the sorted positions of those conversations.
func (v *view) ofSession(nativeID string) ([]int, error) {
	rows, err := v.base.ofSession(nativeID)
	return v.positions(rows, func(r *record) bool { return r.hasNotes() || hasSource(r.sources, nativeID) }), err
}

func hasSource(sources []schema.Source, nativeID string) bool {
	return slices.ContainsFunc(sources, func(src schema.Source) bool { return src.NativeID == nativeID })
}

// ofSession returns the rows that list a native session as a source, and those with notes.
func (x *index) ofSession(nativeID string) (rows []int, err error) {
	list, err := x.sections.load(sourceSection)
	if err != nil {
		return nil, err
	}
	begin := 4 * (x.n + 1)
	if len(list) < begin {
		return nil, errDamaged
	}
	text := appendString(nil, nativeID)
	for at := begin; ; {
		i := bytes.Index(list[at:], text)
		if i < 0 {
			break
		}
		at += i
		row := sort.Search(x.n, func(row int) bool { return int(binary.LittleEndian.Uint32(list[4*row+4:])) > at })
		if row == x.n {
			return nil, errDamaged
		}
		sources, err := x.sources(row)
		if err != nil {
			return nil, err
		}
		if hasSource(sources, nativeID) {
			rows = append(rows, row)
		}
		at = max(at+1, int(binary.LittleEndian.Uint32(list[4*row+4:])))
	}
	var mu sync.Mutex
	err = x.sections.eachRow(func(i int, row []byte) error {
		if binary.LittleEndian.Uint32(row[flagsAt:])&hasNotes != 0 {
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, i)
		}
		return nil
	})
	slices.Sort(rows)
	return slices.Compact(rows), err
}
