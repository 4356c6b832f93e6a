package resume

import (
	"strings"
	"testing"

	"cortext/resume/notes"
	"cortext/schema"
)

// TestRankedNotes checks that an excerpt begins with the notes, within their share of
// the budget.
func TestRankedNotes(t *testing.T) {
	s, h, o := long(400)
	h.Messages = append([]schema.Message{{ID: "rule", Role: schema.User, Content: "From now on, never push without asking me."}}, h.Messages...)
	o.Notes = new(notes.Notes)
	o.Notes.Add(h)
	o.Budget, o.Strategy = 4000, Ranked
	p := mustBuild(t, s, h, o)
	ps := mustParse(t, p.Text)
	if p.Strategy != Ranked || len(ps.sections) == 0 || ps.sections[0].heading != strings.TrimSpace(notesHeading) {
		t.Fatalf("%s without notes:\n%s", p.Strategy, p.Text)
	}
	if text := ps.sections[0].text; !strings.Contains(text, decisionNotes.title()+"\n") || !strings.Contains(text, "never push") {
		t.Errorf("the notes are %q", text)
	}
	for _, part := range p.Parts {
		if part.What == ps.sections[0].heading && part.Tokens > o.Budget*notesShare/100+10 {
			t.Errorf("the notes have %d tokens of %d", part.Tokens, o.Budget)
		}
	}
}
