package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

// TestRename checks that a folder gets other words in its name, but never another's name.
func TestRename(t *testing.T) {
	s := newTestStore(t)
	create := func(id, words string) *Conversation {
		c, err := s.Create("plan", words, &schema.Session{ID: testID(id), CreatedAt: schema.NewTime(start)}, nil)
		must(t, err)
		return c
	}
	c := create("2222abcd", "untitled")
	must(t, c.Rename("the garden"))
	if s.Written(c.Path()).IsZero() {
		t.Error("it was not written here")
	}
	if !strings.Contains(c.Path(), "-plan-the-garden-") {
		t.Errorf("it is %s", c.Path())
	}
	if sess, _ := session(t, c); sess.ID != testID("2222abcd") {
		t.Errorf("%+v", sess)
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].Path != c.Path() {
		t.Errorf("%+v, %v", list, err)
	}
	if err := c.Rename("the garden"); !errors.Is(err, ErrExist) {
		t.Errorf("its own name again: %v", err)
	}
}

// TestLooks checks that the state of the logs changes with them, and that a list finds the
// conversation.
func TestLooks(t *testing.T) {
	s := newTestStore(t)
	c, err := s.Create("plan", "x", &schema.Session{ID: testID("2222abcd"), CreatedAt: schema.NewTime(start), Sources: []schema.Source{{Agent: "claude", NativeID: "n1"}}}, nil)
	must(t, err)
	before := s.Folders().LogState(c.Path())
	if before == "" || s.Folders().LogState("conversations/2026-01-01/none") != "" {
		t.Errorf("the logs look %q", before)
	}
	time.Sleep(2 * unsettled)
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Path != c.Path() || list[0].Unread() != nil || list[0].LeftByMerge() {
		t.Errorf("%+v, %v", list, err)
	}
	if _, ok := LookAt(filepath.Join(s.dir, filepath.FromSlash(c.file(sessionFile)))); !ok {
		t.Error("a file that has settled looks like nothing")
	}
}
