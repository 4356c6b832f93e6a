package store

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cortext/schema"
)

// TestRedactKnown: what was redacted in a conversation is redacted in what is captured later,
// also by its sub-agents, on a machine that knows the text.
func TestRedactKnown(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	m := message(0)
	m.Content = "key " + theSecret
	appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
	k := new(knowing)
	s.policy.redacted = k.redacted
	redact(t, c, k)
	sub, err := c.Subagent("helper")
	must(t, err)
	for _, to := range []*Conversation{c, sub} {
		next := message(1)
		next.Content = "again " + theSecret
		appendBatch(t, to, schema.Batch{Messages: []schema.Message{next}})
	}
	must(t, sub.Close())
	if found := secretIn(t, s.dir+"/conversations"); len(found) > 0 {
		t.Errorf("it is in %q", found)
	}
	if got := filesWith(t, s.dir+"/conversations", "again [redacted: x]"); len(got) != 2 {
		t.Errorf("redacted in %q", got)
	}
	wantSound(t, s)
}

// TestRedactElsewhere: a session.json in which another clone redacted something comes with a
// merge. This machine then forgets the backup that it kept of the old one.
func TestRedactElsewhere(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	file := filepath.Join(s.dir, c.path, sessionDir, sessionFile)
	was, err := os.ReadFile(file)
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(s.dir, filepath.Dir(backupFile(c.path))), 0o700))
	must(t, os.WriteFile(filepath.Join(s.dir, backupFile(c.path)), was, 0o600))
	look := func() {
		time.Sleep(2 * unsettled)
		reader := openTestStore(t, s.dir)
		_, _, _, ok := reader.Describe(c.path) // as a list does, and [Store.List]
		if !ok {
			t.Error("no conversation")
		}
		must(t, reader.Close())
	}
	look()
	local := filepath.Join(s.dir, ".workspace/local")
	if kept := filesWith(t, local, "API Design"); len(kept) < 1 {
		t.Fatal("the title is in no file of this machine")
	}
	must(t, os.WriteFile(file, bytes.ReplaceAll(was, []byte("API Design"), []byte("[redacted: x]")), 0o600))
	look()
	if kept := filesWith(t, local, "API Design"); len(kept) > 0 {
		t.Errorf("the title is still in %q", kept)
	}
}
