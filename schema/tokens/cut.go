package tokens

import "unicode/utf8"

// Prefix returns the longest start of text that is at most limit tokens by [Count] and
// keeps words, numbers and runs of other characters whole. It cuts a run of more than 64
// bytes between two characters. A limit of 0 or less returns "".
func Prefix(text string, limit int) string {
	c := counters.Get().(*counter)
	defer counters.Put(c)
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
