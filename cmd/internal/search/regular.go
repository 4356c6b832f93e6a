package search

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"slices"

	"cortext/cmd/internal/search/needle"
)

// A regular is a log in which every line is plain, no id occurs twice, and each message
// follows the previous one. Nearly all logs are like this, and checking it takes a tenth of
// the time that package store needs to determine which lines count.
type regular struct {
	starts []int32  // where the lines begin
	sums   []uint64 // hashes of their ids
	slots  []int32  // hash table of indexes into sums, plus one
}

var idSeed = maphash.MakeSeed()

// read reads a whole log. It returns false if the log is not regular. It reuses memory.
func (r *regular) read(log []byte, isCall bool) bool {
	r.starts, r.sums = r.starts[:0], r.sums[:0]
	var first, last []byte
	ok := needle.Lines(log, func(at, end int) bool {
		id, rest := member(log[at:end], `{"id":"`)
		if len(id) == 0 || log[end-1] != '}' {
			return false
		}
		if !isCall {
			parent, rest := member(rest, `,"parent_id":"`)
			if at == 0 {
				first = parent
			} else if !bytes.Equal(parent, last) {
				return false
			}
			if !bytes.HasPrefix(rest, []byte(`,"timestamp":"`)) {
				return false
			}
			last = id
		}
		r.starts = append(r.starts, int32(at))
		r.sums = append(r.sums, maphash.Bytes(idSeed, id))
		return true
	})
	return ok && r.index() && (first == nil || r.find(first) < 0)
}

// index builds the hash table. It returns false if an id occurs twice.
func (r *regular) index() bool {
	n := 2 << bits.Len(uint(len(r.sums)))
	if cap(r.slots) < n {
		r.slots = make([]int32, n)
	}
	r.slots = r.slots[:n]
	clear(r.slots)
	for i, sum := range r.sums {
		slot := r.slot(sum)
		if *slot != 0 {
			return false
		}
		*slot = int32(i) + 1
	}
	return true
}

// slot returns the slot of the hash of an id, which may be empty.
func (r *regular) slot(sum uint64) *int32 {
	for i := sum; ; i++ {
		s := &r.slots[i&uint64(len(r.slots)-1)]
		if *s == 0 || r.sums[*s-1] == sum {
			return s
		}
	}
}

// find returns the index of the line with the given id, or -1.
func (r *regular) find(id []byte) int { return int(*r.slot(maphash.Bytes(idSeed, id))) - 1 }

// number numbers the messages of records. r is the conversation's log of
// messages.
func (r *regular) number(all []record) {
	for i := range all {
		f := &all[i]
		if f.isCall {
			f.number = r.find(f.messageID) + 1
		} else if at, ok := slices.BinarySearch(r.starts, int32(f.offset)); ok {
			f.number = at + 1
		}
	}
}
