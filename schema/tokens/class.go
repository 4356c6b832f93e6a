package tokens

import (
	"sync"
	"unicode"
)

// The classes of characters that the o200k pattern distinguishes, as bits.
const (
	upper   uint8 = 1 << iota // [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
	lower                     // [\p{Ll}\p{Lm}\p{Lo}\p{M}]
	number                    // \p{N}
	space                     // \s, the Unicode property White_Space
	newline                   // [\r\n], always together with space
	other                     // [^\s\p{L}\p{N}], which includes \p{M}
)

const (
	letter = upper | lower         // \p{Lm} and \p{Lo}
	mark   = upper | lower | other // \p{M}
	eol    = space | newline
)

// asciiClasses holds the class of each ASCII character, 0 for other bytes.
var asciiClasses = [256]uint8{
	other, other, other, other, other, other, other, other, // 0x00
	other, space, eol, space, space, eol, other, other,
	other, other, other, other, other, other, other, other, // 0x10
	other, other, other, other, other, other, other, other,
	space, other, other, other, other, other, other, other, // 0x20
	other, other, other, other, other, other, other, other,
	number, number, number, number, number, number, number, number, // 0x30
	number, number, other, other, other, other, other, other,
	other, upper, upper, upper, upper, upper, upper, upper, // 0x40
	upper, upper, upper, upper, upper, upper, upper, upper,
	upper, upper, upper, upper, upper, upper, upper, upper, // 0x50
	upper, upper, upper, other, other, other, other, other,
	other, lower, lower, lower, lower, lower, lower, lower, // 0x60
	lower, lower, lower, lower, lower, lower, lower, lower,
	lower, lower, lower, lower, lower, lower, lower, lower, // 0x70
	lower, lower, lower, other, other, other, other, other,
}

// classified gives the class of the characters in a range table of the Go library. A
// character in neither these tables nor [assigned] is other.
var classified = [...]struct {
	ranges *unicode.RangeTable
	class  uint8
}{
	{unicode.Lu, upper},
	{unicode.Lt, upper},
	{unicode.Ll, lower},
	{unicode.Lm, letter},
	{unicode.Lo, letter},
	{unicode.M, mark},
	{unicode.N, number},
	{unicode.White_Space, space},
}

// wideClasses holds the class of each code point from U+0080 up to its end, which covers
// the two planes that nearly all text uses.
type wideClasses [0x20000]uint8

// wide returns the table, built by the first call.
var wide = sync.OnceValue(newWideClasses)

// newWideClasses fills the table to match tiktoken.
func newWideClasses() *wideClasses {
	w := new(wideClasses)
	for r := range w {
		w[r] = other
	}
	for _, c := range classified {
		for _, r := range c.ranges.R16 {
			w.fill(uint32(r.Lo), uint32(r.Hi), uint32(r.Stride), c.class)
		}
		for _, r := range c.ranges.R32 {
			w.fill(r.Lo, r.Hi, r.Stride, c.class)
		}
	}
	for _, a := range assigned {
		w.fill(uint32(a.lo), uint32(a.hi), 1, a.class)
	}
	return w
}

func (w *wideClasses) fill(lo, hi, stride uint32, class uint8) {
	for r := lo; r <= hi && int(r) < len(w); r += stride {
		w[r] = class
	}
}

// of returns the class of r, which must not be ASCII.
func (w *wideClasses) of(r rune) uint8 {
	if int(r) < len(w) {
		return w[r]
	}
	for _, a := range assigned {
		if a.lo <= r && r <= a.hi {
			return a.class
		}
	}
	for _, c := range classified {
		if unicode.Is(c.ranges, r) {
			return c.class
		}
	}
	return other
}
