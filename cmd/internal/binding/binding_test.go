package binding

import (
	"slices"
	"testing"
	"time"

	"cortext/cmd/internal/registry"
	"cortext/inject"
	"cortext/store"
)

// TestInOrder: segments are sorted as the commands of the transcript begin them; one that
// has not started yet comes last.
func TestInOrder(t *testing.T) {
	typed := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	tr := &inject.Transcript{Roots: []string{"r"}, Commands: []inject.Command{
		{Message: "m1", PromptID: "p1", Time: typed},
		{Message: "m2", PromptID: "p2", Time: typed.Add(time.Minute)},
	}}
	from := func(f string) Segment { return Segment{Segment: registry.Segment{From: f}} }
	segments := []Segment{from("later"), from("p2"), from(MessageFrom + "m1"), from("")}
	at := InOrder(segments, tr, []string{"r"})
	var got []string
	for _, s := range segments {
		got = append(got, s.From)
	}
	if want := []string{"", MessageFrom + "m1", "p2", "later"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if segments[at].From != "" {
		t.Errorf("the transcript begins in %q", segments[at].From)
	}
}

// TestCached: a cached binding that is not consistent is a miss.
func TestCached(t *testing.T) {
	st, _, err := store.Init(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	bs := In(st, registry.In(t.TempDir()), registry.At(st.Root()), func(error) {})
	for text, want := range map[string]bool{
		`{"segments":[{"path":"a"}],"current":0}`:          true,
		`{"segments":[{"path":"a"}],"current":1}`:          false,
		`{"segments":[{"path":"a"}],"segment_of":{"m":3}}`: false,
		`{"segments":[],"at":-1}`:                          false,
		`{`:                                                false,
	} {
		if err := st.WriteCache(fileOf("claude", "s1"), []byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, ok := bs.Cached("claude", "s1"); ok != want {
			t.Errorf("%s: %v", text, ok)
		}
	}
	if names := bs.Names("claude"); len(names) != 1 {
		t.Errorf("%q", names)
	}
}
