package find

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// minLetters is the minimum length of a query word whose letters may be scattered in a
// title. A shorter word would match nearly every title.
const minLetters = 4

// A Score says how well the item at a position matches; higher is better.
type Score struct{ At, Score int }

// Best returns the positions of the n best scores, best first. Equal scores keep their order.
func Best(scores []Score, n int) []int {
	slices.SortStableFunc(scores, func(a, b Score) int { return cmp.Compare(b.Score, a.Score) })
	at := make([]int, 0, max(min(len(scores), n), 0))
	for _, s := range scores[:cap(at)] {
		at = append(at, s.At)
	}
	return at
}

// Letters reports whether a title or folder name contains each word of the query with
// letters left out, and how well. It scores like package fuzzy but matches more strictly
// (see [scattered]): fuzzy accepts any text with the letters in order, which long titles
// have by accident.
func (q *Query) Letters(title, folder string) (score int, ok bool) {
	texts := []string{title, path.Base(folder)}
	if !q.lettersIn(fold(texts[0]), fold(texts[1])) {
		return 0, false
	}
	for _, w := range bytes.Fields(q.text) {
		w := string(w)
		if best := fuzzy.Find(w, texts); len(best) > 0 {
			score += best[0].Score
		}
	}
	return score, true
}

// LettersIn reports whether [Query.Letters] accepts a title and folder by their folded name;
// see [AppendName].
func (q *Query) LettersIn(name []byte) bool {
	title, folder := SplitName(name)
	return q.lettersIn(string(title), path.Base(string(folder)))
}

// lettersIn reports whether each word of the query is in one of two folded texts, with letters
// left out.
func (q *Query) lettersIn(title, folder string) bool {
	for _, w := range bytes.Fields(q.text) {
		w := string(w)
		if !strings.Contains(title, w) && !strings.Contains(folder, w) && !scattered(w, title) && !scattered(w, folder) {
			return false
		}
	}
	return true
}

// LetterSet returns the letters that [Query.Letters] looks for, as [LettersOf] does.
func (q *Query) LetterSet() uint32 { return LettersOf(q.text) }

// The price of a gap between two letters, by the position of the second.
const (
	gapOfVowels = 1 // inside the same word, with only vowels left out, as in "cnfg" for config
	gapWithin   = 3 // inside the same word, with other letters left out
	gapToWord   = 1 // at the beginning of the next word, as in "brapi" for brainstorm api
	perSkipped  = 1 // plus this for each word skipped
	unreachable = 1 << 20
)

// The longest word and text that are compared letter by letter.
const (
	maxWord = 64
	maxText = 256
)

// scattered reports whether the letters of word occur in text too close together for an
// accident: starting at the beginning of a word, each gap either inside a word or up to
// the beginning of a later one, and few gaps for the number of letters. Both arguments
// are folded.
func scattered(word, text string) bool {
	if !inOrder(word, text) {
		return false
	}
	want := []rune(word)
	if len(want) < minLetters || len(want) > maxWord {
		return false
	}
	return price(want, text) <= len(want)/2
}

func vowel(r rune) bool {
	switch r {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

// inOrder reports whether text contains all letters of word in order.
func inOrder(word, text string) bool {
	for _, r := range word {
		at := strings.IndexRune(text, r)
		if at < 0 {
			return false
		}
		text = text[at+utf8.RuneLen(r):]
	}
	return true
}

// price returns the lowest total price of the gaps between the letters of want in text.
func price(want []rune, text string) int {
	var (
		letters = make([]rune, 0, maxText)
		word    = make([]int16, 0, maxText) // the word index of each letter of the text
		words   = int16(-1)
		inside  bool
	)
	for _, r := range text {
		if !letter(r) {
			inside = false
			continue
		}
		if !inside || ideograph(r) {
			words++
		}
		inside = true
		if len(letters) == maxText {
			break
		}
		letters, word = append(letters, r), append(word, words)
	}
	// ends[j] is the lowest price of the letters so far with the last one at j.
	ends, next := make([]int, maxText)[:len(letters)], make([]int, maxText)[:len(letters)]
	start := 0 // where the last of the letters so far is at the earliest
	for k, r := range want {
		// The lowest price of the letters so far: with the last one in this word and only
		// vowels since, in this word, and in an earlier word.
		vowels, within, before := unreachable, unreachable, unreachable
		canJump := len(want) > minLetters && k < len(want)-1
		for j := range start {
			next[j] = unreachable
		}
		for j := start; j < len(letters); j++ {
			begins := j == 0 || word[j] != word[j-1]
			if begins {
				before = min(before, within) + perSkipped
				vowels, within = unreachable, unreachable
			}
			next[j] = unreachable
			switch {
			case letters[j] != r:
			case k == 0 && begins:
				next[j] = 0
			case k > 0:
				if j > 0 && (!begins || canJump || ideograph(r)) {
					next[j] = min(ends[j-1], vowels+gapOfVowels, within+gapWithin)
				}
				if begins && canJump {
					next[j] = min(next[j], before+gapToWord-perSkipped)
				}
			}
			if !vowel(letters[j]) {
				vowels = unreachable
			}
			vowels, within = min(vowels, ends[j]), min(within, ends[j])
		}
		for start < len(letters) && next[start] >= unreachable {
			start++
		}
		if start == len(letters) {
			return unreachable
		}
		ends, next = next, ends
	}
	return slices.Min(ends)
}
