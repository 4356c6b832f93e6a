package digest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain takes the markup and what a terminal would obey out of s, which holds no
// newline that matters, and makes runs of white space one space.
func plain(s string) string { return shown().Replace(marked(s)) }

// marked is the same, but for the signs in code and quotations, which stand for others
// as long as sentences are sought: no sentence ends within them.
func marked(s string) string {
	p := plainer{src: strings.ToValidUTF8(s, "\uFFFD"), text: make([]byte, 0, len(s))}
	for p.at < len(p.src) {
		p.step()
	}
	return strings.Trim(string(p.text), " ")
}

// hiding puts private characters in the place of those that may end a sentence, and
// shown puts those back.
func hiding() *strings.Replacer {
	return strings.NewReplacer(" ", "\uE000", ".", "\uE001", "!", "\uE002", "?", "\uE003", "…", "\uE004", "。", "\uE005", "！", "\uE006", "？", "\uE007", ":", "\uE008", "：", "\uE009")
}

func shown() *strings.Replacer {
	return strings.NewReplacer("\uE000", " ", "\uE001", ".", "\uE002", "!", "\uE003", "?", "\uE004", "…", "\uE005", "。", "\uE006", "！", "\uE007", "？", "\uE008", ":", "\uE009", "：")
}

type plainer struct {
	src    string
	at     int
	text   []byte
	italic bool // after a mark that another one closes
}

func (p *plainer) step() {
	rest := p.src[p.at:]
	r, n := utf8.DecodeRuneInString(rest)
	switch {
	case r == '`':
		p.code(rest)
	case r == '"' || r == '“' || r == '„' || r == '«' || r == '「':
		p.quotation(rest, r, n)
	case r == '!' && strings.HasPrefix(rest, "!["):
		if _, end, ok := link(rest[1:]); ok {
			p.at += 1 + end
			return
		}
		p.put(r)
	case r == '[':
		if words, end, ok := link(rest); ok {
			p.text = append(p.text, marked(words)...)
			p.at += end
			return
		}
		p.put(r)
	case r == '*' || r == '_' || r == '~':
		p.emphasis(rest, byte(r))
	case r == '<':
		if t := tagIn(rest[:min(len(rest), maxTag)]); t != "" {
			p.at += len(t)
			p.space()
			return
		}
		p.put(r)
	case r == '\x1b':
		p.at += escapeLen(rest)
	case r == '’' || r == '‘':
		p.at += n - 1
		p.put('\'')
	case unicode.IsSpace(r) || unicode.IsControl(r):
		p.at += n
		p.space()
	case invisible(r) || r >= 0xE000 && r <= 0xE009:
		p.at += n
	default:
		p.at += n - 1
		p.put(r)
	}
}

// put adds r, the last byte of which is at p.at.
func (p *plainer) put(r rune) {
	p.at++
	p.text = utf8.AppendRune(p.text, r)
}

func (p *plainer) space() {
	if len(p.text) > 0 && p.text[len(p.text)-1] != ' ' {
		p.text = append(p.text, ' ')
	}
}

// foreign adds s as something that is not the writer's own word.
func (p *plainer) foreign(s string) {
	p.text = append(p.text, hiding().Replace(oneLine(s))...)
}

func (p *plainer) code(rest string) {
	ticks := len(rest) - len(strings.TrimLeft(rest, "`"))
	p.at += ticks
	if inner, _, ok := strings.Cut(rest[ticks:], rest[:ticks]); ok {
		p.foreign(inner)
		p.at += len(inner) + ticks
	}
}

// maxQuotation is how far apart two marks may be to enclose a quotation.
const maxQuotation = 400

func (p *plainer) quotation(rest string, open rune, n int) {
	closing := map[rune]string{'"': `"`, '“': "”", '„': "“”", '«': "»", '「': "」"}[open]
	end := strings.IndexAny(rest[n:min(len(rest), n+maxQuotation)], closing)
	if end < 0 {
		p.at += n - 1
		p.put(open)
		return
	}
	_, last := utf8.DecodeRuneInString(rest[n+end:])
	// The inner text loses its markup as any other.
	p.foreign(rest[:n] + plain(rest[n:n+end]) + rest[n+end:n+end+last])
	p.at += n + end + last
}

// emphasis leaves out marks that make text bold, italic or struck, and keeps
// those that multiply or are part of a name.
func (p *plainer) emphasis(rest string, mark byte) {
	n := len(rest) - len(strings.TrimLeft(rest, string(rune(mark))))
	before, _ := utf8.DecodeLastRune(p.text)
	after, _ := utf8.DecodeRuneInString(rest[n:])
	inWord := len(p.text) > 0 && wordRune(before) && wordRune(after)
	alone := (len(p.text) == 0 || before == ' ') && (n == len(rest) || after == ' ')
	keep := alone || mark == '~' && n != 2 || inWord && (mark == '_' || n == 1)
	if mark == '_' && !keep { // names may begin and end in it
		closes := p.italic
		p.italic = !closes && strings.IndexByte(rest[n:], '_') >= 0
		keep = !closes && !p.italic
	}
	for range n {
		if keep {
			p.put(rune(mark))
		} else {
			p.at++
		}
	}
}

// maxLink is the length of the longest link that is read as one.
const maxLink = 4 << 10

// link reads [words](address) at the start of s.
func link(s string) (words string, end int, ok bool) {
	s = s[:min(len(s), maxLink)]
	middle := strings.Index(s, "](")
	if middle < 0 || strings.ContainsAny(s[1:middle], "[]") {
		return "", 0, false
	}
	address := strings.IndexByte(s[middle:], ')')
	if address < 0 || strings.ContainsAny(s[middle:middle+address], " \n") {
		return "", 0, false
	}
	return s[1:middle], middle + address + 1, true
}

// tag is an HTML tag that is written in Markdown, or one that closes; <string> may be meant
// as it stands.
var tag = regexp.MustCompile(`(?i)^<(/[^ >]+|(a|b|br|code|details|div|em|h[1-3r]|i|img|kbd|li|ol|p|pre|s|span|strong|su[bp]|summary|table|t[dhr]|u|ul|!--)( [^>]*)?/?)>`)

// maxTag is the length of the longest tag that is read as one.
const maxTag = 200

// tagIn is the tag at the start of s, "" if there is none.
func tagIn(s string) string {
	if strings.IndexByte(s, '>') < 0 {
		return ""
	}
	return tag.FindString(s)
}

// escape is what a terminal obeys.
var escape = regexp.MustCompile(`^\x1b(\[[^@-~]*[@-~]?|\][^\x07\x1b]*[\x07\x1b]?|[^\[\]]?)`)

// escapeLen returns the length of the terminal escape at the start of s.
func escapeLen(s string) int { return max(len(escape.FindString(s)), 1) }

// invisible reports whether r shows nothing, or turns the text around it; the
// joiners inside emoji and Indic words are not among them.
func invisible(r rune) bool {
	return r == 0x200b || r == 0x200e || r == 0x200f || r == 0xfeff || r == 0xad || r == 0x61c || r == 0x180e ||
		r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2069 || r >= 0xe0000 && r <= 0xe007f
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// cut shortens s to at most n runes, at the end of a word where there is one
// near, and marks that with an ellipsis.
func cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	end, runes := 0, 0
	for i := range s {
		if runes == n-1 {
			end = i
			break
		}
		runes++
	}
	if at := strings.LastIndexByte(s[:end+1], ' '); at > end/2 {
		end = at
	}
	// No mark or joiner is cut from what it belongs to.
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
