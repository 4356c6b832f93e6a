package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Sentence is the sentence around a match, on one line.
type Sentence struct {
	Text    string
	Matches [][2]int // byte ranges of the matches in Text, in order and not overlapping
}

// Parts splits the sentence at its matches: text and matches alternate, and text comes first.
func (e Sentence) Parts() (parts []string) {
	at := 0
	for _, m := range e.Matches {
		parts = append(parts, e.Text[at:m[0]], e.Text[m[0]:m[1]])
		at = m[1]
	}
	return append(parts, e.Text[at:])
}

// around is the maximum number of bytes that a sentence has before and after a match.
const around = 160

// sentence returns the sentence around the first match in a text.
func (q *Query) sentence(text string) Sentence {
	first, end := -1, 0
	for _, t := range q.terms {
		if s, e := t.find(text, 0); s >= 0 && (first < 0 || s < first) {
			first, end = s, e
		}
	}
	if first < 0 {
		return Sentence{}
	}
	from := sentenceStart(text, first)
	to := sentenceEnd(text, min(end, first+around))
	var marks [][2]int
	for _, t := range q.terms {
		for at := from; ; {
			s, e := t.find(text[:min(len(text), to+around)], at)
			if s < 0 || s >= to {
				break
			}
			marks = append(marks, [2]int{s, min(e, to)})
			at = e
		}
	}
	return oneLine(text, from, to, joined(marks))
}

// sentenceStart returns the start of the sentence that contains an offset, or of a word
// shortly before the offset.
func sentenceStart(text string, at int) int {
	from := max(0, at-around)
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	before := text[from:at]
	if i := max(strings.LastIndexByte(before, '\n'), strings.LastIndex(before, ". ")+1, strings.LastIndex(before, "! ")+1, strings.LastIndex(before, "? ")+1); i > 0 || strings.HasPrefix(before, "\n") {
		return from + i + 1
	}
	if i := strings.IndexFunc(before, unicode.IsSpace); from > 0 && i >= 0 {
		return from + i
	}
	return from
}

// sentenceEnd is sentenceStart for the end.
func sentenceEnd(text string, at int) int {
	to := min(len(text), at+around)
	for to < len(text) && to > at && !utf8.RuneStart(text[to]) {
		to--
	}
	for at < to && !utf8.RuneStart(text[at]) {
		at++
	}
	after := text[at:to]
	end := len(after)
	for _, mark := range []string{"\n", ". ", "! ", "? "} {
		if i := strings.Index(after[:end], mark); i >= 0 {
			end = i + len(strings.TrimSpace(mark))
		}
	}
	if i := strings.LastIndexFunc(after, unicode.IsSpace); end == len(after) && to < len(text) && i >= 0 {
		end = i
	}
	return at + end
}

// joined sorts ranges and joins those that overlap.
func joined(marks [][2]int) [][2]int {
	slices.SortFunc(marks, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	list := marks[:0]
	for _, m := range marks {
		if n := len(list); n > 0 && m[0] <= list[n-1][1] {
			list[n-1][1] = max(list[n-1][1], m[1])
		} else {
			list = append(list, m)
		}
	}
	return list
}

// oneLine returns a part of a text with white space collapsed to single spaces, and dots
// where the text continues on the same line.
func oneLine(text string, from, to int, marks [][2]int) Sentence {
	var sb strings.Builder
	var e Sentence
	if from > 0 && !strings.HasSuffix(strings.TrimRight(text[:from], " "), "\n") {
		sb.WriteString("…")
	}
	space := false
	for i := from; i < to; {
		if len(marks) > 0 && i == marks[0][0] {
			if space && sb.Len() > 0 {
				sb.WriteByte(' ')
			}
			space = false
			e.Matches = append(e.Matches, [2]int{sb.Len(), 0})
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			space = true
		} else {
			if space && sb.Len() > 0 {
				sb.WriteByte(' ')
			}
			space = false
			if r == utf8.RuneError {
				sb.WriteRune(r) // text cut within a character
			} else {
				sb.WriteString(text[i : i+n])
			}
		}
		i += n
		if len(marks) > 0 && i >= marks[0][1] {
			last := len(e.Matches) - 1
			if e.Matches[last][1] = sb.Len(); e.Matches[last][0] == sb.Len() {
				e.Matches = e.Matches[:last] // only white space
			}
			marks = marks[1:]
		}
	}
	if rest := strings.TrimLeft(text[to:], " "); rest != "" && rest[0] != '\n' {
		sb.WriteString("…")
	}
	e.Text = sb.String()
	return e
}
