package forge

import (
	"html"
	"strings"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/clip"
)

// plain removes from a text what a reader cannot see: escape sequences, control characters,
// and characters that change the writing direction.
func plain(s string) string {
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

// line returns the beginning of a text on one line.
func line(s string) string {
	const most = 120
	short := strings.Join(strings.Fields(plain(clip.Head(s, 4*most))), " ")
	if len(short) <= most {
		return short
	}
	return clip.Head(short, most) + "…"
}

// inline returns a text on one line that means nothing in Markdown.
func inline(s string) string {
	s = strings.Join(strings.Fields(plain(s)), " ")
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|~!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// text returns a text that means nothing in HTML. It is also safe between the tags of a
// summary, where a forge may read Markdown.
func text(s string) string { return html.EscapeString(plain(s)) }

// contain returns the Markdown of a message so that it ends where it ends: tags become
// text, and a code block that is open at its end is closed.
func contain(s string) string {
	var b strings.Builder
	fence := ""
	for l := range strings.Lines(strings.TrimRight(plain(s), "\n") + "\n") {
		mark := fenceIn(l)
		switch {
		case fence == "" && mark != "":
			fence = mark
			b.WriteString(l)
		case fence != "":
			if mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.Trim(strings.TrimSpace(l), mark[:1]) == "" {
				fence = ""
			}
			b.WriteString(l)
		default:
			b.WriteString(withoutTags(l))
		}
	}
	if fence != "" {
		b.WriteString(fence + "\n")
	}
	return b.String()
}

// fenceIn returns the fence that a line begins with, or "".
func fenceIn(l string) string {
	trimmed := strings.TrimLeft(l, " ")
	if len(l)-len(trimmed) > 3 || trimmed == "" {
		return ""
	}
	n := len(trimmed) - len(strings.TrimLeft(trimmed, trimmed[:1]))
	if (trimmed[0] != '`' && trimmed[0] != '~') || n < 3 || trimmed[0] == '`' && strings.Contains(trimmed[n:], "`") {
		return ""
	}
	return trimmed[:n]
}

// withoutTags makes text of the tags in a line, except in code.
func withoutTags(l string) string {
	if !strings.Contains(l, "<") {
		return l
	}
	var b strings.Builder
	for i := 0; i < len(l); {
		switch {
		case l[i] == '`':
			n := len(l[i:]) - len(strings.TrimLeft(l[i:], "`"))
			end := closing(l[i+n:], n)
			if end < 0 {
				end = 0
			} else {
				end += n
			}
			b.WriteString(l[i : i+n+end])
			i += n + end
		case l[i] == '<' && i+1 < len(l) && (l[i+1] == '/' || l[i+1] == '!' || l[i+1] == '?' || l[i+1]|0x20 >= 'a' && l[i+1]|0x20 <= 'z') && !isLink(l[i+1:]):
			b.WriteString("&lt;")
			i++
		default:
			b.WriteByte(l[i])
			i++
		}
	}
	return b.String()
}

// closing returns where the run of n backticks begins that closes a code span, or -1.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

// isLink reports whether what follows a < is an address in angle brackets.
func isLink(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "mailto:")
}
