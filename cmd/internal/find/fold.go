package find

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns a form of s that is equal for texts that differ only in case, or only in how
// letters with marks are composed.
func fold(s string) string {
	if IsFolded(s) {
		return s
	}
	return string(AppendFold(nil, s))
}

// AppendFold appends a form of s that is equal for texts that differ only in case, or only in
// how letters with marks are composed.
func AppendFold(dst []byte, s string) []byte {
	s = norm.NFC.String(s)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r == 'ß' || r == 'ẞ' {
			dst = append(dst, "ss"...)
			continue
		}
		dst = utf8.AppendRune(dst, FoldRune(r))
	}
	return dst
}

// IsFolded reports whether a text is ASCII that [FoldID] leaves as it is.
func IsFolded(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' || c == '\n' {
			return false
		}
	}
	return true
}

// FoldRune returns the same rune for all runes that differ only in case: the ASCII
// lower-case letter if there is one, otherwise the first in Unicode.
func FoldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	if 'A' <= first && first <= 'Z' {
		first += 'a' - 'A'
	}
	return first
}

// letter reports whether r belongs to a word.
func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// ideograph reports whether r belongs to a script that writes words without spaces.
func ideograph(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}
