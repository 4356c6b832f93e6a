package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"cortext/schema"
	"cortext/store"
)

// TestLinked: whichever conversation of a family one begins with, the others of the family
// are found, however the links point and even if one side lost its link. Conversations
// without a link to it are left alone.
func TestLinked(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		n := 2 + r.IntN(12)
		family := make([]int, n) // of each conversation, the first of its family
		all := make([]store.Entry, n)
		for i := range n {
			family[i] = i
			all[i] = store.Entry{Path: fmt.Sprintf("p%02d", i), Session: &schema.Session{ID: fmt.Sprintf("id%02d", i)}}
			if i == 0 || r.IntN(3) == 0 {
				continue
			}
			of := r.IntN(i)
			family[i] = family[of]
			switch links := func(e *store.Entry) *schema.Links {
				if e.Session.Links == nil {
					e.Session.Links = new(schema.Links)
				}
				return e.Session.Links
			}; r.IntN(3) {
			case 0: // the fork alone names it
				links(&all[i]).Parent = all[of].Session.ID
			case 1: // the old one alone names it
				l := links(&all[of])
				l.Related = append(l.Related, all[i].Session.ID)
			default:
				links(&all[i]).Parent = all[of].Session.ID
				l := links(&all[of])
				l.Related = append(l.Related, all[i].Session.ID)
			}
		}
		at := r.IntN(n)
		var want []string
		for i := range n {
			if i != at && family[i] == family[at] {
				want = append(want, all[i].Path)
			}
		}
		linked, elsewhere := Linked(all, all[at:at+1])
		var got []string
		for _, e := range linked {
			got = append(got, e.Path)
		}
		if !slices.Equal(got, want) || len(elsewhere) > 0 {
			t.Fatalf("round %d: from %s: %q and %q, want %q", round, all[at].Path, got, elsewhere, want)
		}
	}
}

// TestLinkedElsewhere: a conversation that is not in the workspace is named by its id, and
// connects those that are.
func TestLinkedElsewhere(t *testing.T) {
	entry := func(id, parent string, related ...string) store.Entry {
		return store.Entry{Path: id, Session: &schema.Session{ID: id, Links: &schema.Links{Parent: parent, Related: related}}}
	}
	all := []store.Entry{entry("a", "gone", "there"), entry("b", "gone"), entry("c", ""), entry("", "a"), entry("", "")}
	linked, elsewhere := Linked(all, all[:1])
	if len(linked) != 1 || linked[0].Path != "b" || !slices.Equal(elsewhere, []string{"gone", "there"}) {
		t.Errorf("%v and %q", linked, elsewhere)
	}
}
