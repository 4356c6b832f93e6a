package find

import (
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
	typed := wordsOf(fold(query))
	typed = typed[:min(len(typed), maxTyped)]
	total := 0
	for _, t := range typed {
		total += 2 * utf8.RuneCountInString(t)
	}
	var hits []Score
	seen := map[string][]int{} // how near each word is to each typed word
	for i := range items {
		it := &items[i]
		best := make([]int, len(typed))
		consider := func(near []int) {
			for k := range near {
				best[k] = max(best[k], near[k])
			}
		}
		for _, w := range wordsOf(fold(it.Title + " " + it.Folder)) {
			near, ok := seen[w]
			if !ok {
				near = nearness(typed, w)
				seen[w] = near
			}
			consider(near)
		}
		for k, t := range typed {
			if len(t) >= idFrom && strings.ContainsAny(t, "0123456789") {
				best[k] = max(best[k], nearness(typed[k:k+1], it.ID)[0])
			}
		}
		score := 0
		for _, b := range best {
			score += b
		}
		if score*4 >= total && score > 0 {
			hits = append(hits, Score{i, score})
		}
	}
	if len(hits) == 0 {
		// Finally, try the first letters of words: "flb" for "Fix login bug".
		letters := strings.Join(typed, "")
		for i := range items {
			for _, m := range fuzzy.Find(letters, []string{items[i].Title, path.Base(items[i].Folder)}) {
				if len(letters) >= 3 && m.Score >= 5*len(letters) {
					hits = append(hits, Score{i, m.Score})
					break
				}
			}
		}
	}
	return Best(hits, n)
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
