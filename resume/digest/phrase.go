package digest

import (
	"strings"
	"unicode/utf8"
)

// find returns where phrase stands in a mask as words of its own, -1 if nowhere.
func find(mask, phrase string) int {
	first, _ := utf8.DecodeRuneInString(phrase)
	last, _ := utf8.DecodeLastRuneInString(phrase)
	for from := 0; ; {
		at := strings.Index(mask[from:], phrase)
		if at < 0 {
			return -1
		}
		at += from
		before, n := utf8.DecodeLastRuneInString(mask[:at])
		after, m := utf8.DecodeRuneInString(mask[at+len(phrase):])
		if (n == 0 || !joined(before, first)) && (m == 0 || !joined(last, after)) {
			return at
		}
		from = at + 1
	}
}

// joined reports whether a and b next to each other are parts of one word.
func joined(a, b rune) bool {
	return wordRune(a) && wordRune(b) && a < 0x2e80 && b < 0x2e80
}

func has(mask string, phrases ...string) bool {
	for _, p := range phrases {
		if find(mask, p) >= 0 {
			return true
		}
	}
	return false
}

// begins returns the first of phrases that mask begins with, "" if none.
func begins(mask string, phrases ...string) string {
	for _, p := range phrases {
		if strings.HasPrefix(mask, p) && (len(mask) == len(p) || find(mask, p) == 0) {
			return p
		}
	}
	return ""
}
