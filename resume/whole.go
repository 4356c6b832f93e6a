package resume

import (
	"slices"
	"strings"

	"cortext/resume/tildes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// whole includes the history in full, or the last messages of it, where that fits in at most
// budget tokens beside hd.
func (b *builder) whole(hd head, budget, last int) (c choice, ok bool) {
	first := b.first(last)
	c.start = first
	c.text = hd.text(b.leftOut(first))
	run := tildes.Longest(c.text)
	var body []section // from the end on, so that one that is too long is soon known for it
	var of []int       // the messages of these
	size := tokens.Count(c.text)
	for i := len(b.h.messages) - 1; i >= first; i-- {
		for _, s := range slices.Backward(b.h.sections(&b.h.messages[i])) {
			if size+len(s)/tokens.MaxBytes > budget {
				return c, false
			}
			size += tokens.Count(string(s))
			run = max(run, tildes.Longest(string(s)))
			body, of = append(body, s), append(of, i)
		}
	}
	if size > budget {
		return c, false
	}
	if len(body) > 0 {
		run = tildes.Around(run)
		fence := strings.Repeat("~", run)
		var text strings.Builder
		text.WriteString(c.text + "\n" + introduction(run) + fence + fenceOpen)
		for i, s := range slices.Backward(body) {
			what, _, _ := strings.Cut(strings.TrimSpace(string(s)), "\n")
			c.parts = append(c.parts, Part{what, b.number(of[i]), tokens.Count(fence + string(s)), true, "everything fits"})
			text.WriteString(fence + string(s))
		}
		text.WriteString(fence + fenceClose)
		c.text = text.String()
	}
	c.count = tokens.Count(c.text)
	return c, c.count <= budget
}

// first is the index of the first message that may be included; of the last messages only, if
// last is not zero.
func (b *builder) first(last int) int {
	if last > 0 {
		return max(len(b.h.messages)-last, 0)
	}
	return 0
}

// number is that of the message at i in the conversation.
func (b *builder) number(i int) int {
	if i < len(b.h.messages) && b.h.messages[i].Number > 0 {
		return b.h.messages[i].Number
	}
	return b.earlier + i + 1
}

// stored is about how many tokens m and its calls have, by what the log says, so
// that what is left out need not be counted.
func (h *history) stored(m *schema.Message) int {
	n := believed(m.Tokens, m.Content)
	for _, p := range m.Parts(h.extra[m.ID]) {
		if p.Call != "" {
			t := h.tools[p.Call]
			n += believed(t.Tokens, string(t.Input), t.Output)
		}
	}
	return n
}

// believed returns count, or an estimate where it cannot be the number of tokens
// of the texts: a text has at most one for each byte.
func believed(count int, texts ...string) int {
	size, guess := 0, 0
	for _, t := range texts {
		size += len(t)
		guess += roughly(t)
	}
	if count <= 0 || count > size {
		return guess
	}
	return count
}

// roughly is the number of tokens of a text by its length: about four bytes make
// one in English and in code.
func roughly(text string) int { return (len(text) + 3) / 4 }
