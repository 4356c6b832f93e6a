package store

import (
	"os"
	"path/filepath"
	"testing"

	"cortext/schema"
)

// TestBorrow checks that git's copy of a conversation is read with its waiting records,
// counted once, and moved into no log.
func TestBorrow(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 6))
	must(t, c.Edit(func(s *schema.Session) error { s.Title = "As git has it"; return nil }))
	must(t, c.Close())
	files := map[string][]byte{}
	folder := filepath.Join(s.Root(), c.Path())
	for _, name := range []string{messagesFile, toolsFile, sessionFile} {
		content, err := os.ReadFile(filepath.Join(folder, sessionDir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		files[name] = content
	}
	must(t, os.RemoveAll(folder))

	w := waitingFor(t, s, c.Path())
	w.Borrow(files)
	appendBatch(t, w, thread(5, 8))
	must(t, w.Edit(func(*schema.Session) error { return nil }))
	sess, damage, err := w.Session()
	if err != nil || len(damage) > 0 || sess.MessageCount != 8 || sess.Title != "As git has it" {
		t.Fatalf("%d messages, title %q, %v, %v", sess.MessageCount, sess.Title, damage, err)
	}
	h, damage, err := w.History(Limit{})
	if err != nil || len(damage) > 0 || len(h.Messages) != 8 || h.Messages[0].ID != "m0" {
		t.Fatalf("%d messages, %v, %v", len(h.Messages), damage, err)
	}
	if n, err := s.Kept().WaitingCount(c.Path()); err != nil || n > 3 {
		t.Errorf("%d messages wait, %v: what was borrowed is not written", n, err)
	}

	// When the folder is back, the waiting records move there, and nothing else.
	must(t, os.MkdirAll(filepath.Join(folder, sessionDir), 0o700))
	for name, content := range files {
		if content != nil {
			must(t, os.WriteFile(filepath.Join(folder, sessionDir, name), content, 0o600))
		}
	}
	back, err := s.Conversation(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	must(t, back.Update(func(*Tx, *schema.Session) error { return nil }))
	ids := map[string]int{}
	for m, err := range back.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		ids[m.ID]++
	}
	if len(ids) != 8 || ids["m0"] != 1 || ids["m5"] != 1 {
		t.Errorf("messages by id: %v", ids)
	}
}
