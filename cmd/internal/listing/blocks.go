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

// checked reports whether a block of the sections is intact.
func (x *index) checked(block int64, b []byte) bool {
	return crc32.ChecksumIEEE(b) == binary.LittleEndian.Uint32(x.sums[4*block:])
}

// bytes returns a part of a section. It reads the blocks of the part, or the whole section
// if half of it has been read already.
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
	if int64(x.reads[section]) > x.size[section]/blockBytes/2 {
		if b, err := x.load(section); err == nil { // on failure, the damage may be elsewhere
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

// load reads a whole section.
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

// check reads a section without keeping it.
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

// places returns the sorted offsets in a section where one of the texts begins. It reads
// the section in parts without keeping them, and of the names only blocks that may have one.
func (x *index) places(section int, texts [][]byte) ([]int, error) {
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	if longest > blockBytes || x.size[section] <= copied {
		b, err := x.load(section)
		return placesIn(b, texts, 0, len(b)), err
	}
	var may []byte // a bit for each block; nil: all of them
	if section == nameSection {
		var err error
		if may, err = x.mayBegin(texts); err != nil {
			return nil, err
		}
	}
	var mu sync.Mutex
	var all []int
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	begin, end := x.blocksOf(section)
	from := x.from[section]
	search := func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a text may span this part and the next
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
	}
	skips := func(at int64) bool {
		k := (at - begin) / blockBytes
		return may != nil && may[k/8]&(1<<(k%8)) == 0
	}
	err := x.eachRun(section, skips, search)
	slices.Sort(all)
	return all, err
}

// eachRun calls read in parallel for runs of the blocks of a section without those that are
// skipped. Runs of the same part are read in order. It returns an error if read returns false.
func (x *index) eachRun(section int, skips func(at int64) bool, read func(at, end int64) bool) error {
	begin, end := x.blocksOf(section)
	return eachPart(begin, end, func(at, next int64) bool {
		for at < next {
			run := at
			for run < next && !skips(run) {
				run += blockBytes
			}
			if run > at && !read(at, min(run, next)) {
				return false
			}
			at = run + blockBytes // the block at run is skipped
		}
		return true
	})
}

// eachRow calls f with the rows, in parallel. It reads the section in parts without
// keeping them.
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

// placesIn returns the offsets in b, between two offsets, where one of the texts begins.
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

// blocksOf returns the range of the blocks that contain a section.
func (x *index) blocksOf(section int) (begin, end int64) {
	begin = x.from[section] / blockBytes * blockBytes
	end = (x.from[section] + x.size[section] + blockBytes - 1) / blockBytes * blockBytes
	last := sectionCount - 1
	return begin, max(min(end, x.from[last]+x.size[last]), begin)
}

// copied is the number of bytes of a section that are read at a time.
const copied = 16 * blockBytes

// eachPart calls read in parallel for a few blocks at a time. It returns an error if read
// returns false.
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

// readBlocks reads consecutive blocks, and reports whether they are intact.
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

// copyTo writes a part of a checked section.
func (x *index) copyTo(w io.Writer, section int, at, size int64) error {
	if at < 0 || size < 0 || at+size > x.size[section] {
		return errDamaged
	}
	_, err := io.Copy(w, io.NewSectionReader(x.in, x.data+x.from[section]+at, size))
	return err
}
