package store

import (
	"errors"
	"strings"
	"testing"

	"cortext/schema"
)

// TestRename: a folder gets other words in its name, and not those of another.
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

// TestKnownPrune: rows of conversations that are gone do not stay for ever.
func TestKnownPrune(t *testing.T) {
	x := knownSessions{read: true, rows: map[string]row{}}
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
