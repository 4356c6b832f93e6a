package resume

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cortext/resume/excerpt"
	"cortext/resume/summary"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/schema/tokens"
)

// summaryShare is the largest share of the room for the history, in percent, that
// summaries may take.
const summaryShare = 40

// Defaults: the number of messages at the end that are not summarized, and limits on
// the messages of a range and the tokens of its summary.
const (
	defaultKeep     = 20 // if Options.Keep is not set
	extractMessages = 50
	summaryTokens   = 500
)

// A rangeSummary replaces a range of messages.
type rangeSummary struct {
	summary.Range
	text   string
	method string // its method: a word of the schema; "": not made yet
}

// validSummaries returns the existing summaries that are still valid, in order. Of those with
// the same beginning, the longest is first.
func (b *builder) validSummaries() (made []rangeSummary) {
	h := schema.History{Messages: b.h.messages, Tools: b.h.tools}
	for _, s := range b.summaries {
		if r, ok := summary.Valid(s, h); ok && r.End <= len(h.Messages)-b.keep {
			made = append(made, rangeSummary{r, rawjson.Text(s.Content), s.Method})
		}
	}
	slices.SortFunc(made, func(a, b rangeSummary) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.text, b.text))
	})
	return made
}

// coveringSummaries covers all but the last messages: with the existing summaries that are still
// valid and, between these, with the messages themselves.
func (b *builder) coveringSummaries(first int) []rangeSummary {
	h := schema.History{Messages: b.h.messages, Tools: b.h.tools}
	var out []rangeSummary
	add := func(r rangeSummary) {
		if r.End > first && r.text != "" {
			out = append(out, r)
		}
	}
	at := 0
	between := func(end int) {
		for ; at < end; at = min(at+extractMessages, end) {
			r := summary.Range{Start: at, End: min(at+extractMessages, end)}
			add(rangeSummary{r, summary.Extract(h, r, summaryTokens), ""})
		}
	}
	for _, r := range b.validSummaries() {
		if r.Start >= at {
			between(r.Start)
			add(r)
			at = r.End
		}
	}
	between(max(at, len(h.Messages)-b.keep))
	return out
}

// modelSummaries returns the summaries by a model of messages from first on. None overlaps
// another.
func (b *builder) modelSummaries(first int) (made []rangeSummary) {
	at := first
	for _, r := range b.validSummaries() {
		if r.method != schema.Extracted && r.Start >= at && r.text != "" {
			made = append(made, r)
			at = r.End
		}
	}
	return made
}

// modelShare is the largest share of the room for an excerpt, in percent, that a
// model's summaries may take.
const modelShare = 20

// withModelSummaries returns a model's summaries of ranges in which the excerpt omits the text of some
// message, and chooses the excerpt again for the room that this leaves.
func (b *builder) withModelSummaries(made []rangeSummary, r *reading, room int, known []string, chosen []excerpt.Chosen) ([]section, []excerpt.Chosen) {
	silent := map[int]bool{} // messages of whose text nothing is included
	for i, p := range r.passages {
		if p.tool == "" && chosen[i].Text == "" {
			silent[p.message] = true
		}
	}
	made = slices.DeleteFunc(slices.Clone(made), func(c rangeSummary) bool {
		for i := c.Start; i < c.End; i++ {
			if silent[i] {
				return false
			}
		}
		return true
	})
	lead := b.renderSummaries(made, room*modelShare/100)
	if len(lead) == 0 {
		return nil, chosen
	}
	for _, s := range lead {
		known = append(known, string(s))
	}
	return lead, r.Choose(excerpt.Options{Tokens: max(room-sectionTokens(lead), 0), Known: known})
}

// recentPlusSummary includes the end of the history verbatim, and summaries of what
// precedes it.
func (b *builder) recentPlusSummary(hd head, budget, last int) (choice, []LeftOut, bool) {
	first := b.first(last)
	recaps := b.coveringSummaries(first)
	if len(recaps) == 0 {
		return choice{}, nil, false
	}
	r := b.read(first, len(b.h.messages), 0)
	c, left, ok := b.assemble(hd, budget, func(room, _ int) (lead []section, chosen []excerpt.Chosen) {
		most := room * summaryShare / 100
		// Messages included verbatim need no summary, and dropping theirs makes room
		// for more.
		for needed := recaps; ; {
			lead = b.renderSummaries(needed, most)
			rest := max(room-sectionTokens(lead), 0)
			chosen = r.Choose(excerpt.Options{Tokens: rest, Recent: true})
			start := slices.IndexFunc(chosen, func(t excerpt.Chosen) bool { return t.Text != "" || t.Input != "" })
			n := len(needed)
			if start >= 0 {
				needed = slices.DeleteFunc(slices.Clone(needed), func(c rangeSummary) bool { return c.Start >= r.passages[start].message })
			}
			if len(needed) == n {
				return lead, chosen
			}
		}
	}, r)
	c.summarized = b.summarized(c.parts)
	return c, left, ok && c.summarized > 0
}

// summarized counts the messages that are only in a summary among parts.
func (b *builder) summarized(parts []Part) (n int) {
	included, covered := map[int]bool{}, map[int]bool{}
	for _, p := range parts {
		included[p.Message] = true
	}
	for _, p := range parts {
		var from, to int
		if _, err := fmt.Sscanf(" "+p.What, summaryHeading, &from, &to); err != nil {
			continue
		}
		for i := range b.h.messages {
			if k := b.number(i); k >= from && k <= to && !included[k] && !covered[k] {
				covered[k] = true
				n++
			}
		}
	}
	return n
}

// summaryHeading is the heading of the summary of a range of messages.
const summaryHeading = " summary of messages %d to %d"

// leastSummary is the least room, in tokens, for a summary. With less for each,
// neighbours share one heading.
const leastSummary = 80

// renderSummaries renders recaps in about most tokens. Those within their share stay as
// they are; the others are condensed.
func (b *builder) renderSummaries(recaps []rangeSummary, most int) (lead []section) {
	recaps = merged(recaps, max(most/leastSummary, 1))
	share := most / max(len(recaps), 1)
	short, long := 0, 0
	for _, r := range recaps {
		if n := tokens.Count(r.text); n <= share {
			short += n
		} else {
			long += n
		}
	}
	for _, r := range recaps {
		text := r.text
		if n := tokens.Count(text); n > share {
			text = summary.Condense(text, (most-short)*n/long)
		}
		if text != "" {
			heading := fmt.Sprintf(summaryHeading, b.number(r.Start), b.number(r.End-1))
			if r.method != "" && r.method != schema.Extracted {
				heading += ", made by a model (" + oneLine(r.method) + ")"
			}
			lead = append(lead, leadSection(heading+"\n", strings.TrimRight(text, "\n")+"\n")...)
		}
	}
	return lead
}

// merged merges neighbours made by the same method until about n are left.
func merged(all []rangeSummary, n int) (out []rangeSummary) {
	each := (len(all) + n - 1) / n
	for i, r := range all {
		if k := len(out) - 1; i%each != 0 && out[k].End == r.Start && out[k].method == r.method {
			out[k].End = r.End
			out[k].text = strings.TrimRight(out[k].text, "\n") + "\n\n" + r.text
			continue
		}
		out = append(out, r)
	}
	return out
}
