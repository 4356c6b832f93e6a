package workspace

import (
	"slices"
	"testing"

	"cortext/cmd/internal/lifecycle"
)

// TestEvents: repeated events of a conversation become one, in order of first occurrence.
// For messages the counts are added and the last message is kept.
func TestEvents(t *testing.T) {
	w := &Workspace{}
	w.Events.Note(lifecycle.Start, "a")
	w.Events.NoteMessages(Event{Name: lifecycle.Message, Path: "a", MessageID: "m1", Role: "user", Count: 1})
	w.Events.NoteMessages(Event{Name: lifecycle.Message, Path: "b", MessageID: "n1", Role: "user", Count: 1})
	w.Events.Note(lifecycle.Start, "a")
	w.Events.NoteMessages(Event{Name: lifecycle.Message, Path: "a", MessageID: "m3", Role: "assistant", Count: 2})
	w.Events.Note(lifecycle.Message, "a")
	want := []Event{
		{Name: lifecycle.Start, Path: "a"},
		{Name: lifecycle.Message, Path: "a", MessageID: "m3", Role: "assistant", Count: 3},
		{Name: lifecycle.Message, Path: "b", MessageID: "n1", Role: "user", Count: 1},
	}
	if got := w.Events.Take(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := w.Events.Take(); len(got) > 0 {
		t.Errorf("again: %+v", got)
	}
}
