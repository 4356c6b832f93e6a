package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/schema"
)

// The tests in this file cover what other processes, editors and hostile files do while a
// conversation is read or written.

func TestReadWhileMoved(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	w := waitingFor(t, s, c.Path())
	appendBatch(t, w, thread(4, 8))
	must(t, w.Close())
	must(t, c.Close())
	r, err := s.Conversation(c.Path())
	must(t, err)
	seen := map[string]bool{}
	for m, err := range r.Messages() {
		must(t, err)
		if len(seen) == 0 { // another process moves the waiting records
			_, err := openTestStore(t, s.Root()).Kept().PutBack(c.Path())
			must(t, err)
		}
		seen[m.ID] = true
	}
	if len(seen) != 8 {
		t.Errorf("the reader saw %d of 8 messages", len(seen))
	}
}

func TestSessionEditedMeanwhile(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	file := filepath.Join(s.Root(), c.file(sessionFile))
	time.Sleep(2 * unsettled)
	must(t, c.Update(func(_ *Tx, sess *schema.Session) error {
		raw, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(file, []byte(strings.Replace(string(raw), "\n}", ",\n  \"notes\": \"of a person\"\n}", 1)), 0o600))
		sess.Title = "new"
		return nil
	}))
	sess, damage, err := c.Session()
	must(t, err)
	if sess.Title != "new" || sess.Notes != "of a person" || len(damage) > 0 {
		t.Errorf("title %q, notes %q, damage %v", sess.Title, sess.Notes, damage)
	}
}

func TestCountersOverflow(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	must(t, settle(c))
	file := filepath.Join(s.Root(), c.file(sessionFile))
	raw, err := os.ReadFile(file)
	must(t, err)
	sess, err := schema.ParseSession(raw)
	must(t, err)
	counted := fmt.Sprintf(`"tokens": %d`, sess.Tokens)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(raw), counted, `"tokens": 9223372036854775807`, 1)), 0o600))
	appendBatch(t, c, thread(2, 4))
	must(t, c.Update(func(tx *Tx, _ *schema.Session) error { return tx.Count() }))
	sess, _, err = c.Session()
	must(t, err)
	if sess.MessageCount != 4 || sess.Tokens <= 0 || sess.Tokens > 1000 {
		t.Errorf("%d messages, %d tokens", sess.MessageCount, sess.Tokens)
	}
}

func TestGreatestRev(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	must(t, c.Close())
	log := filepath.Join(s.Root(), c.file(messagesFile))
	raw, err := os.ReadFile(log)
	must(t, err)
	for _, rev := range []string{fmt.Sprint(schema.MaxRev), "9223372036854775807", "-1"} {
		last := strings.SplitAfter(string(raw), "\n")[1]
		must(t, os.WriteFile(log, []byte(string(raw)+strings.Replace(last, `,"timestamp"`, `,"rev":`+rev+`,"timestamp"`, 1)), 0o600))
		b := thread(1, 2)
		b.Messages[0].Content += " and more"
		appendBatch(t, c, b)
		h, _, err := c.History(Limit{})
		must(t, err)
		if got := h.Messages[len(h.Messages)-1].Content; !strings.HasSuffix(got, " and more") {
			t.Errorf("rev %s: the newest content is %q", rev, got)
		}
		must(t, c.Close())
	}
}

func TestDeleteTaken(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	k, err := s.Kept().Taken(c.Path())
	must(t, err)
	appendBatch(t, k, thread(0, 4))
	sess, _, err := c.Session()
	must(t, err)
	must(t, k.Edit(func(s *schema.Session) error { s.ID = sess.ID; return nil }))
	must(t, k.Close())
	must(t, c.Delete())
	if s.isFolder(takenDir + "/" + c.path) {
		t.Error("what git took of a deleted conversation is still kept")
	}
}
