package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"cortext/schema"
)

// TestOutlines checks that outlines are the same list without the texts of sessions.
func TestOutlines(t *testing.T) {
	s := newTestStore(t)
	text := func(s string) *schema.Stamp[string] { return &schema.Stamp[string]{At: schema.NewTime(start), To: s} }
	want := &schema.Session{
		ID: testID("2222abcd"), CreatedAt: schema.NewTime(start), Title: "A", TitleSet: text("A"), ContextSummary: "long", SummarySet: text("long"),
		WorkingDir: "sub", Description: "a prompt", Notes: "a note", Tags: []string{"x"}, AgentConfig: schema.AgentConfig{Agent: "claude", Model: "m", Arguments: "b"},
		Links: &schema.Links{Parent: testID("0000aaaa")}, Sources: []schema.Source{{Agent: "claude", NativeID: "n1"}},
	}
	_, err := s.Create("plan", "x", want, nil)
	must(t, err)
	damaged, err := s.Create("plan", "y", &schema.Session{ID: testID("3333abcd"), CreatedAt: schema.NewTime(start)}, nil)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(s.dir, damaged.file(sessionFile)), []byte("{"), 0o600))
	all, err := s.List()
	must(t, err)
	outlines, err := s.Outlines()
	must(t, err)
	if len(all) != 2 || len(outlines) != 2 {
		t.Fatalf("%d conversations, %d outlines", len(all), len(outlines))
	}
	for i := range all {
		all[i].Session = outline(all[i].Session)
	}
	if !reflect.DeepEqual(all, outlines) {
		t.Errorf("the outlines are %+v, want %+v", outlines, all)
	}
	for _, e := range outlines {
		s := *e.Session
		if s.TitleSet != nil || s.ContextSummary+s.Description+s.Notes+s.AgentConfig.Arguments != "" {
			t.Errorf("an outline has %+v", s)
		}
	}
	if s := outlines[0].Session; s.ID != want.ID || s.Title != "A" || s.WorkingDir != "sub" || len(s.Tags)+len(s.Sources) != 2 || s.AgentConfig.Model != "m" || s.Links.Parent != want.Links.Parent {
		t.Errorf("the outline of %+v is %+v", want, s)
	}
}

// TestSessionsOld checks that a command that writes removes the index of earlier versions,
// which may name conversations that were removed since.
func TestSessionsOld(t *testing.T) {
	s := newTestStore(t)
	create(t, s)
	old := filepath.Join(s.dir, filepath.FromSlash(sessionsOld))
	must(t, os.WriteFile(old, []byte("cortext sessions 2\n"), 0o600))
	reader := openTestStore(t, s.dir)
	_, err := reader.List()
	must(t, errors.Join(err, reader.Close()))
	if _, err := os.Lstat(old); err != nil {
		t.Errorf("a command that only reads removes it: %v", err)
	}
	must(t, s.Close())
	if _, err := os.Lstat(old); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestNotShown checks that a folder that the system lists, but does not show, is not left out.
func TestNotShown(t *testing.T) {
	s := newTestStore(t)
	folder := "conversations/2026-01-01/1000-chat-x-0001"
	if all := s.entries([]string{folder}, outline); len(all) != 1 || all[0].Path != folder {
		t.Errorf("%+v", all)
	}
}
