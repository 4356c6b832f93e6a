package workspace

import (
	"errors"
	"testing"

	"cortext/cmd/internal/listing"
	"cortext/schema"
)

// TestChoices: completed conversations come last in a list to choose from, and the latest
// one is that which was active last, whatever its status.
func TestChoices(t *testing.T) {
	w := openWorkspace(t)
	if _, err := w.Latest(); !errors.Is(err, ErrNoConversation) {
		t.Errorf("without any: %v", err)
	}
	for _, title := range []string{"one thing", "two things", "three things"} {
		e, _, err := w.Begin(Beginning{Type: "plan", Title: title, Arguments: title})
		if err != nil {
			t.Fatal(err)
		}
		if title == "two things" {
			if _, err := w.SetStatus(e, schema.Completed); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := w.Choices()
	if err != nil || len(all) != 3 || all[2].Session.Title != "two things" {
		t.Errorf("%+v, %v", all, err)
	}
	first, err := w.Store.List()
	if err != nil {
		t.Fatal(err)
	}
	if e, err := w.Latest(); err != nil || e.Path != first[0].Path {
		t.Errorf("the latest is %q, %v, want %q", e.Path, err, first[0].Path)
	}

	done := listing.Filter{Statuses: []string{"completed"}, Archived: true}
	if e, err := w.PickAmong("", done); err != nil || e.Session.Title != "two things" {
		t.Errorf("among the completed: %q, %v", e.Path, err)
	}
	if e, err := w.PickAmong("thing", done); err != nil || e.Session.Title != "two things" {
		t.Errorf("among the completed, with a word: %q, %v", e.Path, err)
	}
	var missing *NotFoundError
	if _, err := w.PickAmong("one", done); !errors.As(err, &missing) || len(missing.Near) > 1 {
		t.Errorf("one that is not completed: %v", err)
	}
	var many *AmbiguousError
	if _, err := w.PickAmong("things", listing.Filter{All: true, Archived: true}); !errors.As(err, &many) || len(many.Candidates) != 2 {
		t.Errorf("several: %v", err)
	}
}
