package digest

import (
	"slices"
	"strings"
)

// demand reports whether a sentence of the user's forbids something or demands
// that it be so: "never", "always", "do not", "must", "use X instead of Y". What
// only tells of the world ("it never ends", "I don't know") is none.
func demand(s sentence) bool {
	if s.heading || s.unclosed || s.question() && begins(s.mask, "can you", "could you", "would you", "will you", "please", "kannst du") == "" {
		return false
	}
	if strings.Count(s.mask, " ") < 2 && len(s.text) < 12 {
		return false
	}
	for _, d := range []struct {
		phrase string
		after  []string // words that may stand before it; nil: any
		before []string // words that may not stand behind it
	}{
		{"do not", demanding(), []string{"know", "worry", "think", "see", "understand", "have", "care", "mind", "remember"}},
		{"don't", demanding(), []string{"know", "worry", "think", "see", "understand", "have", "care", "mind", "remember", "you", "we"}},
		{"dont", demanding(), []string{"know", "worry", "think", "see", "understand", "have", "care", "mind", "you", "we"}},
		{"i don't want", nil, nil}, {"i do not want", nil, nil}, {"we don't want", nil, nil}, {"we do not want", nil, nil}, {"we don't need", nil, nil}, {"no need to", nil, nil},
		{"never", demanding(), []string{"mind", "seen", "had", "been"}},
		{"always", demanding(), nil},
		{"must", nil, []string{"have", "be missing", "be a bug", "be wrong", "be something", "be because"}},
		{"should never", nil, nil}, {"should always", nil, nil}, {"should not", nil, []string{"have"}}, {"shouldn't", nil, []string{"have", "we", "it", "you", "be a problem"}}, {"should only", nil, nil},
		{"may not", nil, []string{"be", "have", "work"}}, {"is not allowed", nil, nil}, {"are not allowed", nil, nil},
		{"make sure", demanding(), nil}, {"be sure to", demanding(), nil}, {"ensure that", demanding(), nil}, {"from now on", nil, nil}, {"at all costs", nil, nil},
		{"avoid", demanding(), nil}, {"prefer", demanding(), nil},
		{"i want", nil, []string{"to know", "to see", "to understand"}}, {"i wanted", nil, []string{"to know", "to see", "to ask"}}, {"i only want", nil, nil}, {"we want", nil, nil},
		{"only use", demanding(), nil}, {"use only", demanding(), nil},
		{"nie", nil, nil}, {"niemals", nil, nil}, {"immer", demanding(), nil}, {"darf nicht", nil, nil}, {"dürfen nicht", nil, nil}, {"bitte nicht", nil, nil}, {"auf keinen fall", nil, nil},
		{"nunca", nil, nil}, {"siempre", demanding(), nil}, {"no uses", nil, nil}, {"jamais", nil, nil}, {"toujours", demanding(), nil},
		{"不要", nil, nil}, {"必须", nil, nil}, {"禁止", nil, nil}, {"务必", nil, nil}, {"始终", nil, nil}, {"不得", nil, nil},
	} {
		at := find(s.mask, d.phrase)
		if at < 0 || d.after != nil && !clauseStart(s.mask[:at]) && !endsIn(s.mask[:at], d.after) {
			continue
		}
		if endsIn(s.mask[:at], []string{"i"}) {
			continue // what the writer has to do, or feels
		}
		if begins(strings.TrimLeft(s.mask[at+len(d.phrase):], " "), d.before...) == "" {
			return true
		}
	}
	if last := strings.TrimRight(s.mask, ".! "); strings.HasSuffix(last, " always") && begins(s.mask, "it", "this", "that", "they", "the", "i", "why") == "" {
		return true
	}
	if has(s.mask, "instead of", "rather than", "statt", "en vez de", "au lieu de") {
		verb := begins(s.mask, "use", "please use", "do", "put", "make", "call", "return", "keep", "write", "let's", "we should", "you should", "i'd", "i want", "please", "change", "move", "take", "go", "nimm", "usa")
		return verb != "" || has(s.mask, "should", "use", "want")
	}
	return false
}

// corrects reports whether a prompt that begins with s says that it is to be
// otherwise: "no, in the other file".
func corrects(s sentence) bool {
	return begins(s.mask, "no", "nope", "nein", "non") != "" && !s.item && !s.question() && strings.Count(s.mask, " ") > 2 &&
		begins(s.mask, "no idea", "no worries", "no problem", "no need", "no rush") == ""
}

// demanding are the words before which a demand may stand in a clause.
func demanding() []string {
	return []string{"you", "please", "to", "but", "should", "must", "can", "or", "also", "bitte"}
}

func endsIn(before string, words []string) bool {
	before = strings.TrimRight(before, " ")
	return slices.Contains(words, before[strings.LastIndexByte(before, ' ')+1:])
}
