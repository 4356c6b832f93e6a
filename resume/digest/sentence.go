package digest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence of a message, with the place it has there.
type sentence struct {
	line
	marker   string // of the list item that it begins: "-", "1", "b"; else ""
	item     bool   // it stands in a list
	heading  bool
	under    string // the mask of the heading above it
	first    bool   // the first of its paragraph or list item
	unclosed bool   // it ends in a colon: what it introduces follows
}

// question reports whether s asks, in the writer's own words.
func (s sentence) question() bool {
	mask := strings.TrimRightFunc(s.mask, func(r rune) bool {
		return r == ' ' || r == ')' || r == '*' || r == '!' || unicode.IsSymbol(r) || unicode.IsMark(r)
	})
	return strings.HasSuffix(mask, "?") || strings.HasSuffix(mask, "？")
}

// maxRead is how much of a message is read: a note is not better for the middle
// of a pasted log.
const maxRead = 64 << 10

// sentences takes the text of a message apart. What is no speech is left out:
// code, quotations of others, tables, logs.
func sentences(content string) []sentence {
	var r reader
	for _, l := range proseLines(content) {
		r.add(l)
	}
	r.flush()
	return r.done
}

// proseLines returns the lines of content that may be speech, "" between
// paragraphs.
func proseLines(content string) []string {
	if len(content) > maxRead {
		content = content[:maxRead/4] + "\n\n" + content[len(content)-maxRead*3/4:]
	}
	var lines []string
	fence := ""
	for l := range strings.Lines(dropBlocks(content)) {
		l = strings.TrimRight(l, " \t\r\n")
		trimmed := strings.TrimLeft(l, " \t")
		if mark := fenceMark(trimmed); fence != "" {
			if strings.HasPrefix(mark, fence) && mark == trimmed {
				fence = ""
			}
			continue
		} else if mark != "" {
			fence = mark
			l = ""
		}
		if noise(trimmed) {
			l = ""
		}
		lines = append(lines, l)
	}
	return lines
}

// fenceMark returns the run of backticks or tildes that opens or closes a block
// of code.
func fenceMark(l string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, c)); n >= 3 && !strings.Contains(l[n:], "`") {
			return l[:n]
		}
	}
	return ""
}

// dropBlocks leaves out what programs put around a prompt: <system-reminder>…,
// <ide_selection>… and their like, which have a hyphen or underscore in their
// names as no HTML has.
func dropBlocks(s string) string {
	var sb strings.Builder
	closed := closings(s)
	at := 0 // what stands before it is done with
	for {
		open := strings.IndexByte(s[at:], '<')
		if open < 0 {
			break
		}
		open += at
		n := open + 1 + tagName(s[open+1:])
		name := s[open+1 : n]
		end := -1
		if strings.ContainsAny(name, "-_") && strings.Trim(name, "-_") == name {
			end = strings.IndexByte(s[n:min(len(s), n+maxBlockTag)], '>')
		}
		if end < 0 {
			sb.WriteString(s[at : open+1])
			at = open + 1
			continue
		}
		sb.WriteString(s[at:open])
		at = n + end + 1
		if last := "</" + name + ">"; closed[name] >= at {
			at += strings.Index(s[at:], last) + len(last)
		}
	}
	sb.WriteString(s[at:])
	return sb.String()
}

// maxBlockTag is the length of the longest tag, behind its name, that may begin
// what a program put around a prompt.
const maxBlockTag = 1 << 10

// closings says where the last </name> of each name stands.
func closings(s string) map[string]int {
	last := map[string]int{}
	for at := 0; ; {
		i := strings.Index(s[at:], "</")
		if i < 0 {
			return last
		}
		at += i + len("</")
		if n := at + tagName(s[at:]); n < len(s) && s[n] == '>' {
			last[s[at:n]] = at - len("</")
		}
	}
}

// tagName is the length of the name that s begins with.
func tagName(s string) int {
	n := 0
	for n < len(s) && (s[n] >= 'a' && s[n] <= 'z' || s[n] == '-' || s[n] == '_') {
		n++
	}
	return n
}

// noise reports whether a line is no prose: output, code, a table, a quotation.
func noise(l string) bool {
	if l == "" {
		return false
	}
	for _, p := range []string{">", "|", "$ ", "% ", "❯", "└", "├", "│", "+++ ", "--- ", "@@ ", "diff --git ", "File \"", "Traceback ", "goroutine ", "[Image", "[Pasted"} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	switch l[len(l)-1] {
	case '{', '}', ';':
		return true
	}
	if strings.HasPrefix(l, "at ") && strings.HasSuffix(l, ")") || stamped(l) {
		return true
	}
	letters, others, long := 0, 0, true
	for _, r := range l {
		switch {
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case r != ' ' && r != '-' && r != '*' && r != '#':
			others++
		}
		long = long && r != ' '
	}
	return letters == 0 && !strings.ContainsAny(l, "?？") && others > 1 || others > letters+3 || long && others > 10
}

// stamped reports whether a line begins with a time or date, as those of logs do.
func stamped(l string) bool {
	l = strings.TrimLeft(l, "[( ")
	if len(l) < 8 {
		return false
	}
	form := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, l[:8])
	return form == "00:00:00" || form[:4] == "0000" && (form[4:] == "-00-" || form[4:] == "/00/") && strings.Contains(l, ":")
}

// reader gathers lines into paragraphs and splits these into sentences.
type reader struct {
	done      []sentence
	paragraph strings.Builder
	last      string // its last line
	marker    string
	item      bool
	heading   string
}

func (r *reader) add(raw string) {
	l := strings.TrimLeft(raw, " \t")
	if l == "" || strings.Trim(l, "-*_= ") == "" {
		r.flush()
		r.item = r.item && l == ""
		return
	}
	if level := len(l) - len(strings.TrimLeft(l, "#")); level > 0 && level <= 6 && level < len(l) && l[level] == ' ' {
		r.flush()
		_, words := listMarker(strings.Trim(l[level:], "# "))
		h := plain(words)
		r.heading = h.mask
		r.item = false
		r.done = append(r.done, sentence{line: h, heading: true, first: true})
		return
	}
	if marker, rest := listMarker(l); marker != "" {
		r.flush()
		r.marker, r.item = marker, true
		r.paragraph.WriteString(rest)
		r.last = rest
		return
	}
	if r.paragraph.Len() > 0 && !continues(r.last, l) {
		r.flush()
	}
	if raw == l {
		r.item = r.item && r.paragraph.Len() > 0
	}
	if r.paragraph.Len() > 0 {
		r.paragraph.WriteByte(' ')
	}
	r.paragraph.WriteString(l)
	r.last = l
}

// fullLine is the length from which a line may have been broken because it was
// full, not because the statement was at its end.
const fullLine = 50

// continues reports whether next goes on with what line began.
func continues(line, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(next)
	return last == ',' || len(line) > fullLine && !unicode.IsUpper(first) && !strings.ContainsRune(".!?:。！？：", last)
}

// listMarker splits a list item into its marker and its text.
func listMarker(l string) (marker, rest string) {
	r, n := utf8.DecodeRuneInString(l)
	switch {
	case strings.ContainsRune("-*+•–▪◦", r):
		rest = l[n:]
		marker = "-"
	case unicode.IsDigit(r) || unicode.IsLetter(r):
		for n < len(l) && l[n] >= '0' && l[n] <= '9' {
			n++
		}
		if n == len(l) || l[n] != '.' && l[n] != ')' || unicode.IsLetter(r) && l[n] != ')' || n > 3 {
			return "", l
		}
		marker, rest = strings.ToLower(l[:n]), l[n+1:]
	}
	if marker == "" || rest == "" || rest[0] != ' ' && rest[0] != '\t' {
		return "", l
	}
	rest = strings.TrimLeft(rest, " \t")
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		rest = strings.TrimPrefix(rest, box)
	}
	return marker, rest
}

func (r *reader) flush() {
	l := plain(r.paragraph.String())
	r.paragraph.Reset()
	skip := len(l.text) - len(strings.TrimLeftFunc(l.text, func(c rune) bool {
		return c == ' ' || c == 0xfe0f || c == 0x200d || unicode.Is(unicode.So, c)
	}))
	l = l.slice(skip, len(l.text))
	first := true
	for l.text != "" {
		end := sentenceEnd(l.mask)
		s := sentence{line: l.slice(0, end), item: r.item, first: first, under: r.heading}
		if first {
			s.marker = r.marker
		}
		s.unclosed = strings.HasSuffix(s.mask, ":") || strings.HasSuffix(s.mask, "：")
		r.done = append(r.done, s)
		l = l.slice(end, len(l.text))
		first = false
	}
	r.marker = ""
}

// sentenceEnd returns where the first sentence of a mask ends.
func sentenceEnd(mask string) int {
	for i, r := range mask {
		after := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			return after
		case '.', '!', '?', '…':
			for after < len(mask) && strings.IndexByte(".!?)\"'", mask[after]) >= 0 {
				after++
			}
			if after == len(mask) || mask[after] == ' ' && !(r == '.' && abbreviated(mask[:i])) {
				return after
			}
		}
	}
	return len(mask)
}

// abbreviated reports whether a full stop after text belongs to its last word.
func abbreviated(text string) bool {
	word := text[strings.LastIndexAny(text, " (")+1:]
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && wordRune(r) && r < 0x2e80 {
		return true // an initial, or the number of a step
	}
	return slices.Contains([]string{"e.g", "i.e", "etc", "vs", "cf", "approx", "resp", "fig", "mr", "mrs", "dr", "st",
		"z.b", "bzw", "d.h", "usw", "ca", "nr", "ggf", "evtl", "inkl", "u.a", "p.ej", "ej", "p.ex"}, word)
}
