package page

import (
	"strings"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/clip"
)

// clean removes from a text what a reader cannot see: escape sequences of terminals,
// control characters, and characters that change the writing direction.
func clean(s string) string {
	if plain(s) {
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

// plain reports whether a text has only printable ASCII and line ends.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// AppendText appends a text so that it means nothing in HTML.
func AppendText(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '&':
			dst = append(dst, "&amp;"...)
		case '<':
			dst = append(dst, "&lt;"...)
		case '>':
			dst = append(dst, "&gt;"...)
		case '"':
			dst = append(dst, "&quot;"...)
		case '\'':
			dst = append(dst, "&#39;"...)
		case 0:
			dst = append(dst, "\uFFFD"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// mostShown is how many bytes of an output or a written file a page shows: the beginning
// and the end say what it was.
const mostShown = 24 << 10

// shorten cuts a long text in the middle. left is how many bytes are left out between the
// two parts.
func shorten(s string) (head, tail string, left int) {
	if len(s) <= mostShown {
		return s, "", 0
	}
	head = clip.Head(s, mostShown*2/3)
	if at := strings.LastIndexByte(head, '\n'); at > len(head)/2 {
		head = head[:at+1]
	}
	tail = s[len(s)-mostShown/3:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	if at := strings.IndexByte(tail, '\n'); at >= 0 && at < len(tail)/2 {
		tail = tail[at+1:]
	}
	return head, tail, len(s) - len(head) - len(tail)
}

// size spells a number of bytes.
func size(n int) string {
	switch {
	case n < 1000:
		return count(n, "byte")
	case n < 1_000_000:
		return trimZero(float64(n)/1000) + " kB"
	}
	return trimZero(float64(n)/1_000_000) + " MB"
}
