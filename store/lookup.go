package store

import (
	"bufio"
	"bytes"
	"errors"
	"hash/maphash"
	"io"
	"math/bits"
	"time"

	"cortext/schema"
	"cortext/schema/jsonl"
)

// A lookup finds the lines of a log by id. It keeps only hashes of the ids, because a log
// of 1 GB has a million.
type lookup struct {
	seed   maphash.Seed
	lines  []line            // the first line of each id, and all lines without one
	slots  []int32           // hash table of indexes into lines, plus one
	more   map[int32][]int64 // offsets of further lines of an id, by its index in lines
	damage []jsonl.Damage
}

// A line records its position in a log and its parent.
type line struct {
	id, parent uint64 // hashes; 0 for none
	offset     int64
	seconds    int64 // its timestamp
	nanos      int32
}

func (l line) at() time.Time { return time.Unix(l.seconds, int64(l.nanos)) }

// A head is the id, parent and timestamp of a line.
type head struct {
	id, parent []byte
	at         []byte
	redacted   bool // the record may have been redacted after it was stored
}

// A headReader reads the heads of lines. It does not parse lines in our spelling.
type headReader struct {
	plain func(line []byte) (h head, plain bool) // plain is false if the line must be parsed
	parse func(jsonl.Record) (head, error)
}

// read calls add with the head and the offset of each record in a part of a log, which
// begins with a line. The bytes of a head are valid until add returns.
func (r headReader) read(log io.ReaderAt, from, to int64, add func(h head, offset int64)) (damage []jsonl.Damage, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(log, from, to-from), int(min(256<<10, to-from)))
	for offset := from; offset < to; {
		text, err := in.ReadSlice('\n')
		h, plain := r.plain(text)
		if errors.Is(err, bufio.ErrBufferFull) { // text is overwritten
			h = head{id: bytes.Clone(h.id), parent: bytes.Clone(h.parent), at: bytes.Clone(h.at)}
		}
		size := int64(0)
		for {
			size, plain = size+int64(len(text)), plain && !jsonl.Joined(text) && bytes.IndexByte(text, 0) < 0
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
			text, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if plain && bytes.HasSuffix(text, []byte("}\n")) {
			h.redacted = endsRedacted(text)
			add(h, offset)
			offset += size
			continue
		}
		for rec, err := range jsonl.Read(io.NewSectionReader(log, offset, size), offset, 0) {
			if err == nil {
				h, err = r.parse(rec)
			}
			if d := (*jsonl.Damage)(nil); errors.As(err, &d) {
				damage = append(damage, *d)
			} else if err != nil {
				return nil, err
			} else {
				h.redacted = endsRedacted(rec.Raw)
				add(h, rec.Offset)
			}
		}
		if offset += size; err != nil {
			break
		}
	}
	return damage, nil
}

func messageHeads() headReader {
	return headReader{messageHead, func(rec jsonl.Record) (head, error) {
		m, err := parseRecord(rec, messageLog())
		return head{id: []byte(m.ID), parent: []byte(m.ParentID), at: []byte(m.Timestamp)}, err
	}}
}

func toolHeads() headReader {
	return headReader{idHead, func(rec jsonl.Record) (head, error) {
		t, err := parseRecord(rec, toolLog())
		return head{id: []byte(t.ID)}, err
	}}
}

// messageHead reads the head of a line of messages.jsonl if its members come first, as
// cortext writes them.
func messageHead(line []byte) (h head, plain bool) {
	id, rest := member(line, `{"id":"`)
	parent, rest := member(rest, `,"parent_id":"`)
	at, rest := member(rest, `,"timestamp":"`)
	plain = len(id) > 0 && len(at) > 0 && (parent != nil || !bytes.Contains(rest, []byte(`"parent_id"`)))
	return head{id: id, parent: parent, at: at}, plain
}

// idHead reads the id of a line of either log.
func idHead(line []byte) (h head, plain bool) {
	h.id, _ = member(line, `{"id":"`)
	return h, len(h.id) > 0
}

// member returns the value of the string at the beginning of a line, where name precedes it,
// and the rest of the line. It returns nothing if the value is long or has an escape.
func member(line []byte, name string) (value, rest []byte) {
	const longest = 200
	value, ok := bytes.CutPrefix(line, []byte(name))
	end := bytes.IndexByte(value[:min(len(value), longest)], '"')
	if !ok || end < 0 || bytes.IndexByte(value[:end], '\\') >= 0 {
		return nil, line
	}
	return value[:end], value[end+1:]
}

// newLookup reads a whole log of about this many records.
func newLookup(log *io.SectionReader, about int, heads headReader) (*lookup, error) {
	about = int(min(int64(max(about, 0)), log.Size()/64)) // session.json may hold any number
	x := &lookup{seed: maphash.MakeSeed(), lines: make([]line, 0, about), more: map[int32][]int64{}}
	damage, err := heads.read(log, 0, log.Size(), func(h head, offset int64) { x.lines = append(x.lines, x.line(h, offset)) })
	x.damage = damage
	x.index()
	return x, err
}

func (x *lookup) line(h head, offset int64) line {
	at := schema.Time(h.at).Time()
	return line{x.sum(h.id), x.sum(h.parent), offset, at.Unix(), int32(at.Nanosecond())}
}

// sum hashes an id; 0 for none.
func (x *lookup) sum(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	return max(maphash.Bytes(x.seed, id), 1)
}

// index builds the slots and drops all but the first line of each id from the list. It does
// so in one pass at the end, which is several times faster than line by line because access
// to slots is random.
func (x *lookup) index() {
	x.slots = make([]int32, 2<<bits.Len(uint(len(x.lines))))
	n := int32(0)
	for _, l := range x.lines {
		if l.id != 0 {
			slot := x.slot(l.id)
			if first := *slot - 1; first >= 0 {
				x.more[first] = append(x.more[first], l.offset)
				continue
			}
			*slot = n + 1
		}
		x.lines[n] = l
		n++
	}
	x.lines = x.lines[:n]
}

// slot returns the slot of an id, which may be empty.
func (x *lookup) slot(id uint64) *int32 {
	for i := id; ; i++ {
		s := &x.slots[i&uint64(len(x.slots)-1)]
		if *s == 0 || x.lines[*s-1].id == id {
			return s
		}
	}
}

// find returns the index of an id in lines, or -1 if no line has it.
func (x *lookup) find(id []byte) int32 { return *x.slot(x.sum(id)) - 1 }

// offsets returns the offsets of the lines with the id at a place.
func (x *lookup) offsets(place int32) []int64 {
	return append([]int64{x.lines[place].offset}, x.more[place]...)
}
