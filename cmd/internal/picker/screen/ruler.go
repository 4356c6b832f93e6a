package screen

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cortext/cmd/internal/shown"
)

// A ruler measures text in terminal columns. Terminals differ in the width of joined emoji:
// those with mode 2027 treat a joined sequence as one character.
type ruler ansi.Method

func (u ruler) width(s string) int { return ansi.Method(u).StringWidth(s) }

// mostText is how many characters of a text are examined for a line. A line holds fewer,
// but a text may have thousands of marks that occupy no column.
const mostText = 1000

// clean makes text from files safe to draw on a line.
func clean(s string) string {
	if len(s) > mostText {
		s = shown.Cut(s, mostText)
	}
	return apart(shown.Line(s))
}

// apart replaces characters whose width differs between terminals: it splits joined emoji, since some
// draw a family in two columns and others in six, makes one character of the parts of a
// Korean syllable, and removes soft hyphens and modifiers of width and skin colour.
func apart(s string) string {
	if !strings.ContainsFunc(s, unsteady) {
		return s
	}
	var list []rune
	for _, r := range s {
		before := rune(0)
		if len(list) > 0 {
			before = list[len(list)-1]
		}
		syllable, ok := syllableOf(before, r)
		switch {
		case ok:
			list[len(list)-1] = syllable
		case !joins(r), r == zeroWidthJoiner && before < firstEmoji:
			list = append(list, r)
		}
	}
	return string(list)
}

const (
	softHyphen      = 0xad
	zeroWidthJoiner = 0x200d
	emojiStyle      = 0xfe0f
	firstEmoji      = 0x2190 // symbols start here
)

func joins(r rune) bool {
	return r == softHyphen || r == zeroWidthJoiner || r == emojiStyle || 0x1f3fb <= r && r <= 0x1f3ff
}

func unsteady(r rune) bool { return joins(r) || firstVowel <= r && r < firstEnd+ends }

// Korean syllables, in the order of Unicode: by the consonant that they begin with, then by
// vowel, then by the consonants that they end with.
const (
	firstSyllable = 0xac00
	syllables     = 19 * vowels * ends

	firstBegin = 0x1100
	firstVowel = 0x1161
	vowels     = 21
	firstEnd   = 0x11a7 // stands for no consonant
	ends       = 28
)

// syllableOf joins a part of a Korean syllable to what is before it. macOS writes the names of
// files in parts.
func syllableOf(before, part rune) (rune, bool) {
	begin, vowel, end, at := before-firstBegin, part-firstVowel, part-firstEnd, before-firstSyllable
	switch {
	case 0 <= begin && begin < 19 && 0 <= vowel && vowel < vowels:
		return firstSyllable + (begin*vowels+vowel)*ends, true
	case 0 < end && end < ends && 0 <= at && at < syllables && at%ends == 0:
		return before + end, true
	}
	return 0, false
}

// fit cuts or pads a clean text to a width.
func (u ruler) fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	w := u.width(s)
	if w > width {
		s = u.cut(s, width)
		w = u.width(s)
	}
	return s + strings.Repeat(" ", max(width-w, 0))
}

// cut cuts a clean text that does not fit. The cutter and the ruler of x/ansi disagree
// about some characters.
func (u ruler) cut(s string, width int) string {
	for most := width; ; most-- {
		if cut := ansi.Method(u).Truncate(s, most, "…"); u.width(cut) <= width || most == 0 {
			return cut
		}
	}
}

// right is like fit, but aligns to the right, for numbers.
func (u ruler) right(s string, width int) string {
	return strings.Repeat(" ", max(width-u.width(s), 0)) + s
}

// wrap breaks a text into up to most lines of the given width.
func (u ruler) wrap(s string, width, most int) []string {
	if width <= 0 || s == "" {
		return nil
	}
	lines := strings.Split(ansi.Method(u).Wrap(s, width, ""), "\n")
	if len(lines) > most {
		rest := lines[most-1]
		for _, line := range lines[most:] {
			if !strings.HasSuffix(rest, "-") {
				rest += " "
			}
			rest += line
		}
		lines = append(lines[:most-1:most-1], u.cut(rest, width))
	}
	return lines
}

// left cuts the start of a text that does not fit, because the end of a path says more.
func (u ruler) left(s string, width int) string {
	if over := u.width(s) - width; over > 0 {
		return ansi.Method(u).TruncateLeft(s, over+1, "…")
	}
	return s
}

// A style is the parameters of an SGR sequence. All but the background of the chosen row
// use the 16 colours of the user's theme, which are readable on light and dark backgrounds.
type style string

const (
	plain   style = ""
	strong  style = "1"
	faint   style = "2"
	struck  style = "9;2"
	accent  style = "1;36"
	match   style = "4;35"
	kindOf  style = "36"
	running style = "32"
	resting style = "33"
	bad     style = "31"
)

// The background of the chosen row, used once the picker knows whether the screen is dark.
const (
	onDark  style = "48;5;236"
	onLight style = "48;5;254"
)

// and combines two styles.
func (s style) and(t style) style {
	if s == "" || t == "" {
		return s + t
	}
	return s + ";" + t
}

// of returns text drawn in the style.
func (s style) of(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}
