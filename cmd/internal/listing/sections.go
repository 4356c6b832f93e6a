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

	"cortext/store/parallel"
)

// Sections are the sections of an index file. They are safe for concurrent use.
type sections struct {
	in   io.ReaderAt
	n    int // rows
	sums []byte
	data int64 // offset of the sections
	from [sectionCount]int64
	size [sectionCount]int64

	whole [sectionCount]atomic.Pointer[[]byte]
	mu    sync.Mutex
	block map[int64][]byte
	reads [sectionCount]int // number of blocks of each section that were read one by one
}

// checked reports whether a block of the sections is intact.
func (s *sections) checked(block int64, b []byte) bool {
	return crc32.ChecksumIEEE(b) == binary.LittleEndian.Uint32(s.sums[4*block:])
}

// bytes returns a part of a section. It reads the blocks of the part, or the whole section
// if half of it has been read already.
func (s *sections) bytes(section int, at, size int64) ([]byte, error) {
	if at < 0 || size < 0 || at+size > s.size[section] {
		return nil, errDamaged
	}
	if b := s.whole[section].Load(); b != nil {
		return (*b)[at : at+size : at+size], nil
	}
	if size == 0 {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.from[section]
	first, last := (from+at)/blockBytes, (from+at+size-1)/blockBytes
	b, ok := s.block[first]
	if (!ok || first < last) && int64(s.reads[section]) > s.size[section]/blockBytes/2 {
		if b, err := s.load(section); err == nil { // on failure, the damage may be elsewhere
			return b[at : at+size : at+size], nil
		}
	}
	at += from
	if first == last {
		if !ok {
			var err error
			if b, err = s.readBlock(section, first); err != nil {
				return nil, err
			}
		}
		at -= first * blockBytes
		return b[at : at+size : at+size], nil
	}
	joined := make([]byte, 0, (last-first+1)*blockBytes)
	for i := first; i <= last; i++ {
		b, err := s.readBlock(section, i)
		if err != nil {
			return nil, err
		}
		joined = append(joined, b...)
	}
	at -= first * blockBytes
	return joined[at : at+size : at+size], nil
}

func (s *sections) readBlock(section int, i int64) ([]byte, error) {
	if b, ok := s.block[i]; ok {
		return b, nil
	}
	end := s.from[sectionCount-1] + s.size[sectionCount-1]
	b := make([]byte, min(blockBytes, end-i*blockBytes))
	if n, err := s.in.ReadAt(b, s.data+i*blockBytes); n < len(b) {
		return nil, errors.Join(errDamaged, err)
	}
	if !s.checked(i, b) {
		return nil, errDamaged
	}
	s.block[i] = b
	s.reads[section]++
	return b, nil
}

// load reads a whole section.
func (s *sections) load(section int) ([]byte, error) {
	if b := s.whole[section].Load(); b != nil {
		return *b, nil
	}
	begin, end := s.blocksOf(section)
	b := make([]byte, end-begin)
	if err := eachPart(begin, end, func(at, end int64) bool { return s.readBlocks(b[at-begin:end-begin], at) }); err != nil {
		return nil, err
	}
	b = b[s.from[section]-begin:][:s.size[section]]
	s.whole[section].Store(&b)
	return b, nil
}

// check reads a section without keeping it.
func (s *sections) check(section int) error {
	if s.whole[section].Load() != nil {
		return nil
	}
	buffers := sync.Pool{New: func() any { b := make([]byte, copied); return &b }}
	begin, end := s.blocksOf(section)
	return eachPart(begin, end, func(at, end int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		return s.readBlocks((*b)[:end-at], at)
	})
}

// places returns the sorted offsets in a section where one of the texts begins. It reads
// the section in parts without keeping them, and only the blocks that have a bit in may,
// unless that is nil.
func (s *sections) places(section int, texts [][]byte, may []byte) ([]int, error) {
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	if longest > blockBytes || s.size[section] <= copied {
		b, err := s.load(section)
		return placesIn(b, texts, 0, len(b)), err
	}
	var mu sync.Mutex
	var all []int
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	begin, end := s.blocksOf(section)
	from := s.from[section]
	search := func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a text may span this part and the next
		if !s.readBlocks(part, at) {
			return false
		}
		skip := int(max(from-at, 0))
		part = part[:min(int64(len(part)), from+s.size[section]-at)]
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
	err := s.eachRun(section, skips, search)
	slices.Sort(all)
	return all, err
}

// eachRun calls read in parallel for runs of the blocks of a section without those that are
// skipped. Runs of the same part are read in order. It returns an error if read returns false.
func (s *sections) eachRun(section int, skips func(at int64) bool, read func(at, end int64) bool) error {
	begin, end := s.blocksOf(section)
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
func (s *sections) eachRow(f func(i int, row []byte) error) error {
	buffers := sync.Pool{New: func() any { b := make([]byte, copied+blockBytes); return &b }}
	begin, end := s.blocksOf(rowSection)
	from := s.from[rowSection]
	return eachPart(begin, end, func(at, next int64) bool {
		b := buffers.Get().(*[]byte)
		defer buffers.Put(b)
		part := (*b)[:min(next+blockBytes, end)-at] // a row may begin in this part and end in the next
		if !s.readBlocks(part, at) {
			return false
		}
		for i := (max(at-from, 0) + rowBytes - 1) / rowBytes; i < int64(s.n) && from+i*rowBytes < next; i++ {
			if f(int(i), part[from+i*rowBytes-at:][:rowBytes]) != nil {
				return false
			}
		}
		return true
	})
}

// flags returns the flags of a row.
func (s *sections) flags(i int) (uint32, error) {
	b, err := s.bytes(rowSection, int64(i)*rowBytes+flagsAt, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

// fixed reads a row without its strings.
func (s *sections) fixed(i int) (f fixed, err error) {
	b, err := s.bytes(rowSection, int64(i)*rowBytes, rowBytes)
	if err != nil {
		return f, err
	}
	return decodeFixed(b), nil
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
func (s *sections) blocksOf(section int) (begin, end int64) {
	begin = s.from[section] / blockBytes * blockBytes
	end = (s.from[section] + s.size[section] + blockBytes - 1) / blockBytes * blockBytes
	last := sectionCount - 1
	return begin, max(min(end, s.from[last]+s.size[last]), begin)
}

// copied is the number of bytes of a section that are read at a time.
const copied = 16 * blockBytes

// eachPart calls read in parallel for a few blocks at a time. It returns an error if read
// returns false.
func eachPart(begin, end int64, read func(at, end int64) bool) error {
	var failed atomic.Bool
	parallel.Each(int((end-begin+copied-1)/copied), func(k int) {
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
func (s *sections) readBlocks(to []byte, at int64) bool {
	if n, _ := s.in.ReadAt(to, s.data+at); n < len(to) {
		return false
	}
	for i := 0; i < len(to); i += blockBytes {
		if !s.checked((at+int64(i))/blockBytes, to[i:min(i+blockBytes, len(to))]) {
			return false
		}
	}
	return true
}

// copyTo writes a part of a checked section.
func (s *sections) copyTo(w io.Writer, section int, at, size int64) error {
	if at < 0 || size < 0 || at+size > s.size[section] {
		return errDamaged
	}
	_, err := io.Copy(w, io.NewSectionReader(s.in, s.data+s.from[section]+at, size))
	return err
}
