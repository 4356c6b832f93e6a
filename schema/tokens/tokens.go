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
	if len(text) < longText {
		return count(text)
	}
	return counted.count(text)
}

func count(text string) int {
	c := takeCounter()
	defer c.done()
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
		switch {
		case n == 1:
			sum++
		case n < 8 && i+8 <= len(text):
			sum += c.countBrief(text[i:i+n], eight(text[i:i+8]))
		default:
			sum += c.count(text[i : i+n])
		}
		i += n
	}
	return sum
}

// Prefix returns the longest start of text that has at most limit tokens by [Count] and
// keeps words, numbers and runs of other characters whole. It cuts a run of more than 64
// bytes between two characters. A limit of 0 or less returns "".
func Prefix(text string, limit int) string {
	c := takeCounter()
	defer c.done()
	valid := repaired(text)
	return text[:inOriginal(text, valid, c.prefixEnd(valid, limit))]
}

// inOriginal returns the index into text for index i into valid, its repaired form.
func inOriginal(text, valid string, i int) int {
	if len(text) == len(valid) {
		return i // repairs make text longer
	}
	n := utf8.RuneCountInString(valid[:i])
	for at := range text {
		if n == 0 {
			return at
		}
		n--
	}
	return len(text)
}

func (c *counter) prefixEnd(text string, limit int) int {
	left := limit
	before, end := 0, 0
	for end < len(text) {
		next := end + pieceLen(text[end:])
		n := c.count(text[end:next])
		if n <= left {
			left -= n
			before, end = end, next
			continue
		}
		// Two pieces of white space can become one if the text ends after them, so the
		// sum of the pieces is not enough.
		within := c.cut(text[end:next], left)
		for _, e := range [...]int{end + within, end, before} {
			if c.total(text[:e]) <= limit {
				return e
			}
		}
		return 0
	}
	return end
}

// cut returns where the given number of tokens ends in piece, rounded down to a boundary
// between two characters; 0 if piece has no more than shortPiece bytes.
//
// The tokens up to such a place are those of the text up to it: no merge crossed it, so
// leaving out the text on the other side changes none of them.
func (c *counter) cut(piece string, tokens int) (last int) {
	if len(piece) <= shortPiece {
		return 0
	}
	parts := c.merge(piece)
	for i := 0; i < len(piece) && tokens >= 0; i = int(parts[i].next) {
		if utf8.RuneStart(piece[i]) {
			last = i
		}
		tokens--
	}
	return last
}
