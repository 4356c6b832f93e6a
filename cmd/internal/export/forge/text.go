package forge

import (
	"html"
	"iter"
	"regexp"
	"strings"

	"cortext/cmd/internal/shown"
	"cortext/schema/clip"
)

// mostWords is the maximum number of bytes of a text shown on the line of a folded part.
const mostWords = 120

// line returns the start of a text on one line.
func line(s string) string { return start(s, mostWords) }

// start returns the start of a text, up to most bytes, on one line.
func start(s string, most int) string {
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

// A place is where a text is. It decides which lines of the text look like ours.
type place int

const (
	inMessage place = iota
	inHead
)

// ours returns the pattern of lines that look like ours, even after backslashes.
func (p place) ours() *regexp.Regexp {
	if p == inHead {
		return patterns().oursInHead
	}
	return patterns().oursInMessage
}

// escape returns where a backslash goes in a line that looks like ours, or that defines a link
// or a footnote for the whole text; otherwise -1.
func (p place) escape(l string) int {
	for _, pattern := range []*regexp.Regexp{p.ours(), patterns().definition} {
		if m := pattern.FindStringSubmatchIndex(l); m != nil {
			return m[3] // the end of what precedes it
		}
	}
	return -1
}

// contain returns the Markdown of a text so that it cannot affect what follows, and so that
// release can undo it: tags become text, a backslash precedes what looks like a line of ours or
// defines something for the whole text, and an open code block is closed. A text whose code
// blocks two readers of Markdown may see in different places is shown as typed, in a code block
// of its own.
func contain(s string, in place) string {
	s = shown.Clean(s)
	if !plain(s) || isTyped(s) {
		fence := fenceFor(s)
		return fence + typed + "\n" + s + "\n" + fence + "\n"
	}
	var b strings.Builder
	var last textLine
	for l := range textLines(s) {
		last = l
		switch {
		case l.in != "":
			b.WriteString(l.text)
		default:
			text := addBackslashes(l.text, l.open)
			at := in.escape(l.text)
			b.WriteString(text[:max(at, 0)])
			if at >= 0 {
				b.WriteByte('\\')
			}
			b.WriteString(text[max(at, 0):])
		}
		b.WriteByte('\n')
	}
	out := b.String()
	switch n := len(last.in); {
	case n > 0 && !last.closes: // open: closed by a fence that is longer by one, so that release knows it
		out += last.in + last.in[:1] + "\n"
	case n > 0 && last.fence > n:
		at := len(out) - 1 - len(strings.TrimLeft(last.text, " "))
		out = out[:at] + last.in[:1] + out[at:]
	}
	return out
}

// release undoes contain. The lines have no line endings.
func release(lines []string, in place) string {
	s := strings.Join(lines, "\n")
	if isTyped(s) {
		return strings.Join(lines[1:len(lines)-1], "\n")
	}
	var out []string
	var last textLine
	for l := range textLines(s) {
		last = l
		text := l.text
		if l.in == "" {
			if at := in.escape(text); at >= 0 {
				text = text[:at] + strings.TrimPrefix(text[at:], `\`)
			}
			text = removeBackslashes(text, l.open)
		}
		out = append(out, text)
	}
	if n := len(last.in); n > 0 && last.closes && last.fence > n {
		if last.fence == n+1 {
			out = out[:len(out)-1]
		} else {
			out[len(out)-1] = strings.Replace(last.text, last.in[:1], "", 1)
		}
	}
	return strings.Join(out, "\n")
}

// typed is the language of a code block that shows a text as it was typed.
const typed = "markdown"

// isTyped reports whether a text is a code block that shows a text as it was typed.
func isTyped(s string) bool {
	first, rest, ok := strings.Cut(s, "\n")
	fence, isOne := strings.CutSuffix(first, typed)
	if !ok || !isOne || fenceIn(fence) != fence || fence == "" || fence[0] != '`' {
		return false
	}
	body, ok := strings.CutSuffix(rest, "\n"+fence)
	return ok && !strings.Contains(body, fence)
}

// A textLine is a line of a text.
type textLine struct {
	text   string // without its line ending
	in     string // the fence of the code block that the line is in, begins or ends; empty: none
	opens  bool   // it begins the code block
	closes bool   // it ends the code block
	fence  int    // length of its fence, if it is one
	open   bool   // a code span of an earlier line may continue in it
}

// textLines iterates over the lines of a text.
func textLines(s string) iter.Seq[textLine] {
	return func(yield func(textLine) bool) {
		fence, open := "", false
		for text := range strings.SplitSeq(s, "\n") {
			mark := fenceIn(text)
			l := textLine{text: text, in: fence, fence: len(mark), open: open}
			switch {
			case fence != "":
				l.closes = ends(text, fence)
			case mark != "":
				fence = mark
				l.in, l.opens = mark, true
			case isBlank(text):
				open = false
			default:
				_, open = tags(text, open)
			}
			if !yield(l) {
				return
			}
			if l.closes {
				fence, open = "", false
			}
		}
	}
}

// ends reports whether a line ends the code block that a fence begins.
func ends(l, fence string) bool {
	mark := fenceIn(l)
	return mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.Trim(strings.Trim(l, " \t"), mark[:1]) == ""
}

// isBlank reports whether Markdown considers a line blank: it has only spaces and tabs, and no
// other white space.
func isBlank(l string) bool { return strings.Trim(l, " \t") == "" }

// plain reports whether every reader of Markdown sees the code blocks of a text where
// textLines does. In doubt it reports false.
func plain(s string) bool {
	contained, indent := false, 0
	for l := range textLines(s) {
		spaces := len(l.text) - len(strings.TrimLeft(l.text, " "))
		switch {
		case l.in == "":
			indent = 0
			contained = contained || patterns().container.MatchString(l.text)
			if patterns().looseBackslash.MatchString(l.text) {
				return false
			}
			continue
		case l.opens && spaces > 0: // in a list perhaps
			indent = spaces
			if contained {
				return false
			}
		case indent > 0 && !isBlank(l.text) && spaces < indent:
			return false
		case indent > 0 && spaces > 3 && ends(strings.TrimLeft(l.text, " "), l.in):
			return false
		}
		if l.closes {
			indent = 0
		}
	}
	return indent == 0
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

// addBackslashes escapes the tags in a line, so that they are plain text: n backslashes
// before a tag become 2n+1.
func addBackslashes(l string, open bool) string {
	at, _ := tags(l, open)
	var b strings.Builder
	from := 0
	for _, i := range at {
		n := backslashes(l[from:i])
		b.WriteString(l[from:i])
		b.WriteString(strings.Repeat(`\`, n+1))
		from = i
	}
	b.WriteString(l[from:])
	return b.String()
}

// removeBackslashes undoes addBackslashes. It keeps tags that somebody else wrote.
func removeBackslashes(l string, open bool) string {
	at, _ := tags(l, open)
	var b strings.Builder
	from := 0
	for _, i := range at {
		n := backslashes(l[from:i])
		b.WriteString(l[from : i-(n+1)/2*(n%2)])
		from = i
	}
	b.WriteString(l[from:])
	return b.String()
}

// backslashes returns the number of backslashes at the end of a text.
func backslashes(s string) int { return len(s) - len(strings.TrimRight(s, `\`)) }

// tags returns the indexes of each < in a line that begins a tag outside code. open says
// whether a code span of an earlier line may continue; the result says so for the next line.
// Backslashes before a < make no difference.
func tags(l string, open bool) (at []int, _ bool) {
	for i := 0; i < len(l); {
		switch {
		case l[i] == '`':
			n := len(l[i:]) - len(strings.TrimLeft(l[i:], "`"))
			if i += n; open {
				continue
			}
			span := closing(l[i:], n)
			// an escaped backtick begins no code span, and a cell of a table ends one
			if open = span < 0 || i > n && l[i-n-1] == '\\' || strings.Contains(l[i:i+span], "|"); !open {
				i += span + n
			}
		case l[i] == '<' && i+1 < len(l) && (l[i+1] == '/' || l[i+1] == '!' || l[i+1] == '?' || l[i+1]|0x20 >= 'a' && l[i+1]|0x20 <= 'z') && !isLink(l[i+1:]):
			at = append(at, i)
			i++
		default:
			i++
		}
	}
	return at, open
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
	at := strings.IndexAny(s, "> \t<`\\")
	return at >= 0 && s[at] == '>' && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "mailto:"))
}
