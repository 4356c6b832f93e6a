// Package clip shortens text. It never cuts within a character.
package clip

import (
	"strings"
	"unicode/utf8"
)

// Mark takes the place of omitted text.
const Mark = "…"

// Head returns the beginning of s: at most n bytes.
func Head(s string, n int) string {
	if n >= len(s) {
		return s
	}
	for n = max(n, 0); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

// Tail returns the end of s: at most n bytes.
func Tail(s string, n int) string {
	at := len(s) - min(max(n, 0), len(s))
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// Ends returns s without its middle: at most n bytes of each end, without invalid UTF-8,
// and a line with [Mark] between them. It returns a text of at most 2n bytes unchanged.
func Ends(s string, n int) string {
	if len(s) <= 2*n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "\n" + Mark + "\n" + strings.ToValidUTF8(s[len(s)-n:], "")
}

// Characters returns the beginning of s: at most n characters. If s has more, the last of
// them is [Mark].
func Characters(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count, end := 0, 0 // end is where the first n-1 characters end
	for i := range s {
		if count == n-1 {
			end = i
		}
		if count++; count > n {
			return s[:end] + Mark
		}
	}
	return s
}
