package resume

import (
	"slices"
	"strings"

	"cortext/resume/tildes"
	"cortext/schema"
	"cortext/schema/tokens"
)

// whole includes the full history, or its last messages, if it fits in budget tokens
// together with hd.
func (b *builder) whole(hd head, budget, last int) (c choice, ok bool) {
	first := b.first(last)
	c.start = first
	c.text = hd.text(b.leftOut(first))
	run := tildes.Longest(c.text)
	var body []section // from the end on, to find early that a history is too long
	var of []int       // the messages of these sections
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

// first returns the index of the first message that may be included. If last is not
// zero, only the last messages may.
func (b *builder) first(last int) int {
	if last > 0 {
		return max(len(b.h.messages)-last, 0)
	}
	return 0
}

// number returns the number of the message at i in the conversation.
func (b *builder) number(i int) int {
	if i < len(b.h.messages) && b.h.messages[i].Number > 0 {
		return b.h.messages[i].Number
	}
	return b.earlier + i + 1
}

// recordedTokens estimates the tokens of m and its calls from the counts in the log, so that
// omitted messages need no counting.
func (h *history) recordedTokens(m *schema.Message) int {
	n := estimateUnlessCounted(m.Tokens, m.Content)
	for _, p := range m.Parts(h.extra[m.ID]) {
		if p.Call != "" {
			t := h.tools[p.Call]
			n += estimateUnlessCounted(t.Tokens, string(t.Input), t.Output)
		}
	}
	return n
}

// estimateUnlessCounted returns count, or an estimate if it cannot be the token count of the
// texts: a text has at most one token per byte.
func estimateUnlessCounted(count int, texts ...string) int {
	size, guess := 0, 0
	for _, t := range texts {
		size += len(t)
		guess += estimate(t)
	}
	if count <= 0 || count > size {
		return guess
	}
	return count
}

// estimate estimates the tokens of a text from its length: in English and in code, one
// is about four bytes.
func estimate(text string) int { return (len(text) + 3) / 4 }
