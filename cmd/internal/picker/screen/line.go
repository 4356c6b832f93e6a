package screen

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// A line is a line of text that the user edits.
type line struct {
	text []rune
	at   int // index of the rune after the cursor
}

func newLine(s string) line {
	text := []rune(typed(s))
	return line{text, len(text)}
}

// typed turns line breaks and tabs into spaces and removes other control characters, so
// that pasted text fits on the line.
func typed(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

func (l *line) String() string { return string(l.text) }

func (l *line) empty() bool { return len(l.text) == 0 }

// longestLine is how many characters a line takes. Somebody who pastes a whole log by mistake
// would wait while the list is filtered by its words.
const longestLine = 2000

// insert inserts text at the cursor, as much as the line takes.
func (l *line) insert(s string) {
	add := []rune(typed(s))
	add = add[:max(min(len(add), longestLine-len(l.text)), 0)]
	l.text = append(l.text[:l.at:l.at], append(add, l.text[l.at:]...)...)
	l.at += len(add)
}

// edit handles a key that edits the line, and reports whether it was one.
func (l *line) edit(key tea.KeyPressMsg) bool {
	switch key.Keystroke() {
	case "left", "ctrl+b":
		l.at = max(l.at-1, 0)
	case "right", "ctrl+f":
		l.at = min(l.at+1, len(l.text))
	case "ctrl+left", "alt+left":
		l.at = l.wordBefore()
	case "ctrl+right", "alt+right":
		for l.at < len(l.text) && l.text[l.at] == ' ' {
			l.at++
		}
		for l.at < len(l.text) && l.text[l.at] != ' ' {
			l.at++
		}
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace", "ctrl+h", "shift+backspace":
		l.cut(max(l.at-1, 0), l.at)
	case "delete", "ctrl+d":
		l.cut(l.at, min(l.at+1, len(l.text)))
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		l.cut(l.wordBefore(), l.at)
	case "ctrl+u":
		l.cut(0, l.at)
	case "ctrl+k":
		l.cut(l.at, len(l.text))
	default:
		if key.Text == "" || key.Mod&(tea.ModAlt|tea.ModCtrl|tea.ModMeta|tea.ModSuper) != 0 {
			return false
		}
		l.insert(key.Text)
	}
	return true
}

func (l *line) wordBefore() int {
	at := l.at
	for at > 0 && l.text[at-1] == ' ' {
		at--
	}
	for at > 0 && l.text[at-1] != ' ' {
		at--
	}
	return at
}

func (l *line) cut(from, to int) {
	l.text = append(l.text[:from:from], l.text[to:]...)
	l.at = from
}

// view returns the part of the line around the cursor that fits a width, and the column of
// the cursor in it.
func (l *line) view(u ruler, width int) (text string, cursor int) {
	before, after := clean(string(l.text[:l.at])), clean(string(l.text[l.at:]))
	if skip := u.width(before) - width + 2; skip > 0 { // a wide character may not fit
		before = ansi.Method(u).TruncateLeft(before, skip, "")
	}
	return ansi.Method(u).Truncate(before+after, width, ""), u.width(before)
}
