package picker

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cortext/cmd/internal/shown"
)

// A style is the parameters of an SGR sequence. All but the background of the chosen row
// are of the 16 colours that the user's theme defines, so that they can be read on both a
// light and a dark background.
type style string

const (
	plain   style = ""
	strong  style = "1"
	faint   style = "2"
	struck  style = "9;2"
	accent  style = "1;36"
	match   style = "1;35"
	kindOf  style = "36"
	running style = "32"
	resting style = "33"
	bad     style = "31"
)

// The background of the chosen row, once it is known whether the screen is dark.
const (
	onDark  style = "48;5;236"
	onLight style = "48;5;254"
)

// and returns both styles.
func (s style) and(t style) style {
	if s == "" || t == "" {
		return s + t
	}
	return s + ";" + t
}

// of returns text in the style.
func (s style) of(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

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
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	w := ansi.StringWidth(s)
	if w > width {
		s = ansi.Truncate(s, width, "…")
		w = ansi.StringWidth(s)
	}
	return s + strings.Repeat(" ", max(width-w, 0))
}

// right is fit for numbers.
func right(s string, width int) string {
	return strings.Repeat(" ", max(width-ansi.StringWidth(s), 0)) + s
}

// wrap breaks a text into at most most lines of a width.
func wrap(s string, width, most int) []string {
	if width <= 0 || s == "" {
		return nil
	}
	lines := strings.Split(ansi.Wrap(s, width, ""), "\n")
	if len(lines) > most {
		rest := strings.Join(lines[most-1:], " ")
		lines = append(lines[:most-1:most-1], ansi.Truncate(rest, width, "…"))
	}
	return lines
}

// left cuts the beginning of a text that does not fit: the end of a path says more.
func left(s string, width int) string {
	if over := ansi.StringWidth(s) - width; over > 0 {
		return ansi.TruncateLeft(s, over+1, "…")
	}
	return s
}
