package resume

import (
	"cortext/resume/excerpt"
	"cortext/schema"
	"cortext/schema/tokens"
)

// minimalState includes the notes and the user's last message.
type minimalState struct{ *builder }

func (b minimalState) choose(hd head, budget int) (choice, bool) {
	last := max(b.lastRequest(), 0)
	r := b.read(last, min(last+1, len(b.Messages)), 0)
	return b.assemble(hd, budget, r, func(room int) ([]leadSection, []excerpt.Chosen) {
		lead := b.notesSection(room*2/3, b.number(last))
		return lead, r.Choose(max(room-leadTokens(lead), 0), nil)
	})
}

// lastRequest returns the index of the last user message that is not just a goodbye,
// or -1 if there is none.
func (b *builder) lastRequest() int {
	last := -1
	for i := len(b.Messages) - 1; i >= 0; i-- {
		if b.Messages[i].Role != schema.User {
			continue
		}
		if b.notes == nil || b.notes.LastUser.Number == 0 || b.number(i) == b.notes.LastUser.Number {
			return i
		}
		last = max(last, i)
	}
	return last
}

// headOnly returns the payload for a budget with no room for any message. The user's
// first and last requests go into the block, which is shorter than the fence and its
// introduction.
func (b *builder) headOnly(hd head, budget int) (head, choice) {
	left := b.leftOutBefore(len(b.Messages))
	hd.addRequests(b.notes, b.Messages)
	hd.trimToFit(left, budget)
	text := hd.text(left)
	return hd, choice{strategy: MinimalState, text: text, tokens: tokens.Count(text), leftOut: left, omitted: len(b.Messages)}
}
