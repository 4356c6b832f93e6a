package resume

import (
	"fmt"
	"strings"

	"cortext/resume/rank"
	"cortext/resume/summary"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// summaryShare is the most that summaries may take of the room for the history, in
// percent.
const summaryShare = 40

// Where nothing else was said: the messages at the end that are not summed up, and
// the most tokens of a summary (seed 002, 4.5).
const (
	keptMessages  = 20
	summaryTokens = 500
)

// A recap is what is told of a range of messages instead of them.
type recap struct {
	summary.Range
	text string
}

// recaps sums up all but the last messages: by the summaries that were made of a
// range and still hold, else by what stands in it.
func (b *builder) recaps(first int) []recap {
	h := schema.History{Messages: b.h.messages, Tools: b.h.tools}
	ranges := summary.Plan(h, summary.Options{})
	if n := len(h.Messages) - keptMessages; len(ranges) == 0 && n > 0 {
		ranges = []summary.Range{{Start: 0, End: n}}
	}
	made := map[summary.Range]string{}
	for _, s := range b.summaries {
		if r, ok := summary.Valid(s, h); ok {
			made[summary.Range{Start: r.Start, End: r.End}] = rawjson.Text(s.Content)
		}
	}
	var out []recap
	for _, r := range ranges {
		if r.End <= first {
			continue
		}
		text, ok := made[summary.Range{Start: r.Start, End: r.End}]
		if !ok {
			text = summary.Extract(h, r, summaryTokens)
		}
		if text != "" {
			out = append(out, recap{r, text})
		}
	}
	return out
}

// recentPlusSummary tells summaries of all but the last messages, and these.
func (b *builder) recentPlusSummary(hd head, budget, last int) (choice, []LeftOut, bool) {
	first := 0
	if last > 0 {
		first = max(len(b.h.messages)-last, 0)
	}
	recaps := b.recaps(first)
	size := 0
	for _, r := range recaps {
		size += tokens.Count(r.text)
	}
	if len(recaps) == 0 {
		return choice{}, nil, false
	}
	r := b.rank(first, len(b.h.messages))
	return b.tell(hd, budget, func(room int) ([]section, []rank.Told) {
		var lead []section
		most := room * summaryShare / 100
		for _, r := range recaps {
			text := r.text
			if size > most {
				text = summary.Condense(text, most*tokens.Count(text)/size)
			}
			heading := fmt.Sprintf(" summary of messages %d to %d\n", b.earlier+r.Start+1, b.earlier+r.End)
			if text != "" {
				lead = append(lead, led(heading, strings.TrimRight(text, "\n")+"\n")...)
			}
		}
		for _, s := range lead {
			room -= tokens.Count(string(s)) + fenceTokens
		}
		room = max(room, 0)
		return lead, r.Choose(rank.Options{Tokens: room, Recent: room * 3 / 4})
	}, r)
}
