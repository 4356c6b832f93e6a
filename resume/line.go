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

// What stands in a session's fields is data, and the block has no fence around
// it: the functions of this file put such data on one line that cannot be taken
// for a line of the block and cannot change how the others are shown.

// oneLine returns s on one line: a run of space that holds a line break or a tab
// becomes one space; other control characters, and the invisible ones that turn
// the direction of text or hide it, become visible escapes; a long run of tildes,
// than which the fence would have to be longer, is cut; the markers of the block are
// defused.
func oneLine(s string) string {
	s = strings.TrimFunc(defuse(rawjson.Text(s)), space)
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case space(r):
			if n = len(s) - len(strings.TrimLeftFunc(s, space)); strings.ContainsAny(s[:n], breaks+"\t") {
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
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// longestTildes is the longest run of tildes that stays in a line of ours: a fence
// of one more is still one token.
const longestTildes = 15

// breaks are the characters that one reader or another takes for the end of a
// line.
const breaks = "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029"

// space reports whether r is white space in any sense.
func space(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(breaks, r) }

// hidden reports whether r is a format character, such as the bidirectional
// controls, or a letter that shows nothing. The two joiners are needed to write
// emoji and some scripts.
func hidden(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != nonJoiner && r != joiner || r == '\u3164' || r == '\uffa0'
}

// fillers are the letters that show nothing, of which some are needed to write
// Hangul.
const fillers = "\u115f\u1160\u3164\uffa0"

// opening are the brackets that could pass for the one that a marker begins with, and
// closing the others of the pairs.
const (
	opening = "[［【〔〖〚⁅⟦❲﹝"
	closing = "]］】〕〗〛⁆⟧❳﹞"
)

// defuse turns the brackets of what could pass for a marker of the block into
// parentheses: in any case, in full-width letters and with anything but letters and
// closing brackets in between.
func defuse(s string) string {
	if !strings.ContainsAny(s, opening) {
		return s
	}
	var markers []int               // where they open, the last first
	var letters [len(marksEnd)]byte // the next ones, of which none follows a closing bracket
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

// The letters that the markers of the block begin with.
const (
	marks    = "RESUMED"
	marksEnd = "ENDRESUMED"
)

// plainLetter is the capital that r is a form of, '?' where that is none of ASCII.
func plainLetter(r rune) byte {
	if r >= '！' && r <= '～' {
		r -= '！' - '!'
	}
	if r = unicode.ToUpper(r); r < utf8.RuneSelf {
		return byte(r)
	}
	return '?'
}

// cut shortens s to about limit tokens and marks the place. It may come out a
// token or two longer: the mark can join the text before it.
func cut(s string, limit int) string {
	if !tokens.Exceed(s, limit) {
		return s
	}
	head := s[:min(len(s), limit*tokens.MaxBytes)] // the prefix is no longer, and finding it no slower, than that
	head = tokens.Prefix(head, max(limit-1, 0))
	return strings.TrimRight(head, " ") + "…"
}

// commandLine is a command line of ours about the session, fit to be typed into a
// shell whatever stands in the session's ids: verb is what comes before the id,
// flags are its flags.
func commandLine(s *schema.Session, verb, flags string) string {
	name := s.ID
	if schema.CheckID(name) != nil {
		if name = ""; len(s.ConversationID) <= maxName*tokens.MaxBytes {
			name = oneLine(s.ConversationID)
		}
	}
	word := shellWord(name)
	if name == "" || tokens.Exceed(word, maxName) {
		return "cortext list" // no name to call it by
	}
	return "cortext " + verb + flags + " " + word
}

// maxName is the longest name of a conversation, a command or its file that our
// own words spell, in tokens; every name that cortext makes is shorter.
const maxName = 24

// shellWord quotes s for a POSIX shell unless every character of it is plain.
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
