package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// TestChanges: what is written to a conversation is noted, once an index has started a
// list, and a list that cannot tell says so.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".workspace"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, ok := s.ChangeList().Since("", 0); ok {
		t.Error("a list of changes exists before an index asked for one")
	}
	c, err := s.Create("chat", "one", &schema.Session{Title: "one"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	mark, end, err := s.ChangeList().Start()
	if err != nil {
		t.Fatal(err)
	}
	expect := func(what string, want ...string) {
		t.Helper()
		got, ok := s.ChangeList().Since(mark, end)
		slices.Sort(got.Folders)
		slices.Sort(want)
		if !ok || !slices.Equal(got.Folders, want) {
			t.Errorf("%s: %v %q, want %q", what, ok, got.Folders, want)
		}
		end = got.End
	}
	expect("nothing")
	if _, err := c.Append(schema.Batch{Messages: []schema.Message{{ID: "m", Role: schema.User, Content: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	expect("append", c.Path())
	_ = c.Edit(func(s *schema.Session) error { return nil })
	expect("no change")
	_ = c.Edit(func(s *schema.Session) error { s.Title = "two"; return nil })
	expect("edit", c.Path())
	two, err := s.Create("chat", "two", &schema.Session{Title: "two"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	expect("create", two.Path())
	old := two.Path()
	if err := two.Rename("three"); err != nil {
		t.Fatal(err)
	}
	expect("rename", old, two.Path())
	if err := two.Delete(); err != nil {
		t.Fatal(err)
	}
	expect("remove", two.Path())

	b, err := s.ReadFile(changesFile)
	if err != nil {
		t.Fatal(err)
	}
	from := int64(len(changesHeader) + changesMark + 1)
	for what, content := range map[string]string{
		"empty":          "",
		"foreign":        "#!/bin/sh\n",
		"truncated":      string(b[:len(changesHeader)+2]),
		"another list":   strings.Replace(string(b), mark, strings.Repeat("0", changesMark), 1),
		"a changed line": strings.Replace(string(b), "conversations/", "conversatioms/", 1),
		"a broken line":  string(b) + "x\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, changesFile), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, ok := s.ChangeList().Since(mark, from); ok {
			t.Errorf("%s: the list counts", what)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, changesFile), append(b, "half a li"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.ChangeList().Since(mark, from); !ok || got.End != int64(len(b)) {
		t.Errorf("half a line at the end: %v, end %d of %d", ok, got.End, len(b))
	}

	// A list that cannot be written to would not tell of the change. (A file without write
	// permission is one, but root may write to it.)
	if err := errors.Join(os.Remove(filepath.Join(dir, changesFile)), os.Mkdir(filepath.Join(dir, changesFile), 0o700)); err != nil {
		t.Fatal(err)
	}
	_ = c.Edit(func(s *schema.Session) error { s.Title = "four"; return nil })
	if _, err := os.Lstat(filepath.Join(dir, changesFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a list that cannot be written to stays: %v", err)
	}
}
