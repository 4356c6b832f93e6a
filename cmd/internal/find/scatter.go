package find

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// scatteredMost is how many letters of a word are looked for in terms. The rest only lets
// fewer texts match.
const scatteredMost = 16

// A Scatter finds the terms of texts in which the letters of a word may be scattered.
type Scatter struct {
	want  []rune
	price int  // the highest price
	jumps bool // whether letters after the first may begin a word
	last  bool // whether the last one may
}

// A Piece is a part of a word, with the lowest price of the gaps between its letters in a
// term, and of the gap after the last one.
type Piece struct{ From, To, Price int }

// Length returns how many letters the pieces of a match have.
func (s *Scatter) Length() int { return len(s.want) }

// Price returns the highest total price of the pieces of a match.
func (s *Scatter) Price() int { return s.price }

// A LetterWord is a word of a query whose letters may be scattered.
type LetterWord struct {
	Word
	Scatter *Scatter // nil if they must be together
}

// LetterWords returns the words of a query in tier [ByLetters]. Each title and folder that
// the query hits contains each word, or has the pieces of its scatter in its terms.
func (q *Query) LetterWords() []LetterWord {
	words := bytes.Fields(q.text)
	list := make([]LetterWord, len(words))
	for i, w := range wordTerms(words) {
		list[i].Word = w
		want := []rune(string(words[i]))
		if !w.Single || len(want) < minLetters || len(want) > maxWord {
			continue
		}
		free := slices.ContainsFunc(want, ideograph)
		s := &Scatter{want: want, price: len(want) / 2, jumps: free || len(want) > minLetters, last: free}
		if len(want) > scatteredMost {
			s.want, s.last = want[:scatteredMost], true
		}
		list[i].Scatter = s
	}
	return list
}

// Pieces calls f with the pieces that a term may have: one at most for each part and price.
func (s *Scatter) Pieces(term []byte, f func(Piece)) {
	if c, _ := utf8.DecodeRune(term); c < utf8.RuneSelf && !slices.Contains(s.want, c) && !hasIdeograph(term) {
		return
	}
	letters := []rune(string(term))
	letters = letters[:min(len(letters), maxText)]
	wild := slices.ContainsFunc(letters, ideograph)
	for from, r := range s.want {
		switch {
		case wild:
			s.anywhere(letters, from, f)
		case r != letters[0], from > 0 && !s.jumps, from > 0 && from == len(s.want)-1 && !s.last:
		default:
			s.atBeginning(letters, from, f)
		}
	}
}

func hasIdeograph(term []byte) bool {
	for _, c := range term {
		if c >= utf8.RuneSelf {
			return bytes.ContainsFunc(term, ideograph)
		}
	}
	return false
}

// anywhere finds the pieces that begin anywhere in a term of several words.
func (s *Scatter) anywhere(letters []rune, from int, f func(Piece)) {
	for to := from; to < len(s.want); to++ {
		at := slices.Index(letters, s.want[to])
		if at < 0 {
			return
		}
		letters = letters[at+1:]
		f(Piece{from, to + 1, 0})
	}
}

// atBeginning finds the pieces that begin with a term, as [price] does.
func (s *Scatter) atBeginning(letters []rune, from int, f func(Piece)) {
	end := len(letters) - 1
	priced := func(to, at, price int) int { // with the gap after the piece
		if to < len(s.want) && at < end {
			price += gapToWord
		}
		return price
	}
	f(Piece{from, from + 1, priced(from+1, 0, 0)})
	if from+1 == len(s.want) || !slices.Contains(letters[1:], s.want[from+1]) {
		return
	}
	ends, next := make([]int, len(letters)), make([]int, len(letters))
	for j := range ends {
		ends[j] = unreachable
	}
	ends[0] = 0
	for to := from + 2; to <= len(s.want); to++ {
		least, inside := unreachable, unreachable // with the gap after the piece, and without
		vowels, within := unreachable, unreachable
		for j, c := range letters {
			next[j] = unreachable
			if j > 0 && c == s.want[to-1] {
				next[j] = min(ends[j-1], vowels+gapOfVowels, within+gapWithin)
				least, inside = min(least, priced(to, j, next[j])), min(inside, next[j])
			}
			if !vowel(c) {
				vowels = unreachable
			}
			vowels, within = min(vowels, ends[j]), min(within, ends[j])
		}
		if inside > s.price {
			return
		}
		f(Piece{from, to, least})
		ends, next = next, ends
	}
}
