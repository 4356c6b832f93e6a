package forge

import (
	"html"
	"strings"

	"cortext/cmd/internal/shown"
	"cortext/schema/clip"
)

// line returns the start of a text on one line.
func line(s string) string {
	const most = 120
	short := strings.Join(strings.Fields(shown.Clean(clip.Head(s, 4*most))), " ")
	if len(short) <= most {
		return short
	}
	return clip.Head(short, most) + "…"
}

// escaped are the characters that inline escapes.
const escaped = "\\`*_{}[]<>#|~!"

// inline returns a text on one line, with Markdown escaped.
func inline(s string) string {
	s = strings.Join(strings.Fields(shown.Clean(s)), " ")
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(escaped, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// text returns a text with HTML escaped. It is also safe in a <summary>, where a forge may
// interpret Markdown.
func text(s string) string { return html.EscapeString(shown.Clean(s)) }

// unescape undoes inline.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte(escaped, s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
