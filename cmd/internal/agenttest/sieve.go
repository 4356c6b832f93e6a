//go:build unix

package agenttest

import (
	"bufio"
	"unicode"
	"unicode/utf8"
)

// sieve converts a program's output to what vt10x understands. It drops control sequences
// that vt10x mistakes for others (see misread), adds a second cell after a wide
// character, and drops characters without width.
type sieve struct {
	in  *bufio.Reader
	out []byte // read but not yet passed on
}

// secondHalf fills the cell after a wide character. It is for private use, so no program
// should write it.
const secondHalf = '\uf8ff'

// maxSequence limits the length of a control sequence; anything longer is not one.
const maxSequence = 256

func (s *sieve) Read(p []byte) (int, error) {
	for len(s.out) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.out)
	s.out = s.out[n:]
	return n, nil
}

// next processes one control sequence, or the available text.
func (s *sieve) next() error {
	s.out = s.out[:0]
	first, err := s.in.Peek(1)
	if err != nil {
		return err
	}
	if first[0] == 0x1b {
		return s.sequence()
	}
	for {
		r, _, err := s.in.ReadRune()
		if err != nil {
			return err
		}
		s.text(r)
		if s.in.Buffered() == 0 {
			return nil
		}
		if ahead, err := s.in.Peek(1); err != nil || ahead[0] == 0x1b {
			return nil
		}
	}
}

// text passes one character on.
func (s *sieve) text(r rune) {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return
	}
	s.out = utf8.AppendRune(s.out, r)
	if isWide(r) {
		s.out = utf8.AppendRune(s.out, secondHalf)
	}
}

// sequence processes ESC and what belongs to it. It takes only the beginning of strings
// (titles and the like); the rest passes as text, which vt10x reassembles.
func (s *sieve) sequence() error {
	for len(s.out) < maxSequence {
		b, err := s.in.ReadByte()
		if err != nil {
			return err
		}
		s.out = append(s.out, b)
		if len(s.out) == 2 && b != '[' {
			return nil
		}
		// A final byte, or no sequence at all.
		if len(s.out) > 2 && (b < 0x20 || b >= 0x40 && b <= 0x7e) {
			break
		}
	}
	if misread(s.out[len("\x1b["):]) {
		s.out = s.out[:0]
	}
	return nil
}

// misread reports whether vt10x mistakes the sequence for another one: private sequences
// with <, = or > (keyboard and colour modes), sequences with a byte between parameters
// and end, and every "u", which the keyboard protocol uses and vt10x takes for "restore
// the cursor". body is what follows ESC and the bracket.
func misread(body []byte) bool {
	last := len(body) - 1
	if body[last] == 'u' || body[0] >= '<' && body[0] <= '>' {
		return true
	}
	for _, b := range body[:last] {
		if b >= 0x20 && b <= 0x2f {
			return true
		}
	}
	return false
}

// wide approximates Unicode's wide characters: East Asian scripts and pictures.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, // Hangul Jamo
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1}, // radicals, punctuation
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1}, // kana, ideographs, Yi
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1}, // compatibility ideographs
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1}, // compatibility forms
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, // full-width forms
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1}, // full-width signs
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, // pictures
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1}, // transport
		{Lo: 0x1f900, Hi: 0x1f9ff, Stride: 1}, // more pictures
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1}, // rarer ideographs
	},
}

func isWide(r rune) bool { return unicode.Is(wide, r) }
