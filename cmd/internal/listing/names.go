package listing

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
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

// selectNames returns the sorted numbers of those of some rows that are selected by their name.
// It calls keep in parallel. It reads the section of names in parts without keeping them, and
// only blocks in which a name of the rows may begin.
func (x *index) selectNames(among rowSet, keep func(row int, name []byte) bool) ([]int, error) {
	if among.count() == 0 {
		return nil, nil
	}
	begin, end := x.blocksOf(nameSection)
	from, size := x.from[nameSection], x.size[nameSection]
	order, err := x.load(orderSection)
	if err != nil || int64(len(order)) != (end-begin+blockBytes-1)/blockBytes*4 {
		return nil, errDamaged
	}
	ended := func(at int64) int { // the number of names that end before a block
		if at >= end {
			return x.n - 1
		}
		return int(binary.LittleEndian.Uint32(order[(at-begin)/blockBytes*4:]))
	}
	skips := func(at int64) bool { return !among.hasAny(ended(at), min(ended(at+blockBytes), x.n-1)) }
	var wrong atomic.Bool // whether there are more names than rows
	wanted := keep
	keep = func(row int, name []byte) bool {
		if row >= x.n {
			wrong.Store(true)
			return false
		}
		return among.has(row) && wanted(row, name)
	}
	kept := make([][]int, (end-begin+copied-1)/copied) // of each part
	var long atomic.Bool                               // whether a name does not fit into a buffer
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	err = x.eachRun(nameSection, skips, func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a name may begin in this part and end in the next
		if !x.readBlocks(part, at) {
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
	all, err := x.load(nameSection)
	list, _ := namesFrom(all, 0, len(all), 0, keep)
	if err == nil && wrong.Load() {
		err = errDamaged
	}
	return list, err
}

// namesFrom selects the names that begin in b from an offset to another, of which the first is
// that of a given row. ok is false if one does not end in b.
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
