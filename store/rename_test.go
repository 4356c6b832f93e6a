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

// TestKnownPrune checks that the rows of conversations that are gone are dropped
// eventually.
func TestKnownPrune(t *testing.T) {
	x := sessionIndex{read: true, rows: map[string]row{}}
	for _, name := range []string{"a", "b", "c"} {
		x.rows[name+"/"+sessionDir+"/"+sessionFile] = row{size: 1}
	}
	x.prune([]string{"b"})
	if len(x.rows) != 3 {
		t.Errorf("few rows are pruned: %d", len(x.rows))
	}
	for i := range 100 {
		x.rows[strings.Repeat("y", i+1)] = row{size: 1}
	}
	if x.prune([]string{"b"}); len(x.rows) != 1 || x.live != 1 {
		t.Errorf("%d rows of %d bytes are left, not one", len(x.rows), x.live)
	}
}

// TestLooks checks that the state of the logs changes with them, and that a list finds a
// conversation both by reading it and in the index.
func TestLooks(t *testing.T) {
	s := newTestStore(t)
	c, err := s.Create("plan", "x", &schema.Session{ID: testID("2222abcd"), CreatedAt: schema.NewTime(start), Sources: []schema.Source{{Agent: "claude", NativeID: "n1"}}}, nil)
	must(t, err)
	before := s.Folders().LogState(c.Path())
	if before == "" || s.Folders().LogState("conversations/2026-01-01/none") != "" {
		t.Errorf("the logs look %q", before)
	}
	time.Sleep(2 * unsettled)
	s.Remember()
	for range 2 { // first by reading it, then from the index
		list, err := s.List()
		if err != nil || len(list) != 1 || list[0].Path != c.Path() || list[0].Unread() != nil || list[0].LeftByMerge() {
			t.Errorf("%+v, %v", list, err)
		}
	}
	if _, ok := LookAt(filepath.Join(s.dir, filepath.FromSlash(c.file(sessionFile)))); !ok {
		t.Error("a file that has settled looks like nothing")
	}
}
