package secrets

import (
	"strings"

	"cortext/schema/clip"
)

// Titles, descriptions and summaries are shortened copies of what was said: on one line, and
// cut, which a mark shows. A copy that was cut within a text holds a part of it.

const (
	minPart = 8       // length of the shortest part of a text that counts, in bytes
	maxPart = 1 << 10 // and of the longest that is looked for
)

// AndShortened returns a Redactor that also finds shortened copies of the texts that lists
// hold when it is used. r is from [Matching].
func (r *Redactor) AndShortened(lists ...*Found) *Redactor {
	return &Redactor{texts: &texts{names: r.texts.names, find: func(s string, add func(start, end, name int)) {
		r.texts.find(s, add)
		for _, list := range lists {
			list.shortened(s, func(start, end int) { add(start, end, 0) })
		}
	}}}
}

// Merge adds the texts of another list.
func (f *Found) Merge(other *Found) {
	for text := range other.texts {
		f.add(text, 0, len(text))
	}
}

// shortened calls add for each shortened copy of a text in s.
func (f *Found) shortened(s string, add func(start, end int)) {
	if f == nil || len(f.texts) == 0 {
		return
	}
	for text, e := range f.texts {
		if e.line == text {
			continue
		}
		for at := 0; ; { // a text of several lines on one
			i := strings.Index(s[at:], e.line)
			if i < 0 || e.line == "" {
				break
			}
			add(at+i, at+i+len(e.line))
			at += i + len(e.line)
		}
		if first, _, _ := strings.Cut(strings.TrimSpace(text), "\n"); len(first) >= minPart && strings.HasSuffix(s, strings.TrimSpace(first)) {
			add(len(s)-len(strings.TrimSpace(first)), len(s)) // a title is the first line
		}
	}
	for at := 0; ; {
		i := strings.Index(s[at:], clip.Mark)
		if i < 0 {
			return
		}
		before := strings.TrimRight(s[:at+i], " \n")
		at += i + len(clip.Mark)
		after := strings.TrimLeft(s[at:], " \n")
		for _, e := range f.texts {
			if n := headAtEnd(before, e.line); n > 0 {
				add(len(before)-n, len(before))
			}
			if n := tailAtStart(after, e.line); n > 0 {
				add(len(s)-len(after), len(s)-len(after)+n)
			}
		}
	}
}

// headAtEnd returns the length of the longest head of text that s ends with, or 0.
func headAtEnd(s, text string) int {
	for n := min(len(s), len(text), maxPart); n >= minPart; n-- {
		if text[n-1] == s[len(s)-1] && strings.HasSuffix(s, text[:n]) {
			return n
		}
	}
	return 0
}

// tailAtStart returns the length of the longest tail of text that s starts with, or 0.
func tailAtStart(s, text string) int {
	for n := min(len(s), len(text), maxPart); n >= minPart; n-- {
		if text[len(text)-n] == s[0] && strings.HasPrefix(s, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}
