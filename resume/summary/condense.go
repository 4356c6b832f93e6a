package summary

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// Condense returns text if it has at most maxTokens tokens of o200k_base, else those
// of its sentences that carry most, as many as fit, in their order: decisions,
// errors, names and numbers, and the first and last sentence of a paragraph. No
// sentence is cut; one that is too long by itself is left out. It is empty if none
// fits.
func Condense(text string, maxTokens int) string {
	text = strings.TrimSpace(text)
	if text == "" || maxTokens <= 0 {
		return ""
	}
	if !tooLong(text, maxTokens) {
		return text
	}
	all := sentences(text)
	weights := make([]int, len(all))
	for i, s := range all {
		weights[i] = weight(s)
	}
	if len(all) > 0 {
		// Where it began and where it got to.
		weights[0] += 3
		weights[len(all)-1] += 2
	}
	return choose(all, weights, maxTokens, maxTokens)
}

// Extract sums up a range without a model, in at most maxTokens tokens: with the
// sentences of the user and the agent that carry most.
func Extract(h schema.History, r Range, maxTokens int) string {
	var all []sentence
	var weights []int
	seen := map[string]bool{}
	par, began := 0, false
	for i := max(r.Start, 0); i < min(r.End, len(h.Messages)); i++ {
		m := &h.Messages[i]
		if m.Sealed != "" || m.Role != schema.User && m.Role != schema.Assistant {
			continue
		}
		said := sentences(bounded(rawjson.Text(m.Content)))
		short := len(said) > 0 && said[len(said)-1].par < shortMessage
		for j, s := range said {
			w := weight(s)
			task := m.Role == schema.User && !began && prose(s.text)
			switch {
			case task:
				w, began = w+2+ofCourse, true
			case m.Role == schema.User && (s.par <= said[0].par+1 || short && !s.heading):
				w += 2 // also without the end of a sentence: people type so, and a plan has its name there
			case m.Role == schema.User && !endsSentence(s.text), !standsAlone(s, w), m.Role == schema.Assistant && asks(s.text):
				continue
			}
			if seen[s.text] || w < 2 || !prose(s.text) || !endsSentence(s.text) && m.Role != schema.User {
				continue
			}
			seen[s.text] = true
			said[j].par, said[j].message = s.par+par, i
			all, weights = append(all, said[j]), append(weights, w)
		}
		if len(all) > 0 {
			par = all[len(all)-1].par + 1
		}
	}
	if len(all) > 0 {
		weights[len(all)-1] += ofCourse // the outcome
	}
	return choose(all, weights, maxTokens, max(maxTokens/3, minShare))
}

// shortMessage is the number of paragraphs below which a user's message was typed, and
// not pasted: then each line of it counts, and not only what is a sentence.
const shortMessage = 12

// standsAlone reports whether a sentence says something to who does not see those
// around it. A heading does not, nor an exclamation ("There it is!"), nor an item of a
// list that is a step ("4. Commit and push.") and not a finding.
func standsAlone(s sentence, w int) bool {
	const few, some = 5, 7
	n := words(s.text)
	switch {
	case s.heading:
		return false
	case s.item:
		return n >= some && w >= 6 // each is the first and the last of its paragraph
	}
	return n > few || n == few && w >= 4
}

// asks reports whether an agent's sentence is a question: what it offers to do next is
// said by whether the user wants it.
func asks(s string) bool { return strings.HasSuffix(strings.TrimRight(s, closers), "?") }

// ofCourse is the weight of what no extract is without, if it fits.
const ofCourse = 10

// minShare is how many tokens of an extract one message may always have.
const minShare = 100

// maxRead is how much of a message is read: a summary is not better for the middle of
// a pasted log.
const maxRead = 32 << 10

func bounded(text string) string {
	if len(text) <= maxRead {
		return text
	}
	return withoutMiddle(text, maxRead)
}

// choose returns the sentences of most weight for their length that have together at
// most maxTokens tokens, and at most share those of one message.
func choose(all []sentence, weights []int, maxTokens, share int) string {
	sizes := make([]int, len(all))
	order := make([]int, 0, len(all))
	for i, s := range all {
		if tooLong(s.text, maxTokens) {
			continue
		}
		sizes[i] = tokens.Count(" " + s.text)
		order = append(order, i)
	}
	// Weight by length, where a short sentence is not better for being short.
	const base = 20
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(weights[b]*(base+sizes[a]), weights[a]*(base+sizes[b]))
	})
	var chosen []int
	used, usedOf := 0, map[int]int{}
	for _, i := range order {
		if m := all[i].message; used+sizes[i] <= maxTokens && usedOf[m]+sizes[i] <= share {
			chosen = append(chosen, i)
			used += sizes[i]
			usedOf[m] += sizes[i]
		}
	}
	for len(chosen) > 0 {
		text := assemble(all, chosen)
		if !tooLong(text, maxTokens) {
			return text
		}
		chosen = chosen[:len(chosen)-1] // what stands between sentences counts too
	}
	return ""
}

// assemble puts the chosen sentences together in their order, each paragraph on a
// line.
func assemble(all []sentence, chosen []int) string {
	var b strings.Builder
	par := -1
	for _, i := range slices.Sorted(slices.Values(chosen)) {
		switch {
		case par < 0:
		case par == all[i].par:
			b.WriteByte(' ')
		default:
			b.WriteByte('\n')
		}
		par = all[i].par
		b.WriteString(all[i].text)
	}
	return b.String()
}

// largestToken is the length in bytes of the longest token of o200k_base.
const largestToken = 128

// tooLong reports whether s has more than most tokens. It does not count those of a
// text that is far too long.
func tooLong(s string, most int) bool {
	return len(s) > most && (len(s)/largestToken > most || tokens.Count(s) > most)
}

// weight is how much a sentence says that the next turns will need.
func weight(s sentence) int {
	w := 0
	if s.first {
		w += 2
	}
	if s.last {
		w++
	}
	lower := strings.ToLower(s.text)
	for _, c := range []struct {
		weight int
		words  []string
	}{
		{4, []string{"decid", "decision", "chose", "agreed", "instead of", "rather than", "because", "must", "never", "always", "prefer", "constraint", "require", "entschieden", "statt", "decidi", "décid", "决定", "必须"}},
		{3, []string{"error", "fail", "panic", "exception", "crash", "bug", "broke", "fixed", "resolved", "fehler", "错误"}},
		{3, []string{"todo", "pending", "remaining", "still", "next", "not yet", "blocked", "open question", "unresolved", "offen", "待"}},
		{2, []string{"created", "added", "modified", "deleted", "removed", "renamed", "changed", "implemented", "wrote", "tests pass", "all tests"}},
	} {
		if slices.ContainsFunc(c.words, func(word string) bool { return wordIn(lower, word) }) {
			w += c.weight
		}
	}
	for _, p := range []string{"let me ", "let's ", "now ", "i'll ", "i will ", "i need to ", "i should ", "wait, ", "actually, ", "okay, ", "ok, ", "good, ", "good - ", "looks like "} {
		if strings.HasPrefix(lower, p) || p == "i'll " && strings.Contains(lower, " i'll ") {
			w -= 3 // what is about to be done is told again when it is done
		}
	}
	names, numbers := 0, 0
	for word := range strings.FieldsSeq(s.text) {
		switch word = strings.Trim(word, ".,;:!?()[]\"'*"); {
		case name(word):
			names++
		case strings.ContainsAny(word, "0123456789"):
			numbers++
		}
	}
	return w + min(names, 3) + min(numbers, 2)
}

// prose reports whether most of s is words, unlike a line of a log or of code.
func prose(s string) bool {
	n, others := 0, 0
	for word := range strings.FieldsSeq(s) {
		word = strings.Trim(word, ".,;:!?()\"'*`“”’")
		if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' && r != '’' && r != '-'
		}) {
			n += words(word)
		} else {
			others++
		}
	}
	return n >= 3 && n > others
}

// words counts the words of a text; some scripts have no spaces between them.
func words(s string) (n int) {
	for word := range strings.FieldsSeq(s) {
		n += 1 + len(word)/24
	}
	return n
}

// wordIn reports whether a word of s begins with prefix.
func wordIn(s, prefix string) bool {
	for from := 0; ; {
		at := strings.Index(s[from:], prefix)
		if at < 0 {
			return false
		}
		at += from
		if at == 0 || prefix[0] >= 0x80 || !(s[at-1] >= 'a' && s[at-1] <= 'z') {
			return true
		}
		from = at + 1
	}
}

// name reports whether a word is the name of something in a program: a path, an
// identifier, a flag, a piece of code.
func name(word string) bool {
	inner := strings.Trim(word, "./-")
	if len(inner) < 2 {
		return false
	}
	if strings.ContainsAny(inner, "/_`=<>{}") || strings.HasPrefix(word, "-") || strings.Contains(inner, "::") {
		return true
	}
	if dot := strings.LastIndexByte(inner, '.'); dot > 0 && dot < len(inner)-1 && !strings.ContainsAny(inner[dot+1:], "0123456789") {
		return true
	}
	small := false
	for _, r := range inner {
		if unicode.IsUpper(r) && small {
			return true // camelCase
		}
		small = unicode.IsLower(r)
	}
	return false
}
