package listing

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"
	"time"

	"cortext/store"
)

// A state says what the index is based on. It is a separate file because it changes more
// often: a sweep that finds nothing new changes only the state.
type state struct {
	index uint64    // which index
	mark  string    // of the list of changes
	end   int64     // length of the part of the list that the index covers
	git   string    // a fingerprint of what git had checked out
	swept time.Time // when all files were examined
	top   string    // the look of the folder of all days
	days  []day     // sorted by name

	unreadable []string // days whose folders could not be read, sorted
	bare       []string // folders of conversations without session.json, which git may restore
}

const (
	stateFile  = "listing-state"
	stateMagic = "cortext listing state 4\n"
)

func readState(st *store.Store) (s state, ok bool) {
	b, ok := st.ReadCache(stateFile)
	at := len(stateMagic) + 4
	if !ok || len(b) < at || string(b[:len(stateMagic)]) != stateMagic || binary.LittleEndian.Uint32(b[at-4:]) != crc32.ChecksumIEEE(b[at:]) {
		return s, false
	}
	d := decoder{text(b[at:]), true}
	number := func() uint64 {
		n := []byte(d.string())
		if len(n) != 8 {
			d.ok = false
			return 0
		}
		return binary.LittleEndian.Uint64(n)
	}
	s.index, s.mark, s.end, s.git, s.top = number(), d.string(), int64(number()), d.string(), d.string()
	s.swept = time.Unix(0, int64(number()))
	s.unreadable, s.bare = d.list(), d.list()
	for range d.number() {
		if s.days = append(s.days, day{d.string(), d.string()}); !d.ok {
			return s, false
		}
	}
	return s, d.ok
}

func (s *state) write(st *store.Store) error {
	number := func(b []byte, n uint64) []byte {
		return appendString(b, string(binary.LittleEndian.AppendUint64(nil, n)))
	}
	b := append([]byte(stateMagic), 0, 0, 0, 0)
	at := len(b)
	b = appendString(number(b, s.index), s.mark)
	b = appendString(appendString(number(b, uint64(s.end)), s.git), s.top)
	b = appendList(appendList(number(b, uint64(s.swept.UnixNano())), s.unreadable), s.bare)
	b = binary.AppendUvarint(b, uint64(len(s.days)))
	for _, d := range s.days {
		b = appendString(appendString(b, d.name), d.look)
	}
	binary.LittleEndian.PutUint32(b[at-4:], crc32.ChecksumIEEE(b[at:]))
	return st.WriteCache(stateFile, b)
}

// day returns the look of a day.
func (s *state) day(name string) (look string, ok bool) {
	i, ok := slices.BinarySearchFunc(s.days, name, func(d day, name string) int { return cmp.Compare(d.name, name) })
	if !ok {
		return "", false
	}
	return s.days[i].look, true
}
