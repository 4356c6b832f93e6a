// Package grams keeps an index of text: which blocks of it have which sequences of four
// bytes.
//
// A shard covers up to [MaxBlocks] blocks of about 80 KB. It is a matrix of bits, with a
// column for each block and a row for each hash of four bytes. So a search for a word
// reads one row for each sequence of four bytes in it, and nothing else. A bit that is set
// means that the block may contain the four bytes. ASCII letters count as lower-case.
// (With three bytes, nearly every block contains all sequences of a common word.) Every
// part of a shard has a checksum, because other programs may damage a cache.
package grams

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"
)

const (
	// MaxBlocks is the maximum number of blocks in a shard.
	MaxBlocks = 2048

	// BlockSize is the number of bytes of text in a block, which ends at the end of a line.
	BlockSize = 80 << 10

	// For each entry that begins in it, a block has one part in entryPart more text, so
	// that the index of short texts stays below 15 % of the text in spite of their entries.
	entryPart = 400

	gram    = 4 // bytes
	rowBits = 16
	rows    = 1<<rowBits + 1
	wildRow = rows - 1 // row of the blocks that must always be searched
	sumSize = 4

	// Rows are stored in groups, each with a checksum, of at least this many bytes.
	groupBytes = 256
)

const (
	magic      = "cortext grams 4\n"
	headerSize = len(magic) + 5*4
)

// A Piece is the part of a text that is in one block: whole lines.
type Piece struct {
	Block    int
	From, To int64
}

// An Entry describes the part of a text that a shard covers, and how to recognize the text.
type Entry struct {
	Log      uint64 // a hash of its name
	From, To int64
	State    [4]int64 // of the file
	Sum      uint64   // of the first To bytes
	Before   uint64   // of the first From bytes: Sum of the entry that this one continues
	Pieces   []Piece  // in order, without gaps
}

// row returns the row of four bytes in lower case.
func row(v uint32) uint32 { return v * 0x9E3779B1 >> (32 - rowBits) }

// Rows returns the rows of the sequences in a text.
func Rows(text []byte) []int {
	var list []int
	v := uint32(0)
	for i, c := range text {
		if v = v>>8 | uint32(lower[c])<<24; i >= gram-1 {
			list = append(list, int(row(v)))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

var lower = func() (l [256]byte) {
	for i := range l {
		l[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			l[i] += 'a' - 'A'
		}
	}
	return l
}()

// A Builder makes a shard.
type Builder struct {
	BlockSize int // of text, in bytes

	entries []Entry
	columns [][]uint64 // the rows of each block, one bit for each
	wild    []bool
	size    int // of the text in the last block, less what its entries cost
}

// Begin starts an entry. The following calls of Add add its pieces.
func (b *Builder) Begin(e Entry) {
	e.Pieces = nil
	e.To = e.From
	b.entries = append(b.entries, e)
	b.size -= b.BlockSize / entryPart
}

// Full reports whether no more lines fit.
func (b *Builder) Full() bool { return len(b.columns) >= MaxBlocks && b.size >= b.BlockSize }

// Blocks returns the number of blocks.
func (b *Builder) Blocks() int { return len(b.columns) }

// Add adds lines to the current entry. If wild reports true for any of them, their block is
// always searched. Add returns how many bytes it took: all of them, or fewer whole lines if
// the shard is full.
func (b *Builder) Add(text []byte, wild func([]byte) bool) (taken int) {
	e := &b.entries[len(b.entries)-1]
	for taken < len(text) && !b.Full() {
		if len(b.columns) == 0 || b.size >= b.BlockSize {
			b.columns, b.wild, b.size = append(b.columns, make([]uint64, (rows+63)/64)), append(b.wild, false), 0
		}
		part := text[taken:]
		if room := b.BlockSize - b.size; room < len(part) {
			if end := bytes.IndexByte(part[room-1:], '\n'); end >= 0 {
				part = part[:room+end]
			}
		}
		last := len(b.columns) - 1
		fill(b.columns[last], part)
		b.wild[last] = b.wild[last] || wild(part)
		b.size += len(part)
		taken += len(part)
		if n := len(e.Pieces); n > 0 && e.Pieces[n-1].Block == last {
			e.Pieces[n-1].To += int64(len(part))
		} else {
			e.Pieces = append(e.Pieces, Piece{last, e.To, e.To + int64(len(part))})
		}
		e.To += int64(len(part))
	}
	return taken
}

// End completes the current entry with the checksum of the text up to its end.
func (b *Builder) End(sum uint64) {
	n := len(b.entries) - 1
	if b.entries[n].Sum = sum; len(b.entries[n].Pieces) == 0 {
		b.entries = b.entries[:n]
	}
}

// Last returns the current entry.
func (b *Builder) Last() Entry { return b.entries[len(b.entries)-1] }

// fill sets the rows of a text.
func fill(column []uint64, text []byte) {
	if len(text) < gram {
		return
	}
	v := uint32(lower[text[0]])<<8 | uint32(lower[text[1]])<<16 | uint32(lower[text[2]])<<24
	for _, c := range text[gram-1:] {
		v = v>>8 | uint32(lower[c])<<24
		r := row(v)
		column[r>>6] |= 1 << (r & 63)
	}
}

// A layout says where the rows of a shard are.
type layout struct {
	stride int // bytes of a row
	group  int // rows with one checksum
}

func layoutOf(blocks int) layout {
	stride := (blocks + 7) / 8
	return layout{stride, max(1, groupBytes/max(stride, 1))}
}

// groupSize returns the size of a group of rows, with its checksum.
func (l layout) groupSize() int { return l.group*l.stride + sumSize }

func (l layout) groups() int { return (rows + l.group - 1) / l.group }

// at returns the offset of a row in the matrix.
func (l layout) at(row int) int { return row/l.group*l.groupSize() + row%l.group*l.stride }

// seal writes the checksum of each group.
func (l layout) seal(matrix []byte) {
	for g := range l.groups() {
		group := matrix[g*l.groupSize():][:l.groupSize()]
		n := l.group * l.stride
		binary.LittleEndian.PutUint32(group[n:], groupSum(g, group[:n]))
	}
}

// Encode returns the shard.
func (b *Builder) Encode() []byte {
	l := layoutOf(len(b.columns))
	h := head(len(b.columns), b.entries)
	shard := make([]byte, len(h)+l.groups()*l.groupSize())
	copy(shard, h)
	matrix := shard[len(h):]
	offsets := make([]int, rows)
	for r := range offsets {
		offsets[r] = l.at(r)
	}
	for block, column := range b.columns {
		at, bit := block/8, byte(1)<<(block%8)
		for i, word := range column {
			for ; word != 0; word &= word - 1 {
				matrix[offsets[i*64+bits.TrailingZeros64(word)]+at] |= bit
			}
		}
		if b.wild[block] {
			matrix[offsets[wildRow]+at] |= bit
		}
	}
	l.seal(matrix)
	return shard
}

func groupSum(group int, text []byte) uint32 {
	var number [4]byte
	binary.LittleEndian.PutUint32(number[:], uint32(group))
	return crc32.Update(crc32.ChecksumIEEE(number[:]), crc32.IEEETable, text)
}

// A Shard is open for reading.
type Shard struct {
	Entries []Entry
	Blocks  int

	layout
	from   io.ReaderAt
	matrix int64 // offset of the rows
}

var errDamaged = errors.New("the index is damaged")

// Open opens a shard and reads its entries.
func Open(r io.ReaderAt, size int64) (*Shard, error) {
	h := make([]byte, headerSize)
	if _, err := r.ReadAt(h, 0); err != nil {
		return nil, err
	}
	sums := h[headerSize-4:]
	if string(h[:len(magic)]) != magic || binary.LittleEndian.Uint32(sums) != crc32.ChecksumIEEE(h[:headerSize-4]) {
		return nil, errDamaged
	}
	h = h[len(magic):]
	s := &Shard{Blocks: int(binary.LittleEndian.Uint32(h)), from: r}
	length := int64(binary.LittleEndian.Uint32(h[4:]))
	s.matrix = int64(headerSize) + length
	s.layout = layoutOf(s.Blocks)
	if s.Blocks > MaxBlocks || size != s.matrix+int64(s.groups())*int64(s.groupSize()) {
		return nil, errDamaged
	}
	table := make([]byte, length)
	if _, err := r.ReadAt(table, int64(headerSize)); err != nil {
		return nil, err
	}
	if crc32.ChecksumIEEE(table) != binary.LittleEndian.Uint32(h[12:]) {
		return nil, errDamaged
	}
	var err error
	s.Entries, err = parseEntries(table, int(binary.LittleEndian.Uint32(h[8:])), s.Blocks)
	return s, err
}

// A Set is a set of the blocks of a shard.
type Set []byte

// Has reports whether a block is in the set.
func (s Set) Has(block int) bool { return s[block/8]>>(block%8)&1 != 0 }

// With returns the blocks that may have all of the given rows, plus those that must always
// be searched.
func (s *Shard) With(list []int) (Set, error) {
	set, err := s.row(wildRow)
	if err != nil {
		return nil, err
	}
	all := slices.Repeat([]byte{0xff}, len(set))
	for _, r := range list {
		line, err := s.row(r)
		if err != nil {
			return nil, err
		}
		some := byte(0)
		for i := range all {
			all[i] &= line[i]
			some |= all[i]
		}
		if some == 0 {
			break
		}
	}
	for i := range set {
		set[i] |= all[i]
	}
	return set, nil
}

func (s *Shard) row(r int) ([]byte, error) {
	g := r / s.group
	group := make([]byte, s.groupSize())
	if _, err := s.from.ReadAt(group, s.matrix+int64(g)*int64(len(group))); err != nil {
		return nil, err
	}
	n := len(group) - sumSize
	if binary.LittleEndian.Uint32(group[n:]) != groupSum(g, group[:n]) {
		return nil, errDamaged
	}
	return group[r%s.group*s.stride:][:s.stride], nil
}

// Merge merges shards into one. Its number of blocks is at most the sum of theirs, each
// rounded up to a multiple of 8.
func Merge(list []*Shard) ([]byte, error) {
	var entries []Entry
	stride := 0
	for _, s := range list {
		for _, e := range s.Entries {
			e.Pieces = slices.Clone(e.Pieces)
			for i := range e.Pieces {
				e.Pieces[i].Block += 8 * stride
			}
			entries = append(entries, e)
		}
		stride += s.stride
	}
	l := layoutOf(8 * stride)
	h := head(8*stride, entries)
	merged := make([]byte, len(h)+l.groups()*l.groupSize())
	copy(merged, h)
	matrix := merged[len(h):]
	for r := range rows {
		at := l.at(r)
		for _, s := range list {
			line, err := s.row(r)
			if err != nil {
				return nil, err
			}
			at += copy(matrix[at:], line)
		}
	}
	l.seal(matrix)
	return merged, nil
}
