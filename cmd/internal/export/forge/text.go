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

// inline returns a text on one line, with Markdown escaped.
func inline(s string) string {
	s = strings.Join(strings.Fields(shown.Clean(s)), " ")
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>#|~!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// text returns a text with HTML escaped. It is also safe in a <summary>, where a forge may
// interpret Markdown.
func text(s string) string { return html.EscapeString(shown.Clean(s)) }

// contain returns the Markdown of a message so that it cannot affect what follows: tags
// become text, and an open code block is closed.
func contain(s string) string {
	var b strings.Builder
	fence := ""
	for l := range strings.Lines(strings.TrimRight(shown.Clean(s), "\n") + "\n") {
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

// fenceIn returns the fence at the start of a line, or "".
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

// withoutTags turns the tags in a line into text, except in code.
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

// closing returns the index of the n backticks that close a code span, or -1.
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

// isLink reports whether the text after a < is a URL in angle brackets.
func isLink(s string) bool {
	return strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "mailto:")
}
