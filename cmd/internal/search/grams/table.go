package grams

import (
	"encoding/binary"
	"hash/crc32"
)

// The table of entries is most of a shard about short texts. So numbers are differences,
// in as few bytes as they need.

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
	out   []byte
	last  Entry
	block int // the last one of last
}

func (w *tableWriter) uint(v uint64) { w.out = binary.AppendUvarint(w.out, v) }
func (w *tableWriter) int(v int64)   { w.out = binary.AppendVarint(w.out, v) }
func (w *tableWriter) sum(v uint64)  { w.out = binary.LittleEndian.AppendUint64(w.out, v) }

func (w *tableWriter) add(e *Entry) {
	w.sum(e.Log)
	w.uint(uint64(e.From))
	w.uint(uint64(e.To - e.From))
	last := &w.last.State
	w.int(e.State[0] - last[0]) // inode
	w.int(e.State[1] - e.To)    // size
	w.int(e.State[2] - last[2]) // times
	w.int(e.State[3] - e.State[2])
	w.sum(e.Sum)
	w.uint(e.Before)
	w.uint(uint64(len(e.Pieces)))
	for i, p := range e.Pieces {
		w.int(int64(p.Block - w.block))
		if w.block = p.Block; i < len(e.Pieces)-1 {
			w.uint(uint64(p.To - p.From))
		}
	}
	w.last = *e
}

// A tableReader reads what a tableWriter wrote. On anything else it fails.
type tableReader struct {
	rest []byte
	bad  bool
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

func (r *tableReader) sum() uint64 {
	if len(r.rest) < 8 {
		return take(r, uint64(0), 0)
	}
	return take(r, binary.LittleEndian.Uint64(r.rest), 8)
}

// length reads a number that must not exceed most.
func (r *tableReader) length(most int) int {
	v := r.uint()
	if v > uint64(most) {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(v)
}

// parseEntries reads the table of a shard, given the numbers of its entries and blocks.
func parseEntries(table []byte, number, blocks int) ([]Entry, error) {
	const least = 24 // bytes of an entry
	if number < 0 || number > len(table)/least+1 {
		return nil, errDamaged
	}
	r := tableReader{rest: table}
	entries := make([]Entry, 0, number)
	var last Entry
	block := 0
	for range number {
		e := Entry{Log: r.sum(), From: int64(r.uint())}
		e.To = e.From + int64(r.uint())
		e.State[0] = last.State[0] + r.int()
		e.State[1] = e.To + r.int()
		e.State[2] = last.State[2] + r.int()
		e.State[3] = e.State[2] + r.int()
		e.Sum = r.sum()
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
	return entries, nil
}
