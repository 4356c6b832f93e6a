package tokens

import "unicode/utf8"

// Prefix returns as much of the start of text as makes at most limit tokens by
// [Count]. It keeps words, numbers and runs of other characters whole, apart
// from one of more than 64 bytes, which it cuts between two characters. A
// limit of 0 or less makes it empty.
func Prefix(text string, limit int) string {
	c := counters.Get().(*counter)
	defer counters.Put(c)
	valid := repaired(text)
	return text[:inOriginal(text, valid, c.prefixEnd(valid, limit))]
}

// inOriginal returns the index into text for index i into valid, its repaired
// form.
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
		// Two pieces of white space can become one when the text ends behind
		// them, so the sum of the pieces is not enough to go by.
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

// cut returns where the given number of tokens end in piece, as the last place
// between two characters not after that; 0 if it has no more than shortPiece bytes.
//
// The tokens up to such a place are those of the text up to it: no merge went
// across, so leaving out what is on the other side changes none.
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
