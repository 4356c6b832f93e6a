package listing

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// checked reports whether a block of the sections is as it was written.
func (x *index) checked(block int64, b []byte) bool {
	return crc32.ChecksumIEEE(b) == binary.LittleEndian.Uint32(x.sums[4*block:])
}

// manyBlocks is how many blocks of a section are read one by one before all are.
const manyBlocks = 48

// bytes returns a part of a section. It reads the blocks that the part is in, or the whole
// section if many of them have been read.
func (x *index) bytes(section int, at, size int64) ([]byte, error) {
	if at < 0 || size < 0 || at+size > x.size[section] {
		return nil, errDamaged
	}
	if b := x.whole[section].Load(); b != nil {
		return (*b)[at : at+size : at+size], nil
	}
	if size == 0 {
		return nil, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.reads[section] > manyBlocks {
		if b, err := x.load(section); err == nil { // otherwise the damage may be elsewhere
			return b[at : at+size : at+size], nil
		}
	}
	at += x.from[section]
	first, last := at/blockBytes, (at+size-1)/blockBytes
	if first == last {
		b, err := x.readBlock(section, first)
		if err != nil {
			return nil, err
		}
		at -= first * blockBytes
		return b[at : at+size : at+size], nil
	}
	joined := make([]byte, 0, (last-first+1)*blockBytes)
	for i := first; i <= last; i++ {
		b, err := x.readBlock(section, i)
		if err != nil {
			return nil, err
		}
		joined = append(joined, b...)
	}
	at -= first * blockBytes
	return joined[at : at+size : at+size], nil
}

func (x *index) readBlock(section int, i int64) ([]byte, error) {
	if b, ok := x.block[i]; ok {
		return b, nil
	}
	end := x.from[sectionCount-1] + x.size[sectionCount-1]
	b := make([]byte, min(blockBytes, end-i*blockBytes))
	if n, err := x.in.ReadAt(b, x.data+i*blockBytes); n < len(b) {
		return nil, errors.Join(errDamaged, err)
	}
	if !x.checked(i, b) {
		return nil, errDamaged
	}
	x.block[i] = b
	x.reads[section]++
	return b, nil
}

// load reads a section as a whole.
func (x *index) load(section int) ([]byte, error) {
	if b := x.whole[section].Load(); b != nil {
		return *b, nil
	}
	begin, end := x.blocksOf(section)
	b := make([]byte, end-begin)
	if err := eachPart(begin, end, func(at, end int64) bool { return x.readBlocks(b[at-begin:end-begin], at) }); err != nil {
		return nil, err
	}
	b = b[x.from[section]-begin:][:x.size[section]]
	x.whole[section].Store(&b)
	return b, nil
}

// check reads a section and forgets it.
func (x *index) check(section int) error {
	if x.whole[section].Load() != nil {
		return nil
	}
	buffers := sync.Pool{New: func() any { b := make([]byte, copied); return &b }}
	begin, end := x.blocksOf(section)
	return eachPart(begin, end, func(at, end int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		return x.readBlocks((*b)[:end-at], at)
	})
}

// places returns where in a section one of some texts begins, sorted. It reads the section
// in parts and forgets them.
func (x *index) places(section int, texts [][]byte) ([]int, error) {
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	if longest > blockBytes || x.size[section] <= copied {
		b, err := x.load(section)
		return placesIn(b, texts, 0, len(b)), err
	}
	var mu sync.Mutex
	var all []int
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	begin, end := x.blocksOf(section)
	from := x.from[section]
	err := eachPart(begin, end, func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a text may begin in this part and end in the next
		if !x.readBlocks(part, at) {
			return false
		}
		skip := int(max(from-at, 0))
		part = part[:min(int64(len(part)), from+x.size[section]-at)]
		found := placesIn(part, texts, skip, int(next-at))
		mu.Lock()
		defer mu.Unlock()
		for _, place := range found {
			all = append(all, place+int(at-from))
		}
		return true
	})
	slices.Sort(all)
	return all, err
}

// eachRow calls f with the rows, in parallel. It reads the section in parts and forgets
// them.
func (x *index) eachRow(f func(i int, row []byte) error) error {
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	begin, end := x.blocksOf(rowSection)
	from := x.from[rowSection]
	return eachPart(begin, end, func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a row may begin in this part and end in the next
		if !x.readBlocks(part, at) {
			return false
		}
		for i := (max(at-from, 0) + rowBytes - 1) / rowBytes; i < int64(x.n) && from+i*rowBytes < next; i++ {
			if f(int(i), part[from+i*rowBytes-at:][:rowBytes]) != nil {
				return false
			}
		}
		return true
	})
}

// placesIn returns where in b, between two places, one of some texts begins.
func placesIn(b []byte, texts [][]byte, from, end int) (places []int) {
	for _, t := range texts {
		for at := from; at < end; at++ {
			i := bytes.Index(b[at:], t)
			if i < 0 || at+i >= end {
				break
			}
			at += i
			places = append(places, at)
		}
	}
	slices.Sort(places)
	return places
}

// blocksOf returns where the blocks begin and end that a section is in.
func (x *index) blocksOf(section int) (begin, end int64) {
	begin = x.from[section] / blockBytes * blockBytes
	end = (x.from[section] + x.size[section] + blockBytes - 1) / blockBytes * blockBytes
	last := sectionCount - 1
	return begin, max(min(end, x.from[last]+x.size[last]), begin)
}

// copied is how many bytes of a section are read at a time.
const copied = 16 * blockBytes

// eachPart calls read in parallel for a few blocks at a time. The error is that it returned
// false.
func eachPart(begin, end int64, read func(at, end int64) bool) error {
	var failed atomic.Bool
	inParallel(int((end-begin+copied-1)/copied), func(k int) {
		at := begin + int64(k)*copied
		if !read(at, min(at+copied, end)) {
			failed.Store(true)
		}
	})
	if failed.Load() {
		return errDamaged
	}
	return nil
}

// readBlocks reads the blocks from a place on, and reports whether they are whole.
func (x *index) readBlocks(to []byte, at int64) bool {
	if n, _ := x.in.ReadAt(to, x.data+at); n < len(to) {
		return false
	}
	for i := 0; i < len(to); i += blockBytes {
		if !x.checked((at+int64(i))/blockBytes, to[i:min(i+blockBytes, len(to))]) {
			return false
		}
	}
	return true
}

// copyTo writes a part of a section that was checked.
func (x *index) copyTo(w io.Writer, section int, at, size int64) error {
	if at < 0 || size < 0 || at+size > x.size[section] {
		return errDamaged
	}
	_, err := io.Copy(w, io.NewSectionReader(x.in, x.data+x.from[section]+at, size))
	return err
}
