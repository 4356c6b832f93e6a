// Package needle finds the places in JSON bytes where a text may be.
// JSON can spell a text in many ways. A [Needle] looks for one part of the text that needs
// no escape, and for every \u escape and rare letter that may stand for a character of that
// part. It finds every place where decoding would find the text, and maybe more.
package needle

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unsafe"

	"cortext/cmd/internal/find"
	"cortext/schema/jsonl"
)

// A Needle finds places where a text may be. It is safe for concurrent use.
type Needle struct {
	part  []byte // the part of the text that is compared, in lower case if fold
	at    int    // offset of the first pair in it
	fold  bool   // ignore case
	runes []rune // the characters of the part, folded
	whole string // what Part returns
	any   bool   // matches everywhere
	full  []byte // the text, in lower case if fold, if all of it has only one spelling; see longest
	ahead int    // offset of the part in full
	pairs pairs
}

// Any returns a needle that matches everywhere.
func Any() *Needle { return &Needle{any: true} }

// New returns a needle for a text that is valid UTF-8. With fold, texts that differ only
// in case are equal, as [find.FoldRune] says.
func New(text string, fold bool) *Needle {
	n := &Needle{fold: fold}
	if fold {
		text = foldText(text)
	}
	n.whole = n.longest(text, "")
	part := n.longest(text, "sk") // these two also equal letters outside ASCII
	if len(part) < enough {
		part = n.whole
	}
	switch {
	case text == "":
		return Any()
	case part != "":
		n.part = []byte(part)
		n.anchor()
	case !n.oneRune(text):
		return Any()
	}
	for _, r := range part {
		n.runes = append(n.runes, r)
	}
	if n.whole == text {
		n.full, n.ahead = []byte(text), strings.Index(text, part)
	}
	return n
}

// enough is the length in bytes of a part that is rare enough.
const enough = 4

// longest returns the longest part of a text that has only one spelling in JSON, except
// for \u escapes and the case of ASCII letters. If case is ignored, it contains none of
// the letters in without.
func (n *Needle) longest(text, without string) (longest string) {
	from := 0
	for i, r := range text + "\x00" {
		if escaped(r) || r == '/' || n.fold && (r >= utf8.RuneSelf && unicode.SimpleFold(r) != r || strings.ContainsRune(without, r)) {
			if i-from > len(longest) {
				longest = text[from:i]
			}
			from = i + utf8.RuneLen(r)
		}
	}
	return longest
}

// escaped reports whether JSON must escape a character. This includes U+FFFD, because
// damaged text is read as that character.
func escaped(r rune) bool { return r < 0x20 || r == '"' || r == '\\' || r == utf8.RuneError }

// anchor chooses the two bytes of the part to look for.
func (n *Needle) anchor() {
	n.pairs = newPairs()
	p := n.part
	if len(p) == 1 {
		n.pairs.masked(p[0], 0xff, n.fold)
		n.pairs.second, n.pairs.secondMask = 0xff, 0xff // matches any byte
	} else {
		for i := range len(p) - 1 {
			if rarity(p[i])+rarity(p[i+1]) > rarity(p[n.at])+rarity(p[n.at+1]) {
				n.at = i
			}
		}
		n.pairs.masked(p[n.at], p[n.at+1], n.fold)
	}
	if n.fold { // letters of other scripts that equal ASCII letters if case is ignored
		if bytes.IndexByte(p, 's') >= 0 {
			n.pairs.other[1], n.pairs.more = [2]byte{0xC5, 0xBF}, true // ſ
		}
		if bytes.IndexByte(p, 'k') >= 0 {
			n.pairs.other[2], n.pairs.more = [2]byte{0x84, 0xAA}, true // the end of the Kelvin sign
		}
	}
}

// oneRune makes the needle look for the first character of a text if every character has
// several spellings. ok is false if there are too many spellings.
func (n *Needle) oneRune(text string) (ok bool) {
	r, _ := utf8.DecodeRuneInString(text)
	n.pairs = newPairs()
	n.runes = []rune{r}
	spellings := [][2]byte{}
	switch {
	case r == '/':
		n.part = []byte("/")
		n.anchor()
		return true
	case r == utf8.RuneError:
		return false
	case escaped(r):
		if i := strings.IndexByte("\"\\\b\f\n\r\t", byte(r)); i >= 0 {
			spellings = append(spellings, [2]byte{'\\', `"\bfnrt`[i]})
		}
	default:
		for v := r; ; {
			b := utf8.AppendRune(nil, v)
			if len(b) < 2 {
				return false
			}
			spellings = append(spellings, [2]byte{b[0], b[1]})
			if v = unicode.SimpleFold(v); v == r {
				break
			}
		}
	}
	slices.SortFunc(spellings, func(a, b [2]byte) int { return bytes.Compare(a[:], b[:]) })
	spellings = slices.Compact(spellings)
	if len(spellings) > len(n.pairs.other)-1 {
		return false
	}
	n.pairs.more = copy(n.pairs.other[1:], spellings) > 0
	return true
}

// Part returns a part of the text, or "" if there is none. Every line with the text has
// that part, ignoring the case of ASCII letters, unless [Wild] reports true for the line.
func (n *Needle) Part() string { return n.whole }

// Wild reports whether lines may have characters in an unusual spelling: as \u escapes, or
// letters that equal ASCII letters if case is ignored.
func Wild(lines []byte) bool {
	p := newPairs()
	p.other[1], p.other[2], p.more = [2]byte{0xC5, 0xBF}, [2]byte{0x84, 0xAA}, true
	for at := 0; ; at++ {
		i := p.index(lines[at:])
		if i < 0 {
			return false
		}
		at += i
		if lines[at] == '\\' && Escapes(lines[:at]) {
			continue // the text has a backslash and a u, as source code does
		}
		// Searched texts never contain control characters.
		if lines[at] != '\\' || !bytes.HasPrefix(lines[at+2:], []byte("00")) || len(lines) == at+4 || lines[at+4] != '0' && lines[at+4] != '1' {
			return true
		}
	}
}

// Escapes reports whether the backslashes at the end of b escape the next byte.
func Escapes(b []byte) bool {
	i := len(b)
	for i > 0 && b[i-1] == '\\' {
		i--
	}
	return (len(b)-i)%2 == 1
}

// Weight is greater for needles that are likely to be rarer. It is 0 for one that matches
// everywhere.
func (n *Needle) Weight() int {
	if n.any {
		return 0
	}
	return 1 + len(n.part)
}

// Next returns the first place in b, from an offset on, where the text may be, or -1. It
// is within the line that contains the text. b must not end within a line, unless that line is
// not read.
func (n *Needle) Next(b []byte, from int) int {
	if n.any {
		if from >= len(b) {
			return -1
		}
		return from
	}
	for from < len(b) {
		i := n.pairs.index(b[from:])
		if i < 0 {
			return -1
		}
		from += i
		if n.possible(b, from) {
			return from
		}
		from++
	}
	return -1
}

// In reports whether the needle's text may be in a decoded text.
func (n *Needle) In(text string) bool {
	if len(n.part) < 2 { // Next looks for the spellings of JSON, and for a byte that follows
		return true
	}
	return n.Next(unsafe.Slice(unsafe.StringData(text), len(text)), 0) >= 0
}

// Certain reports whether the text is definitely at a place that Next returned. b must
// begin outside an escape.
func (n *Needle) Certain(b []byte, place int) bool {
	start := place - n.at - n.ahead
	if !n.equal(b, start, n.full) {
		return false
	}
	if start > 0 && b[start-1] == '\\' { // the text may begin within an escape
		return false
	}
	for i := max(0, start-5); i < start-1; i++ {
		if b[i] == '\\' && b[i+1] == 'u' {
			return false
		}
	}
	return true
}

// Joined is [jsonl.Joined], but twice as fast.
func Joined(lines []byte) bool {
	p := brackets()
	for at := 0; at < len(lines); at++ {
		i := p.index(lines[at:])
		if i < 0 {
			break
		}
		if at += i; jsonl.JoinedAt(lines, at) {
			return true
		}
	}
	return false
}

// Lines calls line with the bounds of each line of a log, without its newline. It returns false
// if line does, if the last line lacks its newline, or if the log looks [Joined].
func Lines(log []byte, line func(from, to int) bool) bool {
	p := brackets()
	p.first = '\n'
	from := 0
	for at := 0; ; at++ {
		i := p.index(log[at:])
		if i < 0 {
			break
		}
		if at += i; log[at] != '\n' {
			if jsonl.JoinedAt(log, at) {
				return false
			}
			continue
		}
		if !line(from, at) {
			return false
		}
		from = at + 1
	}
	last := len(log) - 1
	return from > last || log[last] == '\n' && line(from, last)
}

// brackets returns the pairs at which [jsonl.JoinedAt] may report true, and NUL.
func brackets() pairs {
	return pairs{secondMask: 0xff, second: 0xff, other: [3][2]byte{{'{', '"'}, {'}', '{'}, {'}', '{'}}, more: true}
}

// possible reports whether the text may be at a place where one of the pairs is.
func (n *Needle) possible(b []byte, i int) bool {
	if b[i] == '\\' && b[i+1] == 'u' && n.spells(b[i+2:]) {
		return true
	}
	if slices.Contains(n.pairs.other[1:], [2]byte{b[i], b[i+1]}) && (b[i] != '\\' || b[i+1] != 'u') {
		return true
	}
	return n.equal(b, i-n.at, n.part)
}

// equal reports whether a text, in lower case if the needle ignores case, is at a place.
func (n *Needle) equal(b []byte, start int, text []byte) bool {
	if len(text) == 0 || start < 0 || len(b)-start < len(text) {
		return false
	}
	b = b[start : start+len(text)]
	if !n.fold {
		return bytes.Equal(b, text)
	}
	for i, c := range b {
		if lower(c) != text[i] {
			return false
		}
	}
	return true
}

// spells reports whether the hex digits of a \u escape may stand for one of the
// characters that are looked for.
func (n *Needle) spells(digits []byte) bool {
	var r rune
	for i := range 4 {
		if i == len(digits) {
			return true
		}
		c := digits[i]
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= lower(c) && lower(c) <= 'f':
			c = lower(c) - 'a' + 10
		default:
			return true // the line is damaged
		}
		r = r<<4 | rune(c)
	}
	if 0xD800 <= r && r < 0xE000 { // half of a character
		return slices.ContainsFunc(n.runes, func(r rune) bool { return r > 0xFFFF })
	}
	if n.fold {
		r = find.FoldRune(r)
	}
	return slices.Contains(n.runes, r)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func foldText(s string) string {
	var dst []byte
	for _, r := range s {
		dst = utf8.AppendRune(dst, find.FoldRune(r))
	}
	return string(dst)
}

// common lists the bytes that occur in conversation logs, most frequent first.
const common = " etnaoirs\"ld\\cu,pm:hfg0._1b/-y2v3w45}{68kT79S()AI=E[]CxRP*NLDM`'OBF#Uj+qzW|HG<>VKYQJ;X$ZN&!?%@~^"

var ranks = func() (r [256]uint8) {
	for i := range r {
		r[i] = 110
	}
	for i := len(common) - 1; i >= 0; i-- {
		r[common[i]] = uint8(i)
	}
	return r
}()

// rarity is greater for bytes that are rarer in logs.
func rarity(c byte) int { return int(ranks[c]) }
