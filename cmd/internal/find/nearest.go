package find

import (
	"bytes"
	"math"
	"math/bits"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// maxTyped is the number of query words that [Nearest] looks at.
const maxTyped = 12

// idFrom is the minimum length of a word with a digit that may be a mistyped id.
const idFrom = 8

// Nearest returns the indexes of up to n items that a query without a match may refer to,
// best first. It returns none if nothing is near. It tolerates mistyped, shortened and
// wrong words if other words are right.
func Nearest(items []Item, query string, n int) []int {
	t := ParseTyped(query)
	var hits []Score
	seen := map[string][]int{} // how near each word is to each typed word
	for i := range items {
		if score := t.score(&items[i], seen); t.IsNear(score) {
			hits = append(hits, Score{i, score})
		}
	}
	if len(hits) == 0 {
		for i := range items {
			if score, ok := t.Initials(items[i].Title, items[i].Folder); ok {
				hits = append(hits, Score{i, score})
			}
		}
	}
	return Best(hits, n)
}

// A Typed is a query without a match, to find what is near it.
type Typed struct {
	words   []string
	letters []uint32    // of each word
	times   [][32]uint8 // how often each word has each of its letters
	total   int         // twice the number of letters
	joined  string
}

// ParseTyped parses a query without a match.
func ParseTyped(query string) *Typed {
	t := &Typed{words: wordsOf(fold(query))}
	t.words = t.words[:min(len(t.words), maxTyped)]
	for _, w := range t.words {
		t.total += 2 * utf8.RuneCountInString(w)
		t.letters = append(t.letters, LettersOf([]byte(w)))
		var times [32]uint8
		for _, r := range w[:min(len(w), math.MaxUint8)] {
			times[bits.TrailingZeros32(letterBit(r))]++
		}
		t.times = append(t.times, times)
	}
	t.joined = strings.Join(t.words, "")
	return t
}

// Words returns the number of typed words.
func (t *Typed) Words() int { return len(t.words) }

// IsNear reports whether an item is near: whether the sum of the best nearness to each typed
// word is high enough.
func (t *Typed) IsNear(score int) bool { return score*4 >= t.total && score > 0 }

// Score returns how near an item is.
func (t *Typed) Score(it *Item) int { return t.score(it, map[string][]int{}) }

func (t *Typed) score(it *Item, seen map[string][]int) (score int) {
	best := make([]int, len(t.words))
	for _, w := range wordsOf(fold(it.Title + " " + it.Folder)) {
		near, ok := seen[w]
		if !ok {
			near = nearness(t.words, w)
			seen[w] = near
		}
		for k := range near {
			best[k] = max(best[k], near[k])
		}
	}
	for k := range best {
		if t.MayBeID(k) {
			best[k] = max(best[k], t.NearID(k, FoldID(it.ID)))
		}
		score += best[k]
	}
	return score
}

// MayBeID reports whether a typed word may be a mistyped id.
func (t *Typed) MayBeID(word int) bool {
	w := t.words[word]
	return len(w) >= idFrom && strings.ContainsAny(w, "0123456789")
}

// NearID returns how near a folded id is to a typed word; see [FoldID].
func (t *Typed) NearID(word int, id string) int { return nearness(t.words[word:word+1], id)[0] }

// MayBeNear returns a function that reports whether a folded id may be near a typed word.
func (t *Typed) MayBeNear(word int) func(id []byte) bool {
	typed := t.words[word]
	n := utf8.RuneCountInString(typed)
	if n > maxWord || len(typed) > n {
		return func([]byte) bool { return true }
	}
	var at [utf8.RuneSelf]uint64 // where the typed word has a letter, as bits
	for i := range n {
		at[typed[i]] |= 1 << i
	}
	return func(id []byte) bool {
		// The distance of the typed word to each beginning of the id, by the bit-parallel
		// algorithm of Hyyrö (2003): plus and minus say where it grows and shrinks.
		plus, minus, equal, before := ^uint64(0), uint64(0), uint64(0), uint64(0)
		d := n
		for _, c := range id {
			if c >= utf8.RuneSelf {
				return true
			}
			here := at[c]
			swapped := (^equal & here << 1) & before
			equal = (here&plus + plus ^ plus) | here | minus | swapped
			up, down := minus|^(equal|plus), equal&plus
			d += int(up>>(n-1)&1) - int(down>>(n-1)&1)
			if d <= slips(n) {
				return true
			}
			up, down = up<<1|1, down<<1
			plus, minus, before = down|^(equal|up), up&equal, here
		}
		return inOrder(typed, string(id))
	}
}

// NearTerm returns how near a term of a title or folder is to a typed word; see [EachTerm].
func (t *Typed) NearTerm(word int, term []byte, letters uint32) (near int) {
	typed := t.words[word]
	missing := 0
	for set := t.letters[word] &^ letters; set != 0; set &= set - 1 {
		missing += int(t.times[word][bits.TrailingZeros32(set)])
	}
	if missing > slips(len(typed)) {
		return 0 // each slip adds one letter at most
	}
	if !hasIdeograph(term) {
		return nearness(t.words[word:word+1], string(term))[0]
	}
	for _, w := range wordsOf(string(term)) {
		near = max(near, nearness(t.words[word:word+1], w)[0])
	}
	return near
}

// Letters returns the letters of all typed words.
func (t *Typed) Letters() (set uint32) {
	for _, l := range t.letters {
		set |= l
	}
	return set
}

// fewestPoints is the lowest score of first letters of words, for each byte typed.
const fewestPoints = 5

// MayBeInitials reports whether enough letters were typed to find first letters of words.
func (t *Typed) MayBeInitials() bool { return len(t.joined) >= 3 }

// Initials reports whether the words of a title or folder begin with the typed letters,
// in that order, such as "flb" for "Fix login bug", and how well.
func (t *Typed) Initials(title, folder string) (score int, ok bool) {
	if !t.MayBeInitials() {
		return 0, false
	}
	for _, m := range fuzzy.Find(t.joined, []string{title, path.Base(folder)}) {
		if m.Score >= fewestPoints*len(t.joined) {
			return m.Score, true
		}
	}
	return 0, false
}

// InOrder reports whether the title or folder in a folded name may contain the typed
// letters in order.
func (t *Typed) InOrder(name []byte) bool {
	for range 2 { // the lines of the title and the folder
		line, rest, _ := bytes.Cut(name, []byte("\n"))
		if inOrder(t.joined, string(line)) {
			return true
		}
		name = rest
	}
	return false
}

// LettersOf returns the letters and digits of a folded text as a set, in which rare ones
// stand for each other.
func LettersOf(text []byte) (set uint32) {
	for i := 0; i < len(text); {
		c, size := rune(text[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRune(text[i:])
		}
		i += size
		if letter(c) {
			set |= letterBit(c)
		}
	}
	return set
}

// letterBit returns the bit of a folded letter in a set.
func letterBit(c rune) uint32 {
	const most = 26
	if 'a' <= c && c <= 'z' {
		return 1 << (c - 'a')
	}
	return 1 << (most + c%(32-most))
}

// wordsOf splits a folded text into words: runs of letters and digits, and each character
// of a script without spaces.
func wordsOf(text string) []string {
	var words []string
	start := -1
	end := func(at int) {
		if start >= 0 {
			words = append(words, text[start:at])
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case !letter(r):
			end(i)
		case ideograph(r):
			end(i)
			start = i
			end(i + utf8.RuneLen(r))
		case start < 0:
			start = i
		}
	}
	end(len(text))
	return words
}

// nearness returns how near word is to each word of typed. 0 means not near, and an equal
// word scores two per letter. Numbers score half of that, and only if they are equal.
func nearness(typed []string, word string) []int {
	near := make([]int, len(typed))
	for k, t := range typed {
		n := utf8.RuneCountInString(t)
		switch {
		case t == word && strings.Trim(t, "0123456789") == "":
			near[k] = n
		case t == word:
			near[k] = 2 * n
		case n < 3 || n > maxWord || strings.Trim(t, "0123456789") == "":
		default:
			long := []rune(word)
			d := distance([]rune(t), long[:min(len(long), 2*maxWord)])
			if n < len(long) {
				d = min(d, distance([]rune(t), long[:n])+1) // a mistyped beginning
			}
			if d <= slips(n) {
				near[k] = 2*n - 2*d
			} else if len(long) <= 2*n && inOrder(t, word) && t[0] == word[0] {
				near[k] = n
			}
		}
	}
	return near
}

// slips returns how many letters may be wrong in a word of n letters.
func slips(n int) int { return min(n/3, 3) }

// NearestWord returns the word that typed probably misspells or abbreviates: the first of
// the nearest words, or "" if none is near.
func NearestWord(words []string, typed string) string {
	want := []rune(fold(typed))
	if len(want) > maxWord {
		return ""
	}
	found, least := "", max(1, slips(len(want)))+1
	for _, w := range words {
		word := []rune(fold(w))
		if len(word) > 2*maxWord {
			continue
		}
		d := distance(want, word)
		if len(word) > len(want) && slices.Equal(word[:len(want)], want) {
			d = min(d, 1)
		}
		if d < least && d < len(want)-1 {
			found, least = w, d
		}
	}
	return found
}

// distance counts the insertions, deletions, replacements and swaps of neighbors that
// turn a into b.
func distance(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			d := last[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
