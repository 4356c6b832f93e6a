package listing

import (
	"bytes"
	"encoding/binary"

	"cortext/store/parallel"
)

// The index holds a table of the blocks of names that may contain a text, so that a search
// for a rare word reads few of them. A gram is gramBytes bytes of a text at one place. For
// each hash of a gram, the table has one bit per block. The bits of a hash are stored
// together, so a search reads only a few of the table's blocks, however many names there
// are.

const (
	gramBytes = 4
	gramBits  = 16 // length of a hash in bits

	// gramsAfter is how far after a block a gram may begin and still count as the block's,
	// because a text that begins in the block may end there.
	gramsAfter = 64

	// gramsRead is how many grams of a text are looked up.
	gramsRead = 12
)

// A text of two or three bytes that begins with the end of a line or a slash also has a gram,
// which ends in zeros.

func gramHash(b []byte) int {
	return int(binary.LittleEndian.Uint32(b) * 0x9E3779B1 >> (32 - gramBits))
}

// gramRow returns how many bytes the bits of a hash take.
func gramRow(blocks int) int { return (blocks + 7) / 8 }

// addGrams adds the table of grams. All sections up to the names must be complete. An index
// of few names has none: a search reads all of them.
func (b *builder) addGrams() {
	names := b.section[nameSection]
	if len(names) <= copied {
		return
	}
	first := b.skippedBefore(nameSection)
	blocks := (first + len(names) + blockBytes - 1) / blockBytes
	row := gramRow(blocks)
	table := make([]byte, row<<gramBits)
	parallel.Each(row, func(column int) {
		for k := 8 * column; k < min(8*column+8, blocks); k++ {
			from, end := max(k*blockBytes-first, 0), min((k+1)*blockBytes-first+gramsAfter, len(names)-gramBytes+1)
			set := func(gram []byte) { table[gramHash(gram)*row+column] |= 1 << (k % 8) }
			for at := from; at < end; at++ {
				gram := names[at : at+gramBytes]
				set(gram)
				if gram[0] == '\n' || gram[0] == '/' {
					set([]byte{gram[0], gram[1], 0, 0})
					set([]byte{gram[0], gram[1], gram[2], 0})
				}
			}
		}
	})
	b.section[gramSection] = table
}

// mayBegin returns the bits of the blocks of names in which one of the texts may begin. It
// returns nil if that is unknown.
func (n names) mayBegin(texts [][]byte) (bits []byte, err error) {
	if n.sections.size[gramSection] == 0 {
		return nil, nil
	}
	begin, end := n.sections.blocksOf(nameSection)
	row := gramRow(int((end - begin + blockBytes - 1) / blockBytes))
	if n.sections.size[gramSection] != int64(row)<<gramBits {
		return nil, errDamaged
	}
	bits = make([]byte, row)
	for _, t := range texts {
		if len(t) < gramBytes {
			if len(t) < 2 || t[0] != '\n' && t[0] != '/' {
				return nil, nil
			}
			t = append(bytes.Clone(t), 0, 0)[:gramBytes]
		}
		of := make([]byte, row) // the blocks of this text
		for i := range of {
			of[i] = 0xff
		}
		for at := 0; at+gramBytes <= len(t) && at < gramsRead; at++ {
			b, err := n.sections.bytes(gramSection, int64(gramHash(t[at:])*row), int64(row))
			if err != nil {
				return nil, err
			}
			for i := range of {
				of[i] &= b[i]
			}
		}
		for i := range bits {
			bits[i] |= of[i]
		}
	}
	return bits, nil
}
