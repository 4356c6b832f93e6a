package cli

import (
	"slices"
	"testing"

	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/picker"
	"cortext/store"
)

// TestUndoKeepsChangesOfOthers: undoing an action leaves what somebody else changed in the same
// conversation meanwhile.
func TestUndoKeepsChangesOfOthers(t *testing.T) {
	r := newReading(t)
	beginIn(t, r, 1)
	entry := func() store.Entry {
		t.Helper()
		e, err := r.w.Pick("thing")
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	act := func(key rune, text string) {
		t.Helper()
		rows, err := r.everywhere(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.act(t.Context(), picker.Action{Key: key, Text: text}, rows.Row(0)); err != nil {
			t.Fatal(err)
		}
	}
	change := func(c organise.Change) {
		t.Helper()
		if _, _, err := organise.Apply(r.w, entry(), c); err != nil {
			t.Fatal(err)
		}
	}
	undo := func() {
		t.Helper()
		if _, err := r.undoLast(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	tags := func(want ...string) {
		t.Helper()
		if got := entry().Session.Tags; !slices.Equal(got, want) {
			t.Errorf("the tags are %q, want %q", got, want)
		}
	}

	change(organise.Tag([]string{"old", "older"}))
	act(tagKey, "OLD, mine")
	tags("mine", "old", "older")
	change(organise.Tag([]string{"theirs"}))
	undo()
	tags("old", "older", "theirs")

	act(tagKey, "-old")
	tags("older", "theirs")
	change(organise.Untag([]string{"theirs"}))
	undo()
	tags("old", "older")

	act(tagKey, "-old, api, - Older")
	tags("api")
	undo()
	tags("old", "older")

	act(titleKey, "thing renamed")
	if _, err := r.w.SetTitle(entry(), "thing of theirs"); err != nil {
		t.Fatal(err)
	}
	const refused = "it was renamed again since, to thing of theirs: Alt+e renames it"
	if said, err := r.undoLast(t.Context()); err == nil || err.Error() != refused {
		t.Errorf("undoing their title: %q, %v, want the error %q", said, err, refused)
	}
	if got := entry().Session.Title; got != "thing of theirs" {
		t.Errorf("the title is %q", got)
	}

	act(titleKey, "thing renamed")
	undo()
	if got := entry().Session.Title; got != "thing of theirs" {
		t.Errorf("the title is %q", got)
	}
}

// TestActChangesNothing: an action that changes nothing says so, and there is nothing to undo.
func TestActChangesNothing(t *testing.T) {
	r := newReading(t)
	beginIn(t, r, 1)
	e, err := r.w.Pick("thing")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := organise.Apply(r.w, e, organise.Tag([]string{"old"})); err != nil {
		t.Fatal(err)
	}
	rows, err := r.everywhere(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	title := e.Session.DisplayTitle()
	for _, try := range []struct {
		key        rune
		text, want string
	}{
		{tagKey, "OLD", "already tagged OLD: " + title},
		{tagKey, "-new", "was not tagged new: " + title},
		{tagKey, "-new, OLD", "already tagged OLD, not new: " + title},
		{tagKey, "-", "there is no tag after the hyphen"},
		{titleKey, title, "already called " + title},
	} {
		said, err := r.act(t.Context(), picker.Action{Key: try.key, Text: try.text}, rows.Row(0))
		if err == nil || err.Error() != try.want {
			t.Errorf("%c %s: %q, %v, want the error %q", try.key, try.text, said, err, try.want)
		}
	}
	if said, err := r.undoLast(t.Context()); err == nil {
		t.Errorf("something was undone: %s", said)
	}
}
