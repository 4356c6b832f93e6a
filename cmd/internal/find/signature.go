package find

import (
	"bytes"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Signature describes a title and a folder's own name in 64 bits, so that a search can pass
// over most of them unread. It has the letters of title and folder (see [LettersOf]), which of
// a to z are first letters in the eyes of package fuzzy, the length of the shorter text, and
// whether both are plain (see [Signature.IsPlain]).
type Signature uint64

const (
	initialsAt = 32
	lengthAt   = initialsAt + 26
	plainAt    = 63

	lengthStep = 6 // bytes
	lengthMost = 1<<(plainAt-lengthAt) - 1
)

// SignatureOf returns the signature of a title and a folder, and of both folded as a name;
// see [AppendName].
func SignatureOf(title, folder string, name []byte) Signature {
	name = name[:bytes.LastIndexByte(name, '\n')] // without the id
	s := Signature(LettersOf(name))
	foldedTitle, foldedFolder, _ := bytes.Cut(name, []byte("\n"))
	foldedBase := foldedFolder[bytes.LastIndexByte(foldedFolder, '/')+1:]
	base := path.Base(folder)
	plain := isPlain(title, foldedTitle) && isPlain(base, foldedBase)
	shorter := lengthMost * lengthStep
	for _, text := range []string{title, base} {
		text, _, _ = strings.Cut(text, "\x00") // the end for package fuzzy
		shorter = min(shorter, len(text))
		last := rune('/')
		for _, c := range text {
			camel := unicode.IsLower(last) && unicode.IsUpper(c)
			if camel || separates(last) {
				if f := FoldRune(c); 'a' <= f && f <= 'z' {
					s |= 1 << (initialsAt + f - 'a')
				}
			}
			plain = plain && !camel
			last = c
		}
	}
	s |= Signature(shorter/lengthStep) << lengthAt
	if plain {
		s |= 1 << plainAt
	}
	return s
}

// separates reports whether c separates words for package fuzzy.
func separates(c rune) bool {
	switch c {
	case '/', '-', '_', ' ', '.', '\\':
		return true
	}
	return false
}

// isPlain reports whether a text is ASCII that folding changes only in case.
func isPlain(text string, folded []byte) bool {
	if len(text) != len(folded) {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != folded[i] || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// IsPlain reports whether package fuzzy scores the folded texts as it scores the texts.
func (s Signature) IsPlain() bool { return s>>plainAt != 0 }

// HasLetters reports whether the texts have some letters; see [LettersOf].
func (s Signature) HasLetters(want uint32) bool { return uint32(s)&want == want }

// mostAdjacent is the greatest number of typed letters whose pairs can reject a text:
// with more, their bonus is too high.
const mostAdjacent = 8

// Pairs returns each pair of neighboring letters that were typed, or none if there are too
// many for [Typed.MayHaveInitials].
func (t *Typed) Pairs() (pairs []string) {
	if utf8.RuneCountInString(t.joined) > mostAdjacent {
		return nil
	}
	before := 0
	for i, c := range t.joined {
		if i > 0 {
			pairs = append(pairs, t.joined[before:i+utf8.RuneLen(c)])
		}
		before = i
	}
	return pairs
}

// MayHaveInitials reports whether [Typed.Initials] may accept a title and folder: whether the
// highest score that package fuzzy can give is enough. adjacent is how many of the typed pairs
// they have; see [Typed.Pairs].
func (t *Typed) MayHaveInitials(s Signature, adjacent int) bool {
	const (
		first  = 15 // the bonus of a first letter of a word, less the penalty for what is before it
		others = 20 // the same of letters after the first
		pair   = 5  // the bonus of the first pair; each more has that of all before twice, plus this
	)
	most, n := 0, 0
	for _, c := range t.joined {
		if 'a' > c || c > 'z' || s>>(initialsAt+c-'a')&1 != 0 {
			if most += others; n == 0 {
				most = first
			}
		}
		n++
	}
	if n > mostAdjacent {
		return true
	}
	bonus := 0
	for range adjacent {
		bonus += 2*bonus + pair
	}
	length := int(s>>lengthAt&lengthMost) * lengthStep
	return most+bonus+n-length >= fewestPoints*len(t.joined)
}
