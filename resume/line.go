package resume

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// Session fields are data, and the block has no fence around it. The functions in
// this file put such data on one line that cannot pass for a line of the block or
// change how other lines display.

// oneLine returns s on one line. A run of space with a line break or tab becomes one
// space. Other control characters become visible escapes, and so do the invisible
// ones that hide text or change its direction. A long run of tildes, which would
// lengthen the fence, is cut. Block markers are defused.
func oneLine(s string) string {
	s = strings.TrimFunc(defuse(rawjson.Text(s)), isSpace)
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case isSpace(r):
			if n = len(s) - len(strings.TrimLeftFunc(s, isSpace)); strings.ContainsAny(s[:n], breaks+"\t") {
				b.WriteByte(' ')
			} else {
				b.WriteString(s[:n])
			}
		case r == '~':
			n = len(s) - len(strings.TrimLeft(s, "~"))
			b.WriteString(s[:min(n, longestTildes)])
			if n > longestTildes {
				b.WriteString("…")
			}
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		case isInvisible(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// longestTildes is the longest run of tildes that stays in one of our lines: a fence
// with one more is still one token.
const longestTildes = 15

// breaks are the characters that some reader treats as the end of a line.
const breaks = "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

// isSpace reports whether r is white space by any definition.
func isSpace(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(breaks, r) }

// isInvisible reports whether r is a format character, such as a bidirectional
// control, or an invisible letter. The two joiners are exempt: emoji and some scripts
// need them.
func isInvisible(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner || r == '\u3164' || r == '\uffa0'
}

// fillers are the invisible letters. Hangul needs some of them.
const fillers = "\u115f\u1160\u3164\uffa0"

// opening lists the brackets that could pass for the first one of a marker; closing lists
// their counterparts.
const (
	opening = "[［【〔〖〚⁅⟦❲﹝"
	closing = "]］】〕〗〛⁆⟧❳﹞"
)

// defuse replaces the brackets of anything that could pass for a block marker with
// parentheses: in any case, in full-width letters, and with anything between the
// letters except letters and closing brackets.
func defuse(s string) string {
	if !strings.ContainsAny(s, opening) {
		return s
	}
	var markers []int               // where they open, last first
	var letters [len(marksEnd)]byte // the next letters, with no closing bracket between them
	for i := len(s); i > 0; {
		r, n := utf8.DecodeLastRuneInString(s[:i])
		i -= n
		switch {
		case strings.ContainsRune(closing, r):
			letters = [len(marksEnd)]byte{}
		case strings.ContainsRune(opening, r):
			if next := string(letters[:]); strings.HasPrefix(next, marks) || next == marksEnd {
				markers = append(markers, i)
			}
		case unicode.IsLetter(r) && !strings.ContainsRune(fillers, r):
			copy(letters[1:], letters[:])
			letters[0] = plainLetter(r)
		}
	}
	if len(markers) == 0 {
		return s
	}
	var b strings.Builder
	open := false
	for i, r := range s {
		switch last := len(markers) - 1; {
		case last >= 0 && markers[last] == i:
			b.WriteByte('(')
			open, markers = true, markers[:last]
		case open && strings.ContainsRune(closing, r):
			b.WriteByte(')')
			open = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// The first letters of the block markers.
const (
	marks    = "RESUMED"
	marksEnd = "ENDRESUMED"
)

// plainLetter returns the ASCII capital that r is a form of, or '?' if there is none.
func plainLetter(r rune) byte {
	if r >= '！' && r <= '～' {
		r -= '！' - '!'
	}
	if r = unicode.ToUpper(r); r < utf8.RuneSelf {
		return byte(r)
	}
	return '?'
}

// cutTokens shortens s to about limit tokens and marks the place. The result may be a
// token or two longer, since the mark can merge with the text before it.
func cutTokens(s string, limit int) string {
	if !tokens.Exceed(s, limit) {
		return s
	}
	head := s[:min(len(s), limit*tokens.MaxBytes)] // bounds the search: no longer prefix can fit
	head = tokens.Prefix(head, max(limit-1, 0))
	return strings.TrimRight(head, " ") + "…"
}

// commandLine returns a cortext command line for the session that is safe to type
// into a shell, whatever the session's ids contain. verb precedes the id; flags
// follow it.
func commandLine(s *schema.Session, verb, flags string) string {
	name := s.ID
	if schema.CheckID(name) != nil {
		if name = ""; len(s.ConversationID) <= maxName*tokens.MaxBytes {
			name = oneLine(s.ConversationID)
		}
	}
	word := shellWord(name)
	if name == "" || tokens.Exceed(word, maxName) {
		return "cortext list" // the session has no name to use
	}
	return "cortext " + verb + flags + " " + word
}

// maxName is the longest name of a conversation, command or command file in our own
// text, in tokens. Every name that cortext generates is shorter.
const maxName = 24

// shellWord quotes s for a POSIX shell unless all its characters are safe.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._/", r))
	}
	word := s
	if strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		word = "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	if strings.HasPrefix(s, "-") {
		return "-- " + word
	}
	return word
}
