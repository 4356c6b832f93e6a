package summary

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence of a text, on one line.
type sentence struct {
	text    string
	message int  // the message that it stands in
	par     int  // the paragraph that it stands in, from 0
	first   bool // of its paragraph
	last    bool
	item    bool // of an item of a list
	heading bool
}

// sentences takes a text apart. Code in a fence and tables are no sentences; an item
// of a list and a heading are paragraphs.
func sentences(text string) []sentence {
	var all []sentence
	par := 0
	var lines []string
	flush := func() {
		from := len(all)
		for rest := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); rest != ""; {
			n := sentenceEnd(rest)
			if s := strings.TrimSpace(rest[:n]); s != "" {
				all = append(all, sentence{text: s, par: par})
			}
			rest = strings.TrimLeft(rest[n:], " ")
		}
		if len(all) > from {
			all[from].first, all[len(all)-1].last = true, true
			for i := range all[from:] {
				all[from+i].item, all[from+i].heading = item(lines[0]), heading(lines)
			}
			par++
		}
		lines = lines[:0]
	}
	for l := range strings.Lines(withoutCode(text)) {
		l = strings.TrimSpace(l)
		if l == "" || strings.HasPrefix(l, "|") || strings.Trim(l, "-*_= ") == "" {
			flush()
			continue
		}
		alone := strings.HasPrefix(l, "#")
		if alone || item(l) {
			flush()
		}
		lines = append(lines, l)
		if alone {
			flush()
		}
	}
	flush()
	return all
}

// heading reports whether a paragraph is one: marked so, or a line all in bold.
func heading(lines []string) bool {
	l := strings.TrimRight(lines[0], ": ")
	bold := strings.HasPrefix(l, "**") && strings.HasSuffix(l, "**") && strings.Count(l, "**") == 2
	return strings.HasPrefix(l, "#") || bold && len(lines) == 1
}

// withoutCode leaves out the blocks of code that are closed.
func withoutCode(text string) string {
	lines := slices.Collect(strings.Lines(text))
	closing := map[string]int{} // by fence, the last line that may close one
	marks := make([]string, len(lines))
	for i, l := range lines {
		marks[i] = fenceMark(strings.TrimSpace(l))
		if marks[i] != "" && marks[i] == strings.TrimSpace(l) {
			closing[marks[i]] = i
		}
	}
	var b strings.Builder
	open := ""
	for i, l := range lines {
		switch {
		case open != "":
			if marks[i] == open && strings.TrimSpace(l) == open {
				open = ""
			}
		case marks[i] != "" && closing[marks[i]] > i:
			open = marks[i]
			b.WriteString("\n")
		default:
			b.WriteString(l)
		}
	}
	return b.String()
}

// fenceMark returns the run of backticks or tildes that opens or closes a block of
// code.
func fenceMark(l string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, c)); n >= 3 && !strings.Contains(l[n:], c) {
			return l[:n]
		}
	}
	return ""
}

// item reports whether a line begins an item of a list.
func item(l string) bool {
	r, n := utf8.DecodeRuneInString(l)
	switch {
	case strings.ContainsRune("-*+•–", r):
	case r >= '0' && r <= '9':
		for n < len(l) && l[n] >= '0' && l[n] <= '9' {
			n++
		}
		if n > 3 || n == len(l) || l[n] != '.' && l[n] != ')' {
			return false
		}
		n++
	default:
		return false
	}
	return n < len(l) && l[n] == ' '
}

// ends are the characters that end a sentence, closers those that may follow them.
const (
	ends    = ".!?…。！？"
	closers = ")]\"'”’»*_`」』）"
)

// sentenceEnd returns where the first sentence of s ends, which has one space between
// any two words.
func sentenceEnd(s string) int {
	code := false // between backticks
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		after := i + n
		if r == '`' {
			code = !code && strings.Contains(s[after:], "`")
		}
		if code || !strings.ContainsRune(ends, r) {
			i = after
			continue
		}
		for after < len(s) {
			next, n := utf8.DecodeRuneInString(s[after:])
			if !strings.ContainsRune(ends, next) && !strings.ContainsRune(closers, next) {
				break
			}
			after += n
		}
		wide := r == '。' || r == '！' || r == '？'
		if after == len(s) || wide || s[after] == ' ' && !(r == '.' && abbreviated(s[:i], s[after+1:])) {
			return after
		}
		i = after
	}
	return len(s)
}

// abbreviated reports whether a full stop between before and after belongs to the
// last word of before: an abbreviation, an initial, the number of a list's item.
func abbreviated(before, after string) bool {
	at := strings.LastIndexAny(before, " (")
	word := strings.ToLower(before[at+1:])
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && unicode.IsLetter(r) && r < 0x2e80 {
		return true
	}
	if at < 0 && len(word) <= 3 && strings.Trim(word, "0123456789") == "" {
		return true
	}
	if slices.Contains([]string{"e.g", "i.e", "approx", "mr", "mrs", "dr", "z.b", "d.h", "p.ej", "p.ex"}, word) {
		return true
	}
	// A short word and a small letter after it: "incl. tests", "vs. gin".
	r, _ := utf8.DecodeRuneInString(after)
	return len(word) <= 4 && unicode.IsLower(r)
}

// endsSentence reports whether the last sentence of s is whole. A picture may follow
// it, as some models put one.
func endsSentence(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool { return unicode.Is(unicode.So, r) || unicode.IsMark(r) || r == ' ' })
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, closers))
	return r != utf8.RuneError && strings.ContainsRune(ends, r)
}
