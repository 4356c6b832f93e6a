package grams

import (
	"encoding/binary"
	"hash/crc32"
)

// The table of entries is most of a segment about short texts. So names leave out what
// they have in common with one of the two before them, and numbers are differences, in
// as few bytes as they need.

// head returns the header and the table of entries.
func head(blocks int, entries []Entry) []byte {
	w := tableWriter{}
	for i := range entries {
		w.add(&entries[i])
	}
	h := []byte(magic)
	for _, v := range []int{blocks, len(w.out), len(entries)} {
		h = binary.LittleEndian.AppendUint32(h, uint32(v))
	}
	h = binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE(w.out))
	h = binary.LittleEndian.AppendUint32(h, crc32.ChecksumIEEE(h))
	return append(h, w.out...)
}

type tableWriter struct {
	out    []byte
	before [2]Entry // the last two
	block  int      // the last one of before[1]
}

func (w *tableWriter) uint(v uint64) { w.out = binary.AppendUvarint(w.out, v) }
func (w *tableWriter) int(v int64)   { w.out = binary.AppendVarint(w.out, v) }

func (w *tableWriter) add(e *Entry) {
	w.name(e.Name)
	w.uint(uint64(e.From))
	w.uint(uint64(e.To - e.From))
	last := &w.before[1].State
	w.int(e.State[0] - last[0]) // inode
	w.int(e.State[1] - e.To)    // size
	w.int(e.State[2] - last[2]) // times
	w.int(e.State[3] - e.State[2])
	w.out = binary.LittleEndian.AppendUint64(w.out, e.Sum)
	w.uint(e.Before)
	w.uint(uint64(len(e.Pieces)))
	for i, p := range e.Pieces {
		w.int(int64(p.Block - w.block))
		if w.block = p.Block; i < len(e.Pieces)-1 {
			w.uint(uint64(p.To - p.From))
		}
	}
	w.before = [2]Entry{w.before[1], *e}
}

// name writes a name without what it has in common with one of the last two.
func (w *tableWriter) name(name string) {
	which, prefix, suffix := 0, 0, 0
	for i := range w.before {
		if p, s := common(name, w.before[i].Name); p+s > prefix+suffix {
			which, prefix, suffix = i, p, s
		}
	}
	middle := name[prefix : len(name)-suffix]
	w.uint(uint64(prefix))
	w.uint(uint64(suffix<<1 | which))
	w.uint(uint64(len(middle)))
	w.out = append(w.out, middle...)
}

// common returns how many bytes two names have in common at their beginnings, and how many
// of the rest at their ends.
func common(a, b string) (prefix, suffix int) {
	most := min(len(a), len(b))
	for prefix < most && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < most-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

// A tableReader reads what a tableWriter wrote. On anything else it fails.
type tableReader struct {
	rest  []byte
	names []byte // of all entries
	bad   bool
}

func (r *tableReader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	return take(r, v, n)
}

func (r *tableReader) int() int64 {
	v, n := binary.Varint(r.rest)
	return take(r, v, n)
}

func take[T uint64 | int64](r *tableReader, v T, n int) T {
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// length reads a number that is at most most.
func (r *tableReader) length(most int) int {
	v := r.uint()
	if v > uint64(most) {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(v)
}

// maxName is the maximum length of a name.
const maxName = 4096

// parseEntries reads a table with a number of entries, of a segment with a number of blocks.
func parseEntries(table []byte, number, blocks int) ([]Entry, error) {
	const least = 20 // bytes of an entry
	if number < 0 || number > len(table)/least+1 {
		return nil, errDamaged
	}
	r := tableReader{rest: table, names: make([]byte, 0, 100*number)}
	entries := make([]Entry, 0, number)
	ends := make([]int, number+1)
	var last Entry
	block := 0
	for i := range number {
		r.name(ends[:i+1])
		ends[i+1] = len(r.names)
		e := Entry{From: int64(r.uint())}
		e.To = e.From + int64(r.uint())
		e.State[0] = last.State[0] + r.int()
		e.State[1] = e.To + r.int()
		e.State[2] = last.State[2] + r.int()
		e.State[3] = e.State[2] + r.int()
		if len(r.rest) < 8 {
			return nil, errDamaged
		}
		e.Sum = binary.LittleEndian.Uint64(r.rest)
		r.rest = r.rest[8:]
		e.Before = r.uint()
		e.Pieces = make([]Piece, r.length(len(r.rest)))
		from := e.From
		for k := range e.Pieces {
			block += int(r.int())
			to := e.To
			if k < len(e.Pieces)-1 {
				to = from + int64(r.uint())
			}
			e.Pieces[k] = Piece{block, from, to}
			r.bad = r.bad || block < 0 || block >= blocks || from >= to
			from = to
		}
		if r.bad || e.From < 0 || from != e.To {
			return nil, errDamaged
		}
		last = e
		entries = append(entries, e)
	}
	names := string(r.names)
	for i := range entries {
		entries[i].Name = names[ends[i]:ends[i+1]]
	}
	return entries, nil
}

// name reads a name. ends has where the names before it end, after a 0.
func (r *tableReader) name(ends []int) {
	before := func(which int) []byte {
		if i := len(ends) - 3 + which; i >= 0 {
			return r.names[ends[i]:ends[i+1]]
		}
		return nil
	}
	prefix, suffix := r.uint(), r.uint()
	from := before(int(suffix & 1))
	suffix >>= 1
	middle := r.length(len(r.rest))
	if prefix > uint64(len(from)) || suffix > uint64(len(from))-prefix || middle > len(r.rest) || prefix+suffix+uint64(middle) > maxName {
		r.bad, r.rest = true, nil
		return
	}
	r.names = append(r.names, from[:prefix]...)
	r.names = append(r.names, r.rest[:middle]...)
	r.names = append(r.names, from[len(from)-int(suffix):]...)
	r.rest = r.rest[middle:]
}
