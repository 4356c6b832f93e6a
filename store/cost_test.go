package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/schema"
)

// count returns the number of calls of a kind.
func (f *faults) count(kind string) (n int) {
	for _, call := range f.seen {
		if strings.HasPrefix(call, kind+" ") {
			n++
		}
	}
	return n
}

// TestWriteCosts bounds the cost of a transaction. A captured turn syncs each log that it
// writes once. A stop replaces session.json once, with at most six syncs in all. Both
// hold for the first one in a workspace, too.
func TestWriteCosts(t *testing.T) {
	turn := func(tx *Tx) error { return tx.Append(thread(4, 8)) }
	stop := func(tx *Tx) error {
		if err := tx.Append(thread(8, 10)); err != nil {
			return err
		}
		sess, _, err := tx.Session()
		if err == nil {
			sess.Status, sess.ContextSummary = schema.Paused, "It was done."
			err = tx.Count()
		}
		return err
	}
	again := func(tx *Tx) error { return tx.Append(thread(0, 8)) }
	for _, tt := range []struct {
		name           string
		do             func(*Tx) error
		syncs, renames int
	}{
		{"a turn", turn, 2, 0}, {"the first stop", stop, 6, 1}, {"the same turn", again, 0, 0}, {"nothing", func(*Tx) error { return nil }, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestStore(t)
			c := create(t, s)
			appendBatch(t, c, thread(0, 8))
			if tt.name != "the same turn" {
				writeFile(t, s, c.file(messagesFile), "")
				writeFile(t, s, c.file(toolsFile), "")
			}
			must(t, os.RemoveAll(filepath.Join(s.dir, keptDir)))
			if tt.name == "the same turn" { // each process syncs once what it finds
				tt.syncs = 2
			}
			fresh := openTestStore(t, s.dir)
			f := faults{}
			f.install(fresh)
			c, err := fresh.Conversation(c.Path())
			must(t, err)
			tx, err := c.Begin()
			must(t, err)
			must(t, tt.do(tx))
			must(t, tx.Commit())
			defer c.Close()
			if f.count("sync") > tt.syncs || f.count("rename") != tt.renames || f.count("append")+f.count("write") == 0 && tt.syncs > 2 {
				t.Errorf("%d syncs, at most %d; %d renames, want %d: %q", f.count("sync"), tt.syncs, f.count("rename"), tt.renames, f.seen)
			}
		})
	}
}

// TestBackupIsAFileOfItsOwn checks that neither a write in place nor an interrupted one
// touches the backup.
func TestBackupIsAFileOfItsOwn(t *testing.T) {
	for n := 1; ; n++ {
		s := newTestStore(t)
		c := create(t, s)
		for _, title := range []string{"One", "Two"} {
			must(t, c.Edit(func(s *schema.Session) error { s.Title = title; return nil }))
		}
		f := faults{fail: n, stuck: true}
		f.install(s)
		err := c.Edit(func(s *schema.Session) error { s.Title = "Three"; return nil })
		// Whatever the result, a person then writes to the file in place and breaks it.
		f.fail = 0
		name := filepath.Join(s.dir, c.file(sessionFile))
		whole := readFile(t, s, c.file(sessionFile))
		if _, parseErr := schema.ParseSession([]byte(whole)); parseErr != nil {
			t.Fatalf("fault %d left %s", n, whole)
		}
		must(t, os.WriteFile(name, []byte("{broken"), 0o600))
		backup, _ := os.ReadFile(filepath.Join(s.dir, backupFile(c.path)))
		if strings.Contains(string(backup), "broken") {
			t.Fatalf("fault %d: the backup is the same file", n)
		}
		if err == nil {
			if !strings.Contains(string(backup), `"Two"`) {
				t.Errorf("the backup is %s", backup)
			}
			break
		}
	}
}
