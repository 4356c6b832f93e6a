package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/schema"
)

// TestTxTimes: a transaction tells the first time of its messages, in any order, and when
// session.json was written.
func TestTxTimes(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	tx, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if tx.WrittenAt().IsZero() {
		t.Error("session.json was never written")
	}
	if first, err := tx.FirstTime(); first != "" || err != nil {
		t.Errorf("first time of nothing: %q, %v", first, err)
	}
	early, late := message(1), message(2)
	early.Timestamp, late.Timestamp = "2025-11-22T10:00:00.000Z", "2025-11-22T11:00:00.000Z"
	timeless := message(3)
	timeless.Timestamp = ""
	if err := tx.Append(schema.Batch{Messages: []schema.Message{timeless, late, early}}); err != nil {
		t.Fatal(err)
	}
	if first, err := tx.FirstTime(); first != early.Timestamp || err != nil {
		t.Errorf("first time: %q, %v, want %q", first, err, early.Timestamp)
	}
	if err := os.Remove(filepath.Join(s.Root(), filepath.FromSlash(c.file(sessionFile)))); err != nil {
		t.Fatal(err)
	}
	if at := tx.WrittenAt(); !at.IsZero() {
		t.Errorf("session.json is gone, but was written at %v", at)
	}
}

// TestIgnoreLocal: a .gitignore that somebody made keeps its lines and ignores everything
// afterwards.
func TestIgnoreLocal(t *testing.T) {
	for _, before := range []string{"", "cache\n", "cache", "*\n!keep\n"} {
		root := t.TempDir()
		name := filepath.Join(root, filepath.FromSlash(ignoreFile))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time changes nothing
			s, _, err := Init(root)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(name)
			if err != nil || !ignoresAll(after) || !strings.HasPrefix(string(after), before) || strings.Count(string(after), "*") > strings.Count(before, "*")+1 {
				t.Errorf("%q became %q, %v", before, after, err)
			}
		}
	}
	for _, pattern := range MergedFiles() {
		if strings.Contains(pattern, " ") || !strings.HasPrefix(pattern, conversationsDir+"/") {
			t.Errorf("%q is no pattern for files of conversations", pattern)
		}
	}
}

// TestOpenDamaged: a repair can open a conversation that nothing else can.
func TestOpenDamaged(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	list, err := s.List()
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	e := list[0]
	dir := filepath.Join(s.Root(), filepath.FromSlash(c.Path()), sessionDir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, []byte("a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Open(e); err == nil {
		c.Close()
		t.Error("a conversation whose .session is a file was opened")
	}
	damaged, err := s.OpenDamaged(e)
	if err != nil {
		t.Fatal(err)
	}
	if damaged.Path() != e.Path {
		t.Errorf("opened %s instead of %s", damaged.Path(), e.Path)
	}
	if err := damaged.Close(); err != nil {
		t.Error(err)
	}
}

// TestSalvageWithout: a record with bytes that are not UTF-8 can be left out once another
// place has it whole; the records around it stay.
func TestSalvageWithout(t *testing.T) {
	var log []byte
	for n := 1; n <= 4; n++ {
		m := message(n)
		if m.Content = "whole"; n%2 == 0 {
			m.Content = "mangled"
		}
		log = schema.AppendMessage(log, &m)
	}
	log = []byte(strings.ReplaceAll(string(log), "mangled", "mang\xffled"))
	ids := func(s salvaged) (list []string) {
		salvage(s.content, messageLog(), func(m schema.Message, _ []byte, _ heldAt) { list = append(list, m.ID) })
		return list
	}
	for _, order := range [][]int{{2, 4}, {4, 2}} {
		s := salvage(log, messageLog(), func(schema.Message, []byte, heldAt) {})
		if got := ids(s); len(got) != 4 || !s.changed() {
			t.Fatalf("salvaged %q", got)
		}
		for i, n := range order {
			s.without(message(n).ID)
			s.without(message(n).ID) // again: nothing is left to remove
			if got := ids(s); len(got) != 3-i {
				t.Errorf("without %d: %q", n, got)
			}
		}
		if got := ids(s); len(got) != 2 || got[0] != message(1).ID || got[1] != message(3).ID {
			t.Errorf("after %v: %q", order, got)
		}
	}
}
