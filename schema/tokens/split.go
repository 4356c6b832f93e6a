package tokens

import (
	"math/bits"
	"unicode/utf8"
)

// pieceLen returns the length in bytes of the first piece of s, which is not
// empty.
//
// The pieces are what the pattern of o200k_base (tiktoken_ext/openai_public.py
// of tiktoken) matches one after the other. It has these alternatives:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// The first that matches wins, each tried as a backtracking engine does it,
// the most characters first. \s is the Unicode property White_Space, as in
// the Rust engine of tiktoken: U+0085 and U+00A0 are in it, U+180E and U+200B
// are not.
func pieceLen(s string) int {
	c, n := byteClassAt(s, 0), 1
	if c == 0 {
		c, n = wideClassAt(s, 0)
	}
	switch {
	case c <= letter:
		end, _ := word(s, 0)
		return contraction(s, end)
	case c == number:
		return digits(s, n)
	case c&newline != 0:
		return spaces(s)
	}
	next, m := byteClassAt(s, n), 1
	if next == 0 {
		next, m = wideClassAt(s, n)
	}
	if next&letter != 0 || c == mark {
		// c may be the optional character before a word.
		end, ending := word(s, n)
		switch {
		case ending, end > n && c != mark:
			return contraction(s, end)
		case c == mark:
			// The first alternative matches the mark alone, as a word without the optional
			// character, before the second one gets its turn.
			return contraction(s, n)
		}
	}
	switch {
	case c == other:
		return symbols(s, n)
	case s[0] == ' ' && next&other != 0:
		return symbols(s, n+m)
	}
	return spaces(s)
}

// classAt returns the class of the character at s[i:] and its length in bytes, zeros at
// the end of s. A byte that is not UTF-8 is a character of its own, U+FFFD.
func classAt(s string, i int) (uint8, int) {
	if c := byteClassAt(s, i); c != 0 {
		return c, 1
	}
	return wideClassAt(s, i)
}

// byteClassAt returns the class of the character at s[i:] if it is ASCII, or 0 if it is
// not or s ends at i.
func byteClassAt(s string, i int) uint8 {
	if i < len(s) {
		return asciiClasses[s[i]]
	}
	return 0
}

func wideClassAt(s string, i int) (uint8, int) {
	if i >= len(s) {
		return 0, 0
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return wide().of(r), n
}

// word returns the end of the word that starts at s[i:], or i if there is none:
// upper*lower+ (then ending is true) or else upper+lower*.
func word(s string, i int) (end int, ending bool) {
	up := i
	if len(s) >= i+10 { // most words have at most one capital and few other letters
		if asciiClasses[s[i]] == upper {
			up++
		}
		if n := lowerLen(eight(s[up : up+8])); n > 0 && s[up+n] < utf8.RuneSelf && asciiClasses[s[up+n]] != lower {
			return up + n, true
		}
		up = i
	}
	both := i // end of the last character of upper* that is also in lower
	for {
		c, n := byteClassAt(s, up), 1
		if c == 0 {
			c, n = wideClassAt(s, up)
		}
		if c&upper == 0 {
			break
		}
		up += n
		if c&lower != 0 {
			both = up
		}
	}
	end = up
	for {
		for end < len(s) && asciiClasses[s[end]]&lower != 0 {
			end++
		}
		c, n := byteClassAt(s, end), 1
		if c == 0 {
			c, n = wideClassAt(s, end)
		}
		if c&lower == 0 {
			break
		}
		end += n
	}
	switch {
	case end > up:
		return end, true
	case both > i:
		// lower+ must take its one character back from upper*.
		return both, true
	}
	return up, false
}

// lowerLen returns how many of the eight bytes of text come before the first that is not a
// lower-case ASCII letter.
func lowerLen(text uint64) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	low := text &^ highs
	from, beyond := low+(0x80-'a')*ones, low+(0x7f-'z')*ones // the high bits: not below 'a', above 'z'
	return bits.TrailingZeros64((^from|beyond|text)&highs) / 8
}

// contraction returns the end of (?i:'s|'t|'re|'ve|'m|'ll|'d)? starting at s[i:]. Case is
// that of Unicode, in which ſ (U+017F) is an s.
func contraction(s string, i int) int {
	if len(s)-i < 2 || s[i] != '\'' {
		return i
	}
	a := s[i+1] | 0x20
	if a == 's' || a == 't' || a == 'm' || a == 'd' {
		return i + 2
	}
	if len(s)-i < 3 {
		return i
	}
	b := s[i+2] | 0x20
	if b == 'e' && (a == 'r' || a == 'v') || a == 'l' && b == 'l' || s[i+1:i+3] == "ſ" {
		return i + 3
	}
	return i
}

// digits returns the end of the piece whose first digit precedes s[i:].
func digits(s string, i int) int {
	for range 2 {
		c, n := classAt(s, i)
		if c != number {
			break
		}
		i += n
	}
	return i
}

// symbols returns the end of [^\s\p{L}\p{N}]*[\r\n/]* starting at s[i:].
func symbols(s string, i int) int {
	for {
		for i < len(s) && asciiClasses[s[i]] == other {
			i++
		}
		if byteClassAt(s, i) != 0 {
			break
		}
		c, n := wideClassAt(s, i)
		if c&other == 0 {
			break
		}
		i += n
	}
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || s[i] == '/') {
		i++
	}
	return i
}

// spaces returns the end of the piece of white space that s starts with.
func spaces(s string) int {
	end := 0   // end of all the white space
	last := 0  // start of its last character
	lines := 0 // end of its last line ending
	for {
		for end < len(s) && asciiClasses[s[end]] == space {
			last = end
			end++
		}
		c, n := byteClassAt(s, end), 1
		if c == 0 {
			c, n = wideClassAt(s, end)
		}
		if c&space == 0 {
			break
		}
		last = end
		end += n
		if c&newline != 0 {
			lines = end
		}
	}
	switch {
	case lines > 0:
		return lines
	case end < len(s) && last > 0:
		return last // (?!\S) leaves one character to the next word
	}
	return end
}
