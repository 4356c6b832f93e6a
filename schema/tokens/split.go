package tokens

import "unicode/utf8"

// A splitter cuts text into the pieces that the o200k pattern of tiktoken
// (tiktoken_ext/openai_public.py) matches one after the other:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
//
// The first alternative that matches counts, tried by backtracking, most
// characters first. \s is the Unicode property White_Space, as in tiktoken:
// it holds U+0085 and U+00A0 but not U+180E or U+200B.
type splitter struct {
	wide *wideClasses
}

// piece returns the length in bytes of the first piece of s, which is not
// empty.
func (sp splitter) piece(s string) int {
	c, n := sp.class(s, 0)
	switch {
	case c&(other|space) == 0 && c&letter != 0:
		end, _ := sp.word(s, 0)
		return contraction(s, end)
	case c == number:
		return sp.digits(s, n)
	case c&newline == 0:
		// c is the optional character in front of a word.
		end, withLower := sp.word(s, n)
		switch {
		case withLower, end > n && c != mark:
			return contraction(s, end)
		case c == mark:
			// The first alternative, without the optional character,
			// matches the mark alone before the second is tried.
			return contraction(s, n)
		}
		if c == other {
			return sp.symbols(s, n)
		}
		if s[0] == ' ' {
			if c, m := sp.class(s, n); c&other != 0 {
				return sp.symbols(s, n+m)
			}
		}
	}
	return sp.spaces(s)
}

// class returns the class of the character at s[i:] and its length in bytes,
// zeros at the end of s.
func (sp splitter) class(s string, i int) (uint8, int) {
	if i < len(s) && s[i] < utf8.RuneSelf {
		return asciiClasses[s[i]], 1
	}
	return sp.wideClass(s, i)
}

func (sp splitter) wideClass(s string, i int) (uint8, int) {
	if i >= len(s) {
		return 0, 0
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return sp.wide.of(r), n
}

// word returns where upper*lower+ or else upper+lower* ends that starts at
// s[i:], and whether it is the first of them; i itself when there is neither.
func (sp splitter) word(s string, i int) (end int, withLower bool) {
	// Where the last character ends that is of both classes: from there
	// lower+ matches when backtracking, and no further.
	both := i
	up := i
	for {
		c, n := sp.class(s, up)
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
		c, n := sp.class(s, end)
		if c&lower == 0 {
			break
		}
		end += n
	}
	switch {
	case end > up:
		return end, true
	case both > i:
		return both, true
	}
	return up, false
}

// contraction returns where (?i:'s|'t|'re|'ve|'m|'ll|'d)? ends that starts at
// s[i:]. Case folding takes in ſ (U+017F), which folds to s.
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
	switch {
	case b == 'e' && (a == 'r' || a == 'v'), a == 'l' && b == 'l':
		return i + 3
	case s[i+1:i+3] == "ſ":
		return i + 3
	}
	return i
}

// digits returns where the numbers end that started before s[i:], three at
// most.
func (sp splitter) digits(s string, i int) int {
	for range 2 {
		c, n := sp.class(s, i)
		if c != number {
			break
		}
		i += n
	}
	return i
}

// symbols returns where [^\s\p{L}\p{N}]*[\r\n/]* ends that starts at s[i:].
func (sp splitter) symbols(s string, i int) int {
	for {
		c, n := sp.class(s, i)
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

// spaces returns where the piece of white space ends that starts s.
func (sp splitter) spaces(s string) int {
	end, last, lines := 0, 0, 0 // of the run, before its last character, of its last line end
	for {
		c, n := sp.class(s, end)
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
		return last
	}
	return end
}
