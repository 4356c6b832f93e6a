package excerpt_test

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// around is how many non-space characters on each side of a name must be unchanged.
const around = 30

// inContext is [Score], except that a name counts only if the payload has it as it
// was somewhere in the history: with the characters around it, up to the ends of its
// text. In cortext's own words, ours, a name counts as it is.
func inContext(need map[string]float64, history []Said, ours, payload string) float64 {
	var texts []string
	for _, s := range history {
		for _, text := range textsIn(s) {
			texts = append(texts, withoutSpace(text))
		}
	}
	payload = withoutSpace(payload)
	have, all := 0.0, 0.0
	for _, name := range slices.Sorted(maps.Keys(need)) {
		all += need[name]
		if strings.Contains(ours, name) || inContextOf(name, texts, payload) {
			have += need[name]
		}
	}
	return have / all
}

// withoutSpace returns text without white space.
func withoutSpace(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// inContextOf reports whether the payload has a name with the context that it has in one
// of the texts.
func inContextOf(name string, texts []string, payload string) bool {
	type sides struct{ before, after string }
	there := map[sides]bool{}
	var ends []sides // in the payload, as long as possible
	eachPlace(payload, name, func(at int) {
		s := sides{lastRunes(payload[:at], around), firstRunes(payload[at+len(name):], around)}
		if !there[s] {
			there[s] = true
			ends = append(ends, s)
		}
	})
	if len(ends) == 0 {
		return false
	}
	found := false
	for _, text := range texts {
		eachPlace(text, name, func(at int) {
			s := sides{lastRunes(text[:at], around), firstRunes(text[at+len(name):], around)}
			found = found || there[s]
			if found || at >= 4*around && len(text)-at-len(name) >= 4*around { // both sides were of full length
				return
			}
			for _, e := range ends {
				if strings.HasSuffix(e.before, s.before) && strings.HasPrefix(e.after, s.after) {
					found = true
					return
				}
			}
		})
		if found {
			return true
		}
	}
	return false
}

// eachPlace calls f for every occurrence of part in text.
func eachPlace(text, part string, f func(at int)) {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return
		}
		f(from + i)
		from += i + 1
	}
}

// firstRunes and lastRunes return at most n characters from an end of a text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func lastRunes(text string, n int) string {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		at--
		for at > 0 && text[at]&0xc0 == 0x80 {
			at--
		}
	}
	return text[at:]
}
