// Package shown makes text from files safe for a terminal, a log and a page.
package shown

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/clip"
)

// Text makes text from files safe for a terminal. It escapes control bytes, invalid UTF-8
// and characters that change the writing direction, and keeps line breaks and tabs.
func Text(s string) string {
	clean := true
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if hidden(r, n) {
			clean = false
			break
		}
		i += n
	}
	if clean {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1, r < 0x20 && hidden(r, n), r == 0x7f:
			fmt.Fprintf(&sb, `\x%02x`, s[i])
		case hidden(r, n):
			fmt.Fprintf(&sb, `\u%04x`, r)
		default:
			sb.WriteString(s[i : i+n])
		}
		i += n
	}
	return sb.String()
}

// JSON makes JSON safe for a terminal: it escapes, in strings, what [Text] escapes. The values stay
// the same.
func JSON(text []byte) []byte {
	safe := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if hidden(r, n) {
			safe = fmt.Appendf(safe, `\u%04x`, r)
		} else {
			safe = append(safe, text[i:i+n]...)
		}
		i += n
	}
	return safe
}

func hidden(r rune, size int) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == utf8.RuneError && size == 1:
		return true
	case r == 0x200d || r == 0x200c: // joiners, used in emoji and some scripts
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028 || r == 0x2029
}

// Line is Text without line breaks or tabs.
func Line(s string) string {
	return Text(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }), " "))
}

// Cut shortens a line to most characters.
func Cut(s string, most int) string { return clip.Characters(s, most) }

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

// printable reports whether a text consists of printable ASCII and line endings.
func printable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}
