package notes

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A sentence of a message, with its position.
type sentence struct {
	text     string
	item     bool // it is in a list
	heading  bool
	question bool // it is a question in the writer's own words
	unclosed bool // it ends with a colon that introduces what follows
}

// sentences splits the text of a message. It skips everything but prose: code,
// quotations of others, tables, logs.
func sentences(content string) []sentence {
	var r splitter
	for _, l := range proseLines(content) {
		r.add(l)
	}
	r.flush()
	return r.done
}

// proseLines returns the lines of content that may be prose, with "" between
// paragraphs.
func proseLines(content string) []string {
	var lines []string
	fence := ""
	for l := range strings.Lines(dropBlocks(headAndTail(content))) {
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
		if isNoise(trimmed) {
			l = ""
		}
		lines = append(lines, l)
	}
	return lines
}

// fenceMark returns the run of backticks or tildes that opens or closes a code block.
func fenceMark(l string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, c)); n >= 3 && !strings.Contains(l[n:], "`") {
			return l[:n]
		}
	}
	return ""
}

// dropBlocks removes the blocks that programs add to a prompt. Of an unclosed block, and of
// a paste, it removes only the tags.
func dropBlocks(s string) string {
	var sb strings.Builder
	open := map[string]bool{} // names of unclosed blocks
	for {
		at := patterns()["blocks"].FindStringSubmatchIndex(s)
		if at == nil {
			return sb.String() + s
		}
		name, begins := s[at[2]:at[3]], at[2] == at[0]+1
		sb.WriteString(s[:at[0]])
		s = s[at[1]:]
		if begins && !open[name] {
			_, rest, ends := strings.Cut(s, "</"+name+">")
			if open[name] = !ends; ends {
				s = rest
			}
		}
	}
}

// isNoise reports whether a line is not prose: output, code, a table, a quotation.
func isNoise(l string) bool {
	if l == "" {
		return false
	}
	if strings.Contains("{};", l[len(l)-1:]) || matches("no prose", l) {
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

// splitter collects lines into paragraphs and splits these into sentences.
type splitter struct {
	done      []sentence
	paragraph strings.Builder
	last      string // its last line
	item      bool
}

func (r *splitter) add(raw string) {
	l := strings.TrimLeft(raw, " \t")
	if l == "" || strings.Trim(l, "-*_= ") == "" {
		r.flush()
		r.item = r.item && l == ""
		return
	}
	if level := len(l) - len(strings.TrimLeft(l, "#")); level > 0 && level <= 6 && level < len(l) && l[level] == ' ' {
		r.flush()
		words, _ := listItem(strings.Trim(l[level:], "# "))
		r.item = false
		r.done = append(r.done, sentence{text: stripMarkup(words), heading: true})
		return
	}
	if rest, ok := listItem(l); ok {
		r.flush()
		r.item = true
		r.paragraph.WriteString(rest)
		r.last = rest
		return
	}
	if r.paragraph.Len() > 0 && !continuesLine(r.last, l) {
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

// fullLine is the least length at which a line may have wrapped because it was full
// rather than because the statement ended.
const fullLine = 50

// continuesLine reports whether next continues line.
func continuesLine(line, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(line)
	first, _ := utf8.DecodeRuneInString(next)
	return last == ',' || len(line) > fullLine && !unicode.IsUpper(first) && !strings.ContainsRune(".!?:。！？：", last)
}

// listItem returns the text of a list item.
func listItem(l string) (text string, ok bool) {
	mark := patterns()["items"].FindString(l)
	return l[len(mark):], mark != ""
}

func (r *splitter) flush() {
	l := strings.TrimLeftFunc(maskMarkup(r.paragraph.String()), func(c rune) bool {
		return c == ' ' || c == 0xfe0f || c == 0x200d || unicode.Is(unicode.So, c)
	})
	r.paragraph.Reset()
	for l != "" {
		end := sentenceEnd(l)
		bare := strings.TrimRightFunc(l[:end], func(c rune) bool {
			return c == ' ' || c == ')' || c == '*' || c == '!' || unicode.IsSymbol(c) || unicode.IsMark(c)
		})
		r.done = append(r.done, sentence{
			text: unmask(strings.Trim(l[:end], " ")), item: r.item,
			question: strings.HasSuffix(bare, "?") || strings.HasSuffix(bare, "？"),
			unclosed: strings.HasSuffix(bare, ":") || strings.HasSuffix(bare, "："),
		})
		l = strings.TrimLeft(l[end:], " ")
	}
}

// sentenceEnd returns the end of the first sentence of a paragraph.
func sentenceEnd(text string) int {
	for i, r := range text {
		after := i + utf8.RuneLen(r)
		switch r {
		case '。', '！', '？':
			return after
		case '.', '!', '?', '…':
			for after < len(text) && strings.IndexByte(".!?)\"'", text[after]) >= 0 {
				after++
			}
			if after == len(text) || text[after] == ' ' && !(r == '.' && abbreviated(text[:i])) {
				return after
			}
		}
	}
	return len(text)
}

// abbreviated reports whether a full stop after text belongs to its last word.
func abbreviated(text string) bool {
	word := text[strings.LastIndexAny(text, " (")+1:]
	if r, n := utf8.DecodeRuneInString(word); n == len(word) && wordRune(r) && r < 0x2e80 {
		return true // an initial, or the number of a step
	}
	return listed("abbreviations", strings.ToLower(word))
}
