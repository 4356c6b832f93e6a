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

// recentPlusSummary includes the end of the history verbatim, and summaries of what
// precedes it.
type recentPlusSummary struct{ *builder }

// summaryShare is the largest share of the room for the history, in percent, that
// summaries may take.
const summaryShare = 40

func (b recentPlusSummary) choose(hd head, budget int) (choice, bool) {
	summaries := b.coveringSummaries()
	if len(summaries) == 0 {
		return choice{}, false
	}
	r := b.read(b.first, len(b.Messages), 0)
	c, ok := b.assemble(hd, budget, r, func(room int) ([]leadSection, []excerpt.Chosen) {
		// Messages included verbatim need no summary, and dropping theirs makes room
		// for more.
		for needed := summaries; ; {
			lead := b.renderSummaries(needed, room*summaryShare/100)
			chosen := r.ChooseEnd(max(room-leadTokens(lead), 0), excerpt.ShortOutputs)
			start := slices.IndexFunc(chosen, func(t excerpt.Chosen) bool { return t.Text != "" || t.Input != "" })
			n := len(needed)
			if start >= 0 {
				needed = slices.DeleteFunc(slices.Clone(needed), func(s rangeSummary) bool { return s.Start >= r.passages[start].message })
			}
			if len(needed) == n {
				return lead, chosen
			}
		}
	})
	return c, ok && c.summarized > 0
}

// Defaults: the number of messages at the end that are not summarized, and limits on
// the messages of a range and the tokens of its summary.
const (
	defaultKeep     = 20 // if Options.Keep is not set
	extractMessages = 50
	extractTokens   = 500
)

// A rangeSummary stands for a range of messages.
type rangeSummary struct {
	summary.Range
	text   string
	method string // a word of the schema; "" if extracted for this payload
}

// validSummaries returns the existing summaries that are still valid, in order.
// Among those with the same beginning, the longest is first.
func (b *builder) validSummaries() (all []rangeSummary) {
	for _, s := range b.summaries {
		if r, ok := summary.Valid(s, b.History); ok && r.End <= len(b.Messages)-b.keep {
			all = append(all, rangeSummary{r, rawjson.Text(s.Content), s.Method})
		}
	}
	slices.SortFunc(all, func(a, b rangeSummary) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(a.text, b.text))
	})
	return all
}

// coveringSummaries covers all but the last messages: with the existing summaries
// that are still valid and, between these, with extracts of the messages.
func (b *builder) coveringSummaries() []rangeSummary {
	var all []rangeSummary
	add := func(s rangeSummary) {
		if s.End > b.first && s.text != "" {
			all = append(all, s)
		}
	}
	at := 0
	extractTo := func(end int) {
		for ; at < end; at = min(at+extractMessages, end) {
			r := summary.Range{Start: at, End: min(at+extractMessages, end)}
			add(rangeSummary{Range: r, text: summary.Extract(b.History, r, extractTokens)})
		}
	}
	for _, s := range b.validSummaries() {
		if s.Start >= at {
			extractTo(s.Start)
			add(s)
			at = s.End
		}
	}
	extractTo(max(at, len(b.Messages)-b.keep))
	return all
}

// modelSummaries returns the summaries by a model of messages that may be included.
// None overlaps another.
func (b *builder) modelSummaries() (all []rangeSummary) {
	at := b.first
	for _, s := range b.validSummaries() {
		if s.byModel() && s.Start >= at && s.text != "" {
			all = append(all, s)
			at = s.End
		}
	}
	return all
}

// byModel reports whether a model made the summary.
func (s rangeSummary) byModel() bool { return s.method != "" && s.method != schema.Extracted }

// leastSummary is the least room, in tokens, for a summary. With less for each,
// neighbours share one heading.
const leastSummary = 80

// renderSummaries renders summaries in about most tokens. Those within their share
// stay as they are; the others are condensed.
func (b *builder) renderSummaries(all []rangeSummary, most int) (lead []leadSection) {
	all = merged(all, max(most/leastSummary, 1))
	share := most / max(len(all), 1)
	short, long := 0, 0
	for _, s := range all {
		if n := tokens.Count(s.text); n <= share {
			short += n
		} else {
			long += n
		}
	}
	for _, s := range all {
		text := s.text
		if n := tokens.Count(text); n > share {
			text = summary.Condense(text, (most-short)*n/long)
		}
		if text == "" {
			continue
		}
		heading := fmt.Sprintf(" summary of messages %d to %d", b.number(s.Start), b.number(s.End-1))
		if s.byModel() {
			heading += ", made by a model (" + oneLine(s.method) + ")"
		}
		lead = append(lead, leadSection{section(heading + "\n" + strings.TrimRight(text, "\n") + "\n"), s.Range})
	}
	return lead
}

// merged merges neighbours made by the same method until about n are left.
func merged(all []rangeSummary, n int) (out []rangeSummary) {
	each := (len(all) + n - 1) / n
	for i, s := range all {
		if k := len(out) - 1; i%each != 0 && out[k].End == s.Start && out[k].method == s.method {
			out[k].End = s.End
			out[k].text = strings.TrimRight(out[k].text, "\n") + "\n\n" + s.text
			continue
		}
		out = append(out, s)
	}
	return out
}
