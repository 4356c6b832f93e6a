package resume

import (
	"slices"

	"cortext/resume/excerpt"
)

// ranked includes the notes, the dialogue, and the calls that the next turns are most
// likely to need. Where it has no room for a message's text, it includes a model's
// summary of the range, if there is one.
type ranked struct{ *builder }

// Limits on the size of the notes: in percent of a payload, and in tokens.
const (
	notesShare = 3
	notesMost  = 1500
)

// modelShare is the largest share of the room for an excerpt, in percent, that a
// model's summaries may take.
const modelShare = 20

func (b ranked) choose(hd head, budget int) (choice, bool) {
	r, summaries := b.read(b.first, len(b.Messages), 0), b.modelSummaries()
	return b.assemble(hd, budget, r, func(room int) ([]leadSection, []excerpt.Chosen) {
		lead := b.notesSection(min(budget*notesShare/100, notesMost), b.number(b.first))
		room -= leadTokens(lead)
		known := append([]string{hd.text(nil)}, textOf(lead)...)
		chosen := r.Choose(room, known)
		added := b.renderSummaries(missingFrom(r, chosen, summaries), room*modelShare/100)
		if len(added) == 0 {
			return lead, chosen
		}
		known = append(known, textOf(added)...)
		return append(lead, added...), r.Choose(max(room-leadTokens(added), 0), known)
	})
}

// missingFrom returns the summaries of ranges in which an excerpt omits the text of
// some message.
func missingFrom(r *reading, chosen []excerpt.Chosen, summaries []rangeSummary) []rangeSummary {
	if len(summaries) == 0 {
		return nil
	}
	omitted := map[int]bool{} // messages whose text is omitted entirely
	for i, p := range r.passages {
		if p.tool == "" && chosen[i].Text == "" {
			omitted[p.message] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(summaries), func(s rangeSummary) bool {
		for i := s.Start; i < s.End; i++ {
			if omitted[i] {
				return false
			}
		}
		return true
	})
}

// textOf returns the texts of sections.
func textOf(lead []leadSection) (all []string) {
	for _, s := range lead {
		all = append(all, string(s.section))
	}
	return all
}
