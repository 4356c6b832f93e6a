package picker

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cortext/cmd/internal/shown"
)

// A ruler measures text in columns of the terminal. Terminals differ in how wide joined
// emoji are: those with mode 2027 count what is joined as one character.
type ruler ansi.Method

func (u ruler) width(s string) int { return ansi.Method(u).StringWidth(s) }

// mostText is how many characters of a text are looked at for one line: a line holds
// fewer, but marks that take no column could be thousands.
const mostText = 1000

// clean makes text from files safe for one line of the screen.
func clean(s string) string {
	if len(s) > mostText {
		s = shown.Cut(s, mostText)
	}
	return shown.Line(s)
}

// fit cuts or pads a clean text to a width.
func (u ruler) fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	w := u.width(s)
	if w > width {
		s = ansi.Method(u).Truncate(s, width, "…")
		w = u.width(s)
	}
	return s + strings.Repeat(" ", max(width-w, 0))
}

// right is fit for numbers.
func (u ruler) right(s string, width int) string {
	return strings.Repeat(" ", max(width-u.width(s), 0)) + s
}

// wrap breaks a text into at most most lines of a width.
func (u ruler) wrap(s string, width, most int) []string {
	if width <= 0 || s == "" {
		return nil
	}
	lines := strings.Split(ansi.Method(u).Wrap(s, width, ""), "\n")
	if len(lines) > most {
		rest := strings.Join(lines[most-1:], " ")
		lines = append(lines[:most-1:most-1], ansi.Method(u).Truncate(rest, width, "…"))
	}
	return lines
}

// left cuts the beginning of a text that does not fit: the end of a path says more.
func (u ruler) left(s string, width int) string {
	if over := u.width(s) - width; over > 0 {
		return ansi.Method(u).TruncateLeft(s, over+1, "…")
	}
	return s
}
