package resume

import (
	"slices"
	"strings"

	"cortext/resume/tildes"
	"cortext/schema/tokens"
)

// fullHistory includes the full history, or all of the messages that may be included.
type fullHistory struct{ *builder }

func (b fullHistory) choose(hd head, budget int) (c choice, ok bool) {
	c = choice{strategy: FullHistory, complete: true, omitted: b.first, leftOut: b.leftOutBefore(b.first)}
	if b.Earlier > 0 && b.last == 0 {
		c.strategy = Ranked // it includes all messages that were read, but these are not the whole conversation
	}
	c.text = hd.text(c.leftOut)
	run := tildes.Longest(c.text)
	var body []section // from the end on, to find early that a history is too long
	var of []int       // the messages of these sections
	size := tokens.Count(c.text)
	for i := len(b.Messages) - 1; i >= b.first; i-- {
		for _, s := range slices.Backward(b.sections(&b.Messages[i])) {
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
		for i, s := range slices.Backward(body) {
			c.parts = append(c.parts, Part{s.heading(), b.number(of[i]), tokens.Count(fence + string(s)), true, "everything fits"})
			text.WriteString(fence + string(s))
		}
		c.text += "\n" + introduction(run) + fenced(run, text.String())
	}
	c.tokens = tokens.Count(c.text)
	return c, c.tokens <= budget
}
