package listing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sort"
	"sync"

	"cortext/schema"
	"cortext/store"
)

// FromSession returns the sorted positions of the conversations that may have records of a
// native session: those that list it as a source, and those of which more must be known
// than a row says, because they are damaged, waiting or in several folders.
func (l *Listing) FromSession(nativeID string) (at []int) {
	l.try(func(v *view) (err error) {
		at, err = v.fromSession(nativeID)
		return err
	})
	return at
}

func (v *view) fromSession(nativeID string) (at []int, err error) {
	rows, err := v.base.fromSession(nativeID)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if i, ok := v.layout.position(row); ok {
			at = append(at, i)
		}
	}
	for _, s := range v.layout.spans {
		if s.base < 0 && (v.added[s.added].hasNotes() || hasSource(v.added[s.added].sources, nativeID)) {
			at = append(at, s.at)
		}
	}
	slices.Sort(at)
	return at, nil
}

func hasSource(sources []schema.Source, nativeID string) bool {
	return slices.ContainsFunc(sources, func(src schema.Source) bool { return src.NativeID == nativeID })
}

// fromSession returns the rows that list a native session as a source, and those with notes.
func (x *index) fromSession(nativeID string) (rows []int, err error) {
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

// Everything returns all positions.
func (l *Listing) Everything() []int {
	at := make([]int, l.Len())
	for i := range at {
		at[i] = i
	}
	return at
}

// WithSources describes the conversations at the given positions by their rows and sources.
// Those of which more must be known are read from their files.
func (l *Listing) WithSources(at []int) (entries []store.Entry, err error) {
	for _, i := range at {
		r, notes, sources := Row{}, false, []schema.Source(nil)
		l.try(func(v *view) (err error) {
			if i >= v.layout.n {
				return nil
			}
			if r, err = v.row(i); err == nil {
				sources, err = v.sources(i)
			}
			if err == nil {
				var flags uint32
				flags, err = v.flags(i)
				notes = flags&hasNotes != 0
			}
			return err
		})
		e := r.Entry()
		e.Session.Sources = sources
		if notes {
			e, err = l.Read(&r)
		}
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return nil, err
		case r.Path != "":
			entries = append(entries, e)
		}
	}
	return entries, nil
}
