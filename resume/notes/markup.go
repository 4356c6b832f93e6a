package notes

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
)

// stripMarkup removes markup and what a terminal would interpret from s, which has no
// significant newlines, and collapses white space.
func stripMarkup(s string) string { return unmask(maskMarkup(s)) }

// straight replaces curved apostrophes.
var straight = strings.NewReplacer("’", "'", "‘", "'")

// maskMarkup does the same as stripMarkup, but hides punctuation in code and
// quotations, so that no sentence ends there.
func maskMarkup(s string) string {
	s = " " + straight.Replace(oneLine(s))
	for _, m := range markup() {
		if !strings.Contains(s, m.sign) {
			continue
		}
		s = m.pattern.ReplaceAllStringFunc(s, func(match string) string { return m.shown(m.pattern.FindStringSubmatch(match)) })
	}
	return strings.Join(strings.Fields(s), " ")
}

// maxQuotation is the largest distance between two marks that enclose a quotation.
const maxQuotation = 400

// A markupRule is a piece of markup.
type markupRule struct {
	sign    string // contained in every match
	pattern *regexp.Regexp
	shown   func(groups []string) string // returns the text that remains
}

// markup is Markdown, as people and agents write it on one line, and quotations.
var markup = sync.OnceValue(func() []markupRule {
	inner := func(groups []string) string { return strings.Join(groups[1:], "") }
	quoted := func(groups []string) string {
		if len(groups[0]) > maxQuotation {
			return groups[0]
		}
		return mask(groups[0])
	}
	return []markupRule{
		{"`", regexp.MustCompile("``+.*?``+|`[^`]*`?"), func(groups []string) string { return mask(strings.Trim(groups[0], "`")) }},
		{"](", regexp.MustCompile(`!\[[^\[\]]*\]\([^() ]*\)|\[([^\[\]]*)\]\([^() ]*\)`), inner},
		{"**", regexp.MustCompile(`\*\*+([^* ].*?)\*\*+`), inner},
		{"~~", regexp.MustCompile(`~~([^~]+)~~`), inner},
		{" __", regexp.MustCompile(`( )__([^_].*?)__\b`), inner}, // names may contain these signs
		{" _", regexp.MustCompile(`( )_([^_ ][^_]*?)_\b`), inner},
		{"*", regexp.MustCompile(`\B\*([^* ][^*]*)\*\B`), inner}, // but not 2*3
		// <string> may be literal text.
		{">", regexp.MustCompile(`(?i)<(?:/[^ >]+|(?:a|b|br|code|details|div|em|h[1-3r]|i|img|kbd|li|ol|p|pre|s|span|strong|su[bp]|summary|table|t[dhr]|u|ul|!--)(?: [^<>]*)?/?)>`), func([]string) string { return " " }},
		{`"`, regexp.MustCompile(`"[^"]*"`), quoted},
		{"“", regexp.MustCompile(`“[^”]*”|„[^“]*“`), quoted},
		{"«", regexp.MustCompile(`«[^»]*»`), quoted},
		{"「", regexp.MustCompile(`「[^」]*」`), quoted},
	}
})

// maskAt is the first private-use character that replaces a sign.
const maskAt = 0xf0000

// mask replaces signs and spaces with private-use characters.
func mask(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0xf000 && (r == ' ' || unicode.IsPunct(r) || unicode.IsSymbol(r)) {
			r += maskAt
		}
		return r
	}, s)
}

// unmask restores what [mask] replaced.
func unmask(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= maskAt {
			r -= maskAt
		}
		return r
	}, s)
}

// oneLine turns s into one line that is safe for a terminal. Markup stays.
func oneLine(s string) string {
	if isPlain(s) {
		return s
	}
	s = schema.WithoutEscapes(strings.ToValidUTF8(s, "\uFFFD"))
	var line strings.Builder
	line.Grow(len(s))
	gap := false // before the next character
	for _, r := range s {
		switch {
		case r > ' ' && r < 0x7f:
		case unicode.IsSpace(r) || unicode.IsControl(r):
			gap = line.Len() > 0
			continue
		case invisible(r):
			continue
		}
		if gap {
			line.WriteByte(' ')
			gap = false
		}
		line.WriteRune(r)
	}
	return line.String()
}

// isPlain reports whether s is words of ASCII with one space between two of them.
func isPlain(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c >= 0x7f || c == ' ' && last == ' ' {
			return false
		}
		last = c
	}
	return last != ' '
}

// invisible reports whether r displays nothing, changes the direction of text, or is
// private to [mask]. The joiners in emoji and Indic words do not count.
func invisible(r rune) bool {
	return r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff || r == 0xad || r == 0x61c || r == 0x180e ||
		r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f || r >= maskAt
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// cut shortens s to at most n runes, at a word end if one is near, and adds an
// ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	end := len(string([]rune(s)[:n-1]))
	if at := strings.LastIndexByte(s[:end+1], ' '); at > end/2 {
		end = at
	}
	// Do not separate a mark or joiner from its character.
	for end > 0 {
		r, _ := utf8.DecodeRuneInString(s[end:])
		last, size := utf8.DecodeLastRuneInString(s[:end])
		if !unicode.IsMark(r) && r != 0x200d && last != 0x200d && (r < 0x1f3fb || r > 0x1f3ff) {
			break
		}
		end -= size
	}
	return strings.TrimRightFunc(s[:end], func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:.-–—(/、，。：；（", r)
	}) + "…"
}
