package listing

import (
	"bytes"
	"sync"
	"sync/atomic"
)

// A namePart is what was found in a part of the section of names.
type namePart struct {
	ends int   // number of names that end in the part
	kept []int // selected names, by how many others end in the part before them
}

// selectNames returns the sorted numbers of the rows whose name is selected. It calls keep in
// parallel, and reads the section in parts without keeping them.
func (x *index) selectNames(keep func(name []byte) bool) (rows []int, err error) {
	begin, end := x.blocksOf(nameSection)
	from, size := x.from[nameSection], x.size[nameSection]
	parts := make([]namePart, (end-begin+copied-1)/copied)
	var long atomic.Bool // whether a name does not fit into a buffer
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	err = eachPart(begin, end, func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a name may begin in this part and end in the next
		if !x.readBlocks(part, at) {
			return false
		}
		skip := max(from-at, 0)
		part = part[skip:min(int64(len(part)), from+size-at)]
		p := &parts[(at-begin)/copied]
		if !p.read(part, int(min(next-at-skip, int64(len(part)))), keep, at == begin) {
			long.Store(true)
		}
		return true
	})
	if err == nil && long.Load() {
		var all []byte
		all, err = x.load(nameSection)
		parts = make([]namePart, 1)
		parts[0].read(all, len(all), keep, true)
	}
	ends := 0
	for i := range parts {
		for _, k := range parts[i].kept {
			rows = append(rows, ends+k)
		}
		ends += parts[i].ends
	}
	if err == nil && ends != x.n {
		err = errDamaged
	}
	return rows, err
}

// read selects the names that begin in the first own bytes of b, or right behind them. A name
// begins behind the end of another; the first of all begins at the beginning of b. read
// returns false if a name does not end in b.
func (p *namePart) read(b []byte, own int, keep func(name []byte) bool, first bool) bool {
	*p = namePart{ends: bytes.Count(b[:own], []byte{nameEnd})}
	at, k := 0, 0
	if !first {
		if at = bytes.IndexByte(b[:own], nameEnd) + 1; at == 0 {
			return true
		}
		k = 1
	}
	for ; at <= own && at < len(b); k++ {
		size := bytes.IndexByte(b[at:], nameEnd)
		if size < 0 {
			return false
		}
		if keep(b[at : at+size]) {
			p.kept = append(p.kept, k)
		}
		at += size + 1
	}
	return true
}
