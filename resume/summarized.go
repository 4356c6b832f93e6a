package resume

import (
	"cmp"
	"fmt"
	"slices"
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
// the most messages of a range and tokens of its summary (seed 002, 4.5).
const (
	keptMessages  = 20 // if Options.Keep does not say
	summedAtOnce  = 50
	summaryTokens = 500
)

// A recap is what is told of a range of messages instead of them.
type recap struct {
	summary.Range
	text string
}

// recaps sums up all but the last messages: by the summaries that were made and
// still hold, and what lies between these by what stands in it.
func (b *builder) recaps(first int) []recap {
	h := schema.History{Messages: b.h.messages, Tools: b.h.tools}
	var made []recap
	for _, s := range b.summaries {
		if r, ok := summary.Valid(s, h); ok && r.End <= len(h.Messages)-b.keep {
			made = append(made, recap{r, rawjson.Text(s.Content)})
		}
	}
	slices.SortFunc(made, func(a, b recap) int { // of those that begin alike the longest
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.text, b.text))
	})
	var out []recap
	add := func(r recap) {
		if r.End > first && r.text != "" {
			out = append(out, r)
		}
	}
	at := 0
	between := func(end int) {
		for ; at < end; at = min(at+summedAtOnce, end) {
			r := summary.Range{Start: at, End: min(at+summedAtOnce, end)}
			add(recap{r, summary.Extract(h, r, summaryTokens)})
		}
	}
	for _, r := range made {
		if r.Start >= at {
			between(r.Start)
			add(r)
			at = r.End
		}
	}
	between(max(at, len(h.Messages)-b.keep))
	return out
}

// recentPlusSummary tells the end of the history as it was said, and summaries of what
// comes before.
func (b *builder) recentPlusSummary(hd head, budget, last int) (choice, []LeftOut, bool) {
	first := 0
	if last > 0 {
		first = max(len(b.h.messages)-last, 0)
	}
	recaps := b.recaps(first)
	if len(recaps) == 0 {
		return choice{}, nil, false
	}
	r := b.rank(first, len(b.h.messages))
	c, left, ok := b.tell(hd, budget, func(room, _ int) ([]section, []rank.Told) {
		choose := func(room int) []rank.Told {
			return r.Choose(rank.Options{Tokens: room, Recent: room * 3 / 4})
		}
		most := room * summaryShare / 100
		told := choose(room - most)
		start := slices.IndexFunc(told, func(t rank.Told) bool { return t.Text != "" })
		needed := slices.DeleteFunc(slices.Clone(recaps), func(c recap) bool { return start >= 0 && c.Start >= r.message[start] })
		lead := b.tellRecaps(needed, most)
		return lead, choose(max(room-sectionTokens(lead), 0))
	}, r)
	if i := slices.IndexFunc(c.parts, func(p Part) bool { return p.Message > 0 }); ok && i >= 0 {
		for _, r := range recaps {
			c.summarized += max(min(r.End, c.parts[i].Message-b.earlier-1)-r.Start, 0)
		}
	}
	return c, left, ok
}

// tellRecaps tells recaps in most tokens, about.
func (b *builder) tellRecaps(recaps []recap, most int) (lead []section) {
	size := 0
	for _, r := range recaps {
		size += tokens.Count(r.text)
	}
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
	return lead
}
