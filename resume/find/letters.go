package find

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sahilm/fuzzy"
)

// minLetters is the length from which a word of the query may stand scattered in
// a title; a shorter one is found in nearly all of them.
const minLetters = 4

// byLetters finds titles and folder names in which each word of the query stands
// with letters left out, best first. The order is that of package fuzzy; what
// counts at all is stricter (see [scattered]), since fuzzy takes any text that
// has the letters in their order, as long titles have by accident.
func byLetters(items []Item, query string) []int {
	words := strings.Fields(fold(query))
	type hit struct{ at, score int }
	var hits []hit
	for i := range items {
		texts := []string{items[i].Title, path.Base(items[i].Folder)}
		folded := []string{fold(texts[0]), fold(texts[1])}
		score, found := 0, 0
		for _, w := range words {
			if !slices.ContainsFunc(folded, func(t string) bool { return strings.Contains(t, w) || scattered(w, t) }) {
				break
			}
			found++
			if best := fuzzy.Find(w, texts); len(best) > 0 {
				score += best[0].Score
			}
		}
		if found == len(words) {
			hits = append(hits, hit{i, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	indexes := make([]int, len(hits))
	for i, h := range hits {
		indexes[i] = h.at
	}
	return indexes
}

// What a gap between two letters costs: the next letter begins a word, or stands
// inside the one before.
const (
	gapToWord   = 1
	gapWithin   = 2
	perSkipped  = 1 // each whole word left out
	unreachable = 1 << 30
)

// scattered reports whether the letters of word stand in text close enough
// together that it is no accident: from the beginning of a word on, with each gap
// leading to the beginning of a later word or staying inside the same one, and
// with few gaps for the letters there are.
func scattered(word, text string) bool {
	n := utf8.RuneCountInString(word)
	if n < minLetters {
		return false
	}
	return cost(word, text) <= n/2
}
