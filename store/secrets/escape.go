package secrets

import (
	"errors"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A view is a text with its escape sequences decoded. It knows where each of them was.
type view struct {
	text  string
	units []unit
}

// A unit is an escape sequence: source[srcStart:srcEnd] became text[start:end].
type unit struct {
	srcStart, srcEnd int
	start, end       int
}

// source returns the part of the source that became v.text[start:end]. It includes escape
// sequences at its edges entirely.
func (v *view) source(start, end int) (srcStart, srcEnd int) {
	srcStart, srcEnd = start, end
	if i := v.before(start + 1); i >= 0 {
		u := &v.units[i]
		if srcStart = u.srcEnd + start - u.end; start < u.end {
			srcStart = u.srcStart
		}
	}
	if i := v.before(end); i >= 0 {
		u := &v.units[i]
		if srcEnd = u.srcEnd + end - u.end; end < u.end {
			srcEnd = u.srcEnd
		}
	}
	return srcStart, srcEnd
}

// before returns the last unit that starts before v.text[pos:], or -1.
func (v *view) before(pos int) int {
	return sort.Search(len(v.units), func(i int) bool { return v.units[i].start >= pos }) - 1
}

// outside shrinks a part of the source until it cuts no escape sequence.
func (v *view) outside(srcStart, srcEnd int) (start, end int) {
	cut := func(pos int) *unit {
		i := sort.Search(len(v.units), func(i int) bool { return v.units[i].srcEnd > pos })
		if i < len(v.units) && v.units[i].srcStart < pos {
			return &v.units[i]
		}
		return nil
	}
	if u := cut(srcStart); u != nil {
		srcStart = u.srcEnd
	}
	if u := cut(srcEnd); u != nil {
		srcEnd = u.srcStart
	}
	return srcStart, srcEnd
}

// A viewWriter builds a view of a source.
type viewWriter struct {
	source string
	copied int // number of bytes of source already in text
	text   strings.Builder
	units  []unit
}

func newViewWriter(source string) *viewWriter {
	w := &viewWriter{source: source, units: make([]unit, 0, strings.Count(source, `\`))}
	w.text.Grow(len(source))
	return w
}

// escape adds the source up to from, and then the decoded bytes of the escape sequence
// source[from:to].
func (w *viewWriter) escape(from, to int, stands ...byte) {
	w.text.WriteString(w.source[w.copied:from])
	start := w.text.Len()
	w.text.Write(stands)
	w.units = append(w.units, unit{from, to, start, w.text.Len()})
	w.copied = to
}

func (w *viewWriter) view() view {
	w.text.WriteString(w.source[w.copied:])
	return view{w.text.String(), w.units}
}

// unescapeAll decodes the escape sequences of s, even if it was escaped several times: a
// run of backslashes counts as one. It knows the sequences of JSON, shells and scripting
// languages.
func unescapeAll(s string) view {
	w := newViewWriter(s)
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], '\\')
		if n < 0 {
			break
		}
		from := i + n
		i = skipBackslashes(s, from)
		if i == len(s) {
			w.escape(from, i, '\\')
			break
		}
		switch c := s[i]; c {
		case 'n', 'r', 't', 'b', 'f', '"', '\'', '`', '/':
			i++
			w.escape(from, i, simpleEscape(c))
		case 'u':
			if r, ok := hexValue(s, i+1, 4); ok {
				i += 5
				w.escape(from, i, utf8.AppendRune(nil, r)...)
				continue
			}
			w.escape(from, i, '\\')
		case 'x':
			if r, ok := hexValue(s, i+1, 2); ok {
				i += 3
				w.escape(from, i, byte(r))
				continue
			}
			w.escape(from, i, '\\')
		case '0', 'e':
			if c == 'e' && strings.HasPrefix(s[i:], "e[") {
				i++
				w.escape(from, i, 0x1b)
				continue
			}
			if strings.HasPrefix(s[i:], "033") {
				i += 3
				w.escape(from, i, 0x1b)
				continue
			}
			w.escape(from, i, '\\')
		default:
			w.escape(from, i, '\\')
		}
	}
	return w.view()
}

// skipBackslashes returns the end of the run of backslashes that starts at s[at:]. The
// run may include backslashes written as \u005c or \x5c.
func skipBackslashes(s string, at int) int {
	for {
		for at < len(s) && s[at] == '\\' {
			at++
		}
		switch {
		case len(s)-at >= 5 && equalFold(s[at:at+5], "u005c"):
			at += 5
		case len(s)-at >= 3 && equalFold(s[at:at+3], "x5c"):
			at += 3
		default:
			return at
		}
	}
}

// simpleEscape returns the byte that a backslash followed by c means.
func simpleEscape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	}
	return c
}

// hexValue reads n hexadecimal digits at s[at:].
func hexValue(s string, at, n int) (r rune, ok bool) {
	if at+n > len(s) {
		return 0, false
	}
	for _, c := range []byte(s[at : at+n]) {
		switch {
		case isDigit(c):
			r = r<<4 | rune(c-'0')
		case isHex(c):
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

var errEscape = errors.New("secrets: invalid escape sequence in a JSON string")

// unescapeJSON decodes the escape sequences of a JSON string, given without its quotes. A
// lone surrogate becomes the three bytes that UTF-8 would use for it.
func unescapeJSON(inner string) (view, error) {
	if strings.IndexByte(inner, '\\') < 0 {
		return view{text: inner}, nil
	}
	w := newViewWriter(inner)
	for i := 0; i < len(inner); {
		n := strings.IndexByte(inner[i:], '\\')
		if n < 0 {
			break
		}
		from := i + n
		if i = from + 2; i > len(inner) {
			return view{}, errEscape
		}
		switch c := inner[from+1]; c {
		case 'n', 'r', 't', 'b', 'f', '"', '\\', '/':
			w.escape(from, i, simpleEscape(c))
		case 'u':
			r, ok := hexValue(inner, i, 4)
			if !ok {
				return view{}, errEscape
			}
			i += 4
			if utf16.IsSurrogate(r) {
				if strings.HasPrefix(inner[i:], `\u`) {
					if low, ok := hexValue(inner, i+2, 4); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
						i += 6
						w.escape(from, i, utf8.AppendRune(nil, utf16.DecodeRune(r, low))...)
						continue
					}
				}
				w.escape(from, i, 0xe0|byte(r>>12), 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f))
				continue
			}
			w.escape(from, i, utf8.AppendRune(nil, r)...)
		default:
			return view{}, errEscape
		}
	}
	return w.view(), nil
}
