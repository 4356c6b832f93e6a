package page

import (
	"strings"
	"unicode/utf8"

	"cortext/schema/clip"
)

// AppendText appends a text with HTML escaped.
func AppendText(dst []byte, s string) []byte {
	for i := range len(s) {
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

// mostShown is the maximum number of bytes of an output or a written file that a page
// shows. The beginning and the end are usually enough.
const mostShown = 24 << 10

// shorten cuts a long text in the middle. left is the number of bytes left out between the
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

// size formats a number of bytes.
func size(n int) string {
	switch {
	case n < 1000:
		return count(n, "byte")
	case n < 1_000_000:
		return trimZero(float64(n)/1000) + " kB"
	}
	return trimZero(float64(n)/1_000_000) + " MB"
}
