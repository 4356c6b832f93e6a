package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestSame: work trees and clones of one repository are one place. Its folders with
// workspaces of their own are not.
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
		if got := here.same(c.other); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestUpdate: concurrent writers lose nothing, ids that are not valid file names stay
// inside the folder, and an update without a change writes nothing.
func TestUpdate(t *testing.T) {
	state := t.TempDir()
	r := In(state)
	const id = "../../../evil"
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			err := In(state).Sessions.Update("claude", id, func(s *Session) {
				s.Removed = append(s.Removed, Removal{Segment: Segment{ID: fmt.Sprint(i)}})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s, err := r.Sessions.Get("claude", id)
	if err != nil || len(s.Removed) != 8 {
		t.Fatalf("%d of 8 removals, %v", len(s.Removed), err)
	}
	if found, _ := filepath.Glob(filepath.Join(state, "cortext/sessions/claude/*.json")); len(found) != 1 {
		t.Errorf("files %q", found)
	}
	file := r.Sessions.file("claude", id)
	before, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Sessions.Update("claude", id, func(*Session) {}); err != nil {
		t.Error(err)
	}
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) {
		t.Errorf("written although nothing changed (%v)", err)
	}
}

// TestUnreadable: an unreadable file may hold a decision of the user, so it is an error
// and is not replaced. A state folder that is not absolute is refused.
func TestUnreadable(t *testing.T) {
	r := In(t.TempDir())
	if err := r.Sessions.Update("claude", "s1", func(s *Session) { s.Skipped = true }); err != nil {
		t.Fatal(err)
	}
	file := r.Sessions.file("claude", "s1")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Sessions.Get("claude", "s1"); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("%v", err)
	}
	if err := r.Sessions.Update("claude", "s1", func(s *Session) { s.Skipped = false }); err == nil {
		t.Error("it was replaced")
	}
	if err := In("state").Sessions.Update("claude", "s1", func(s *Session) { s.Skipped = true }); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("%v", err)
	}
}

// TestRemove: of several processes that remove and bring back, none undoes the work of
// another. A state folder that is not absolute is refused.
func TestRemove(t *testing.T) {
	state := t.TempDir()
	at := func(i int) Place { return Place{Workspace: fmt.Sprintf("/w%d", i)} }
	for round := range 10 {
		key := fmt.Sprint("key", round)
		if err := In(state).Removed.Add(key, at(-1)); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				if err := In(state).Removed.Add(key, at(i)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			if err := In(state).Removed.BringBack(key, at(-1).same); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		for i := -1; i < 8; i++ {
			if gone, err := In(state).Removed.Has(key, at(i).same); err != nil || gone != (i >= 0) {
				t.Errorf("removed from %s: %t, %v", at(i).Workspace, gone, err)
			}
		}
	}
	nowhere := In("state")
	for _, err := range []error{nowhere.Removed.Add("key", at(1)), nowhere.Removed.BringBack("key", at(1).same)} {
		if err == nil || !strings.Contains(err.Error(), "HOME") {
			t.Errorf("a relative folder: %v", err)
		}
	}
}

// TestSessionsUnreadable: an unreadable file is reported, and the others are read.
func TestSessionsUnreadable(t *testing.T) {
	r := In(t.TempDir())
	for _, id := range []string{"s1", "s2", "s3"} {
		if err := r.Sessions.Update("claude", id, func(s *Session) { s.Skipped = true }); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(r.Sessions.file("claude", "s2"), []byte("{\"skipped\":true"), 0o600); err != nil {
		t.Fatal(err)
	}
	var names []string
	err := r.Sessions.Each("claude", func(name string, _ Session) { names = append(names, name) })
	if err == nil || !strings.Contains(err.Error(), r.Sessions.file("claude", "s2")) || strings.Join(names, " ") != "s1 s3" {
		t.Errorf("%q, %v", names, err)
	}
	if err := r.Sessions.Each("gemini", nil); err != nil {
		t.Error(err)
	}
}
