package flow

import (
	"slices"
	"testing"

	"cortext/cmd/internal/lifecycle"
)

// TestNotes: the same event of a conversation is one, in the order in which they
// came first; of messages the counts are added and the last one is kept.
func TestNotes(t *testing.T) {
	w := &Workspace{}
	w.note(lifecycle.Start, "a")
	w.noteMessages("a", "m1", "user", 1)
	w.noteMessages("b", "n1", "user", 1)
	w.note(lifecycle.Start, "a")
	w.noteMessages("a", "m3", "assistant", 2)
	w.note(lifecycle.Message, "a")
	want := []Happening{
		{Event: lifecycle.Start, Path: "a"},
		{Event: lifecycle.Message, Path: "a", MessageID: "m3", Role: "assistant", Count: 3},
		{Event: lifecycle.Message, Path: "b", MessageID: "n1", Role: "user", Count: 1},
	}
	if got := w.Happened(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := w.Happened(); len(got) > 0 {
		t.Errorf("again: %+v", got)
	}
}
