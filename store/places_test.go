package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/schema"
)

// TestRepairFolder: a folder that is gone comes back from copies of its files; a plan
// changes nothing, and files that are there stay.
func TestRepairFolder(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	if _, err := c.Append(schema.Batch{Messages: []schema.Message{{ID: "a", Role: schema.User, Content: "hello", Timestamp: "2025-11-22T10:00:00.000Z"}}}); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, name := range []string{sessionDir + "/" + sessionFile, sessionDir + "/" + messagesFile, "brainstorm.md"} {
		b, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(c.Path()), name))
		if err != nil {
			continue // the document is optional
		}
		files[c.Path()+"/"+name] = b
	}
	folder := filepath.Join(s.dir, filepath.FromSlash(c.Path()))
	must(t, os.RemoveAll(folder))
	plan, err := s.Repairs().PlanFolder(c.Path(), "git", files)
	if err != nil || len(plan.Steps) != len(files) {
		t.Fatalf("planned %+v, %v", plan, err)
	}
	if _, err := os.Stat(folder); err == nil {
		t.Error("the plan made the folder")
	}
	if _, err := s.Repairs().PlanFolder(c.Path(), "git", map[string][]byte{"elsewhere/x": nil}); err == nil {
		t.Error("a file outside of the folder was planned")
	}
	if _, err := s.Repairs().RepairFolder(c.Path(), "git", files); err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if b, err := os.ReadFile(filepath.Join(s.dir, filepath.FromSlash(name))); err != nil || string(b) != string(want) {
			t.Errorf("%s: %v, %q", name, err, b)
		}
	}
	again, err := s.Repairs().RepairFolder(c.Path(), "git", files)
	if err != nil || len(again.Steps) > 0 {
		t.Errorf("the second time: %+v, %v", again, err)
	}
}

// TestKeptCopies: records that git took and bytes that were set aside are found.
func TestKeptCopies(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	message := schema.Message{ID: "a", Role: schema.User, Content: "hello", Timestamp: "2025-11-22T10:00:00.000Z"}
	if _, err := c.Append(schema.Batch{Messages: []schema.Message{message}}); err != nil {
		t.Fatal(err)
	}
	taken, err := s.Kept().Taken(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.ID()
	if err != nil {
		t.Fatal(err)
	}
	must(t, taken.Edit(func(s *schema.Session) error {
		s.ID = id
		return nil
	}))
	message.ID = "b"
	if _, err := taken.Append(schema.Batch{Messages: []schema.Message{message}, Tools: []schema.Tool{{ID: "t", MessageID: "b", Name: "Bash"}}}); err != nil {
		t.Fatal(err)
	}
	sub, err := taken.Subagent("agent-x")
	if err != nil {
		t.Fatal(err)
	}
	message.ID = "sub"
	if _, err := sub.Append(schema.Batch{Messages: []schema.Message{message}}); err != nil {
		t.Fatal(err)
	}
	must(t, sub.Close())
	must(t, taken.Close())
	for name, text := range map[string]string{"torn/" + c.Path() + "/messages.jsonl-1": "torn\n", "damaged/" + c.Path() + "/tools.jsonl-1": "damaged\n"} {
		file := filepath.Join(s.dir, filepath.FromSlash(keptDir), filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	all := ""
	copies := s.Kept().Copies(c)
	for name, sub := range copies.Subagents {
		for _, p := range sub.Places {
			all += name + ": " + string(p.Messages)
		}
	}
	for _, p := range copies.Places {
		all += p.From + ": " + string(p.Messages) + string(p.Tools)
	}
	for _, want := range []string{`"id":"b"`, `"id":"t"`, "agent-x: ", `"id":"sub"`, "torn\n", "damaged\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the copies:\n%s", want, all)
		}
	}
}

// TestUnlisted: no folder of a day is called unreadable that can be read.
func TestUnlisted(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	if damage, err := s.Folders().Unlisted(); err != nil || len(damage) > 0 {
		t.Errorf("unlisted: %v, %v", damage, err)
	}
	must(t, os.Remove(filepath.Join(s.dir, filepath.FromSlash(c.file(messagesFile)))))
	if _, states, ok := s.Folders().LogStates(c.Path()); !ok || states[0] != (LogState{Known: true}) {
		t.Errorf("the state of a missing log: %v, %v, want that of an empty one", states, ok)
	}
}

// TestFurther: of two checkpoints the later one of each log counts.
func TestFurther(t *testing.T) {
	var a, b Checkpoint
	a.Messages.End, a.Held, b.Messages.End, b.Held = 10, 1, 20, 2
	a.Tools.End, b.Tools.End = 40, 30
	if got := a.Further(b); got.Messages.End != 20 || got.Held != 2 || got.Tools.End != 40 {
		t.Errorf("further: %+v", got)
	}
	if got := b.Further(a); got.Messages.End != 20 || got.Held != 2 || got.Tools.End != 40 {
		t.Errorf("further, the other way round: %+v", got)
	}
}

// TestRedactText: text outside of records is redacted like them.
func TestRedactText(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	id, err := c.ID()
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Redact("key AKIAIOSFODNN7EXAMPLQ", id)
	if err != nil || strings.Contains(got, "AKIAIOSFODNN7EXAMPLQ") || !strings.HasPrefix(got, "key [redacted: ") {
		t.Errorf("redacted to %q, %v", got, err)
	}
}

// TestBatch: conversations published in a batch exist after it, and its error is returned.
func TestBatch(t *testing.T) {
	s := newTestStore(t)
	if err := s.Batch(func() error { create(t, s); return nil }); err != nil {
		t.Fatal(err)
	}
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("listed %d, %v", len(all), err)
	}
	if err := s.Batch(func() error { return os.ErrClosed }); err != os.ErrClosed && !strings.Contains(err.Error(), os.ErrClosed.Error()) {
		t.Errorf("the error is %v", err)
	}
}
