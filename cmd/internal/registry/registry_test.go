package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestSame: work trees and clones of one repository are one place, folders of it that
// hold workspaces of their own are not.
func TestSame(t *testing.T) {
	here := Place{Workspace: "/a", Repository: "/a/.git", Within: ".", Commits: []string{"c1", "c2"}}
	for name, c := range map[string]struct {
		other Place
		same  bool
	}{
		"itself":                              {Place{Workspace: "/a"}, true},
		"another work tree":                   {Place{Workspace: "/b", Repository: "/a/.git", Within: "."}, true},
		"a clone":                             {Place{Workspace: "/c", Repository: "/c/.git", Within: ".", Commits: []string{"c2"}}, true},
		"a folder of it":                      {Place{Workspace: "/a/sub", Repository: "/a/.git", Within: "sub", Commits: []string{"c1"}}, false},
		"another repository":                  {Place{Workspace: "/d", Repository: "/d/.git", Within: ".", Commits: []string{"d1"}}, false},
		"no repository":                       {Place{Workspace: "/e", Within: "."}, false},
		"a clone of which no commit is known": {Place{Workspace: "/c", Repository: "/c/.git", Within: "."}, false},
	} {
		if got := here.Same(c.other); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUpdate: several writers at once lose nothing, ids that are no names of files
// stay inside, and what changes nothing writes nothing.
func TestUpdate(t *testing.T) {
	state := t.TempDir()
	r := In(state)
	const id = "../../../evil"
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := In(state).Update("claude", id, func(s *Session) {
				s.Removed = append(s.Removed, Removal{Segment: Segment{ID: fmt.Sprint(i)}})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := r.Session("claude", id)
	if err != nil || len(s.Removed) != 8 {
		t.Fatalf("%d of 8 removals, %v", len(s.Removed), err)
	}
	if found, _ := filepath.Glob(filepath.Join(state, "cortext/sessions/claude/*.json")); len(found) != 1 {
		t.Errorf("files %q", found)
	}
	file := r.file("claude", id)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Update("claude", id, func(*Session) {}); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("written although nothing changed (%v)", err)
	}
}

// TestUnreadable: a file that cannot be read may hold the user's word, so it is an
// error and is not replaced; a state folder that is not absolute is refused.
func TestUnreadable(t *testing.T) {
	r := In(t.TempDir())
	if err := r.Update("claude", "s1", func(s *Session) { s.Skipped = true }); err != nil {
		t.Fatal(err)
	}
	file := r.file("claude", "s1")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Session("claude", "s1"); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
	if err := r.Update("claude", "s1", func(s *Session) { s.Skipped = false }); err == nil {
		t.Error("it was replaced")
	}
	if err := In("state").Update("claude", "s1", func(s *Session) { s.Skipped = true }); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("%v", err)
	}
}
