package store

import (
	"testing"

	"cortext/schema"
)

// TestHoldFromGit checks that git ignores a conversation until it is released, and that a
// person's file stays.
func TestHoldFromGit(t *testing.T) {
	s := newTestStore(t)
	c, err := s.Stage("plan", "the move", &schema.Session{}, nil)
	must(t, err)
	must(t, c.HoldFromGit())
	must(t, c.Publish())
	name := c.file(unansweredFile)
	must(t, c.Edit(func(s *schema.Session) error { s.Title = "held"; return nil }))
	if readFile(t, s, name) != unanswered {
		t.Error("it was released by a change")
	}
	release := func(tx *Tx, _ *schema.Session) error { tx.ReleaseToGit(); return nil }
	for range 2 {
		must(t, c.Update(release))
		if _, err := s.root.Lstat(name); err == nil {
			t.Error("it is still held")
		}
	}
	writeFile(t, s, name, "session.json\n")
	must(t, c.Update(release))
	if readFile(t, s, name) != "session.json\n" {
		t.Error("a person's file is gone")
	}
	must(t, s.root.Remove(name))
	must(t, s.root.Mkdir(name, 0o700))
	if err := c.Update(release); err != nil {
		t.Errorf("a folder in its place: %v", err)
	}
	if info, err := s.root.Lstat(name); err != nil || !info.Mode().IsDir() {
		t.Errorf("the folder in its place: %v, %v", info, err)
	}
	wantSound(t, s)
}
