package shown

import (
	"strings"
	"unicode/utf8"

	"cortext/schema"
)

// Clean removes from a text for a page what a reader cannot see: escape sequences of terminals,
// control characters, and characters that change the writing direction.
func Clean(s string) string {
	if printable(s) {
		return s
	}
	s = schema.WithoutEscapes(s)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case r < ' ' || r >= 0x7f && r <= 0x9f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, s)
}

// printable reports whether a text consists of printable ASCII and line ends.
func printable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}
