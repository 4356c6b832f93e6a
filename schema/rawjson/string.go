package rawjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote decodes the JSON string raw, including its quotation marks. A surrogate escape
// without its other half becomes the three bytes that UTF-8 would use for it (WTF-8),
// which [AppendQuote] turns back into the escape. Bytes that are not UTF-8 stay as they
// are.
func Unquote(raw []byte) (string, error) {
	end, err := skipString(raw, 0)
	if len(raw) == 0 || raw[0] != '"' || err != nil || end != len(raw) {
		return "", fail(0, "not a JSON string")
	}
	return decode(raw[1 : len(raw)-1]), nil
}

// decode decodes the content between the quotation marks of a JSON string.
func decode(raw []byte) string {
	i := bytes.IndexByte(raw, '\\')
	if i < 0 {
		return string(raw)
	}
	var sb strings.Builder
	sb.Grow(len(raw))
	sb.Write(raw[:i])
	for i < len(raw) {
		c := raw[i]
		if c != '\\' {
			from := i
			if i = bytes.IndexByte(raw[from:], '\\') + from; i < from {
				i = len(raw)
			}
			sb.Write(raw[from:i])
			continue
		}
		if i+1 == len(raw) {
			break // no JSON string ends like this
		}
		switch raw[i+1] {
		case 'u':
			r, _ := hex4(raw[i:])
			i += 6
			if utf16.IsSurrogate(r) {
				if low, ok := hex4(raw[i:]); ok {
					if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
						r = pair
						i += 6
					}
				}
			}
			if utf16.IsSurrogate(r) {
				sb.Write([]byte{0xE0 | byte(r>>12), 0x80 | byte(r>>6)&0x3F, 0x80 | byte(r)&0x3F})
			} else {
				sb.WriteRune(r)
			}
			continue
		case 'b':
			sb.WriteByte('\b')
		case 'f':
			sb.WriteByte('\f')
		case 'n':
			sb.WriteByte('\n')
		case 'r':
			sb.WriteByte('\r')
		case 't':
			sb.WriteByte('\t')
		default:
			sb.WriteByte(raw[i+1])
		}
		i += 2
	}
	return sb.String()
}

// hex4 reads the escape \uXXXX at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

const hexDigits = "0123456789abcdef"

// AppendQuote appends s as a JSON string in the one spelling that the format uses. It
// escapes only what JSON requires, with short escapes where they exist. A lone surrogate
// (see [Unquote]) becomes \udXXX; a high one before a low one becomes the character that
// they spell. Bytes that are not UTF-8 become U+FFFD, since JSON cannot hold them.
func AppendQuote(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			if i+9 < len(s) {
				i += plainASCII(s[i+1:])
			}
			i++
			continue
		}
		n := 1
		if c >= utf8.RuneSelf {
			var r rune
			if r, n = utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\b':
			dst = append(dst, `\b`...)
		case c == '\f':
			dst = append(dst, `\f`...)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
		default:
			r, ok := surrogate(s[i:])
			if !ok {
				dst = append(dst, "\uFFFD"...)
				break
			}
			n = 3
			if low, ok := surrogate(s[i+3:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					n = 6
					dst = utf8.AppendRune(dst, pair)
					break
				}
			}
			dst = append(dst, `\ud`...)
			dst = append(dst, hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		}
		i += n
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// QuotedEnd returns the end of the string that b begins with if it is spelled as
// [AppendQuote] spells one, apart from bytes that are not UTF-8. Otherwise it returns 0, and
// also for some strings with surrogates.
func QuotedEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for i := 1; ; {
		i += plain(b[i:])
		if i+1 >= len(b) || b[i] != '\\' {
			if i < len(b) && b[i] == '"' {
				return i + 1
			}
			return 0
		}
		switch b[i+1] {
		case '"', '\\', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			r, ok := hex4(b[i:])
			if !ok || r >= 0x20 || string(AppendQuote(nil, string(r))) != `"`+string(b[i:i+6])+`"` {
				return 0
			}
			i += 6
		default:
			return 0
		}
	}
}

// plainASCII counts bytes that [AppendQuote] takes as they are, eight at a time. It may stop
// up to seven bytes too early.
func plainASCII(s string) (n int) {
	for ; n+8 <= len(s); n += 8 {
		x := uint64(s[n]) | uint64(s[n+1])<<8 | uint64(s[n+2])<<16 | uint64(s[n+3])<<24 |
			uint64(s[n+4])<<32 | uint64(s[n+5])<<40 | uint64(s[n+6])<<48 | uint64(s[n+7])<<56
		if found := ends(x) | x&highs; found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	return n
}

// surrogate reads a surrogate in its three-byte form at the start of s.
func surrogate(s string) (rune, bool) {
	if len(s) < 3 || s[0] != 0xED || s[1] < 0xA0 || s[1] > 0xBF || s[2] < 0x80 || s[2] > 0xBF {
		return 0, false
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F), true
}

// Text returns s with anything that is not UTF-8 (including lone surrogates) replaced by
// U+FFFD, for uses that need plain text.
func Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func skipString(b []byte, i int) (int, error) {
	start := i
	for i++; i < len(b); {
		if i+8 <= len(b) {
			found := ends(binary.LittleEndian.Uint64(b[i:]))
			if found == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(found) / 8
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c < 0x20:
			return 0, fail(i, "control byte %#02x in a string", c)
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return 0, fail(i, "broken escape in a string")
			}
			i += n
		default:
			i++
		}
	}
	return 0, fail(start, "the string is not closed")
}

// plain counts the bytes before the first byte that ends or escapes something in a
// string, or is not allowed in one. It looks at eight at a time, because most of a
// transcript is strings and each is scanned several times.
func plain(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if found := ends(binary.LittleEndian.Uint64(b[i:])); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

const ones, highs = 0x0101010101010101, 0x8080808080808080

// ends finds quotation marks, backslashes and control bytes in eight bytes: the lowest bit that
// is set is in the first one.
func ends(x uint64) uint64 {
	low, backslash := x^2*ones, x^'\\'*ones // in low, a quotation mark is 0x20
	// In each term the high bit of a byte is set if the byte is at most 0x20, or zero. Above
	// the first such byte there may be false positives.
	return ((low-0x21*ones)&^low | (backslash-ones)&^backslash) & highs
}

// escapeLen returns the length of the escape that b begins with, or 0 if there is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		return 0
	}
	if _, ok := hex4(b); !ok {
		return 0
	}
	return 6
}
