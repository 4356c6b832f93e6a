package listing

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"cortext/cmd/internal/find"
)

// addOrder adds the number of names that end before each block that has a part of the section
// of names. All sections up to the names must be complete.
func (b *builder) addOrder() {
	names := b.section[nameSection]
	ends := uint32(0)
	for from, end := 0, blockBytes-b.skippedBefore(nameSection); from < len(names); from, end = end, end+blockBytes {
		b.section[orderSection] = binary.LittleEndian.AppendUint32(b.section[orderSection], ends)
		ends += uint32(bytes.Count(names[from:min(end, len(names))], []byte{nameEnd}))
	}
}

// skippedBefore returns the offset of a section in its first block.
func (b *builder) skippedBefore(section int) (n int) {
	for _, s := range b.section[:section] {
		n += len(s)
	}
	return n % blockBytes
}

// Names are the names of the rows, in which words are searched.
type names struct{ sections *sections }

// places returns the sorted offsets in the section of names where one of the texts begins.
func (n names) places(texts [][]byte) ([]int, error) {
	may, err := n.mayBegin(texts)
	if err != nil {
		return nil, err
	}
	return n.sections.places(nameSection, texts, may)
}

// rows returns the rows whose names have some sorted places.
func (n names) rows(places []int) (rows []int, err error) {
	row, end := 0, 0
	for _, place := range places {
		if place < end { // of the last row
			continue
		}
		if row, end, err = n.row(place, row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// name returns the name of a row.
func (s *sections) name(row int) ([]byte, error) {
	f, err := s.fixed(row)
	if err != nil {
		return nil, err
	}
	return s.bytes(nameSection, int64(f.name.at), int64(f.name.size))
}

// row returns the row whose name covers an offset in the section of names, and the name's
// end. It searches from a given row on, nearby rows first.
func (n names) row(place, from int) (row, end int, err error) {
	begin := func(i int) int {
		b, e := n.sections.bytes(rowSection, int64(i)*rowBytes+nameAt, 4)
		if e != nil {
			err = e
			return 0
		}
		return int(binary.LittleEndian.Uint32(b))
	}
	step := 1
	for from+step < n.sections.n && begin(from+step) <= place {
		from += step
		step *= 2
	}
	row = from + sort.Search(min(step, n.sections.n-from), func(i int) bool { return begin(from+i) > place }) - 1
	if err != nil || row < 0 {
		return 0, 0, errDamaged
	}
	f, err := n.sections.fixed(row)
	return row, int(f.name.at) + int(f.name.size), err
}

// selectRows returns the sorted numbers of the rows in among whose names keep accepts. It
// calls keep in parallel. It reads the section of names in parts without keeping them, and
// only blocks in which a name of the rows may begin.
func (n names) selectRows(among rowSet, keep func(row int, name []byte) bool) ([]int, error) {
	if among.count() == 0 {
		return nil, nil
	}
	begin, end := n.sections.blocksOf(nameSection)
	from, size := n.sections.from[nameSection], n.sections.size[nameSection]
	order, err := n.sections.load(orderSection)
	if err != nil || int64(len(order)) != (end-begin+blockBytes-1)/blockBytes*4 {
		return nil, errDamaged
	}
	ended := func(at int64) int { // the number of names that end before a block
		if at >= end {
			return n.sections.n - 1
		}
		return int(binary.LittleEndian.Uint32(order[(at-begin)/blockBytes*4:]))
	}
	skips := func(at int64) bool { return !among.hasAny(ended(at), min(ended(at+blockBytes), n.sections.n-1)) }
	var wrong atomic.Bool // whether there are more names than rows
	wanted := keep
	keep = func(row int, name []byte) bool {
		if row >= n.sections.n {
			wrong.Store(true)
			return false
		}
		return among.has(row) && wanted(row, name)
	}
	kept := make([][]int, (end-begin+copied-1)/copied) // of each part
	var long atomic.Bool                               // whether a name does not fit into a buffer
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	err = n.sections.eachRun(nameSection, skips, func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a name may begin in this part and end in the next
		if !n.sections.readBlocks(part, at) {
			return false
		}
		skip := max(from-at, 0)
		part = part[skip:min(int64(len(part)), from+size-at)]
		own := min(next-at-skip, int64(len(part)))
		row, first := ended(at), 0
		if at > begin { // the name that ends first begins before
			row, first = row+1, bytes.IndexByte(part[:own], nameEnd)+1
		}
		if at == begin || first > 0 {
			list, ok := namesFrom(part, first, int(own), row, keep)
			k := (at - begin) / copied
			kept[k] = append(kept[k], list...)
			if !ok {
				long.Store(true)
			}
		}
		return true
	})
	if err == nil && wrong.Load() {
		err = errDamaged
	}
	if err != nil || !long.Load() {
		return slices.Concat(kept...), err
	}
	all, err := n.sections.load(nameSection)
	list, _ := namesFrom(all, 0, len(all), 0, keep)
	if err == nil && wrong.Load() {
		err = errDamaged
	}
	return list, err
}

// namesFrom selects the names that begin in b between two offsets. The first is that of a
// given row. ok is false if one does not end in b.
func namesFrom(b []byte, from, last, row int, keep func(row int, name []byte) bool) (kept []int, ok bool) {
	for ; from <= last && from < len(b); row++ {
		size := bytes.IndexByte(b[from:], nameEnd)
		if size < 0 {
			return kept, false
		}
		if keep(row, b[from:from+size]) {
			kept = append(kept, row)
		}
		from += size + 1
	}
	return kept, true
}

// nearIDs returns the rows whose id is near a typed word, by how near it is.
func (n names) nearIDs(t *find.Typed, word int) (map[int][]int, error) {
	if !t.MayBeID(word) {
		return nil, nil
	}
	may := t.MayBeNear(word)
	near := map[int][]int{}
	var mu sync.Mutex
	_, err := n.selectRows(allRows(n.sections.n), func(row int, name []byte) bool {
		id := name[bytes.LastIndexByte(name, '\n')+1:]
		if !may(id) {
			return false
		}
		if d := t.NearID(word, string(id)); d > 0 {
			mu.Lock()
			defer mu.Unlock()
			near[d] = append(near[d], row)
		}
		return false
	})
	return near, err
}
