// Package tokens counts text in tokens of the o200k_base encoding. The token table is
// embedded in the program: nothing needs loading, neither at the start nor for the first
// count. Several goroutines may call all functions at once.
package tokens

import (
	"strings"
	"unicode/utf8"
)

// Count returns the number of o200k_base tokens of text, like encode_ordinary of
// tiktoken: special tokens such as <|endoftext|> count as the ordinary text that they are
// written with.
//
// In text that is not valid UTF-8, each byte that is not part of a character counts as
// U+FFFD, which is how encoding/json writes such a byte. A surrogate in the three bytes
// of WTF-8 counts as three of them.
func Count(text string) int {
	c := counters.Get().(*counter)
	defer counters.Put(c)
	return c.total(repaired(text))
}

// MaxBytes is the length in bytes of the longest token.
const MaxBytes = 128

// Exceed reports whether text has more than limit tokens. It does not count the tokens of
// a text that is far too long.
func Exceed(text string, limit int) bool {
	return len(text) > limit && (len(text)/MaxBytes > limit || Count(text) > limit)
}

// repaired returns text with U+FFFD for each byte that is not part of a
// character.
func repaired(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var sb strings.Builder
	sb.Grow(len(text) + len(text)/8)
	for _, r := range text {
		sb.WriteRune(r)
	}
	return sb.String()
}

// total returns the number of tokens of text, which must be valid UTF-8.
func (c *counter) total(text string) int {
	sum := 0
	for i := 0; i < len(text); {
		n := pieceLen(text[i:])
		sum += c.count(text[i : i+n])
		i += n
	}
	return sum
}
