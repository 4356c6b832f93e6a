package digest

import (
	"slices"
	"strings"

	"cortext/schema"
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
// otherwise: "no, in the other file". One that only tells what is not so, "nope, it
// does not work", says nothing of how it is to be, unless it asks for that.
func corrects(prompt []sentence) bool {
	if len(prompt) == 0 {
		return false
	}
	s := prompt[0]
	if begins(s.mask, "no", "nope", "nein", "non") == "" || s.item || s.question() || strings.Count(s.mask, " ") <= 2 ||
		begins(s.mask, "no idea", "no worries", "no problem", "no need", "no rush") != "" {
		return false
	}
	if slices.ContainsFunc(prompt, func(u sentence) bool { return has(u.mask, "please", "bitte") || demand(u) }) {
		return true
	}
	return !has(s.mask, "is", "isn't", "it's", "that's", "thats", "are", "was", "does", "doesn't", "doesnt", "did", "didn't", "don't", "still", "not working", "works", "just", "only", "i think", "i mean", "ist", "geht", "es", "est")
}

// withdrawn drops what the user has forbidden and orders now: "do not push", and
// then "commit and push".
func (s *State) withdrawn(prompt string) {
	const longest = 200 // bytes of an order, as against what a document says
	if len(prompt) > longest {
		return
	}
	units := sentences(prompt)
	s.Decisions = slices.DeleteFunc(s.Decisions, func(d Note) bool {
		what := forbidden(d)
		return len(what) > 0 && slices.ContainsFunc(units, func(u sentence) bool { return orders(u, what) })
	})
}

// forbidden are the words of what a demand of the user's forbids, the verb first.
func forbidden(d Note) []string {
	mask := strings.ToLower(d.Text)
	if d.By != schema.User {
		return nil
	}
	for _, p := range []string{"do not", "don't", "dont", "never", "please don't", "please do not"} {
		if rest, ok := strings.CutPrefix(mask, p+" "); ok {
			return slices.DeleteFunc(strings.FieldsFunc(rest, func(r rune) bool { return !wordRune(r) }), func(w string) bool {
				return slices.Contains([]string{"the", "a", "an", "any", "it", "this", "that", "yet", "now", "anything"}, w)
			})
		}
	}
	return nil
}

// orders reports whether a sentence wants done what these words say, the verb first.
func orders(s sentence, what []string) bool {
	at := find(s.mask, what[0])
	if at < 0 || s.question() || !clauseStart(s.mask[:at]) || what[0] == "do" || has(s.mask, "not", "don't", "dont", "never", "before", "without") {
		return false
	}
	return !slices.ContainsFunc(what, func(w string) bool { return !has(s.mask, w) })
}

// demanding are the words before which a demand may stand in a clause.
func demanding() []string {
	return []string{"you", "please", "to", "but", "should", "must", "can", "or", "also", "bitte"}
}

func endsIn(before string, words []string) bool {
	before = strings.TrimRight(before, " ")
	return slices.Contains(words, before[strings.LastIndexByte(before, ' ')+1:])
}
