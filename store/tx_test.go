package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/schema"
)

// TestTx checks that one transaction writes records and session.json together.
func TestTx(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	tx, err := c.Begin()
	must(t, err)
	if !tx.Written() {
		t.Error("session.json is there and not seen")
	}
	must(t, tx.Append(thread(0, 4)))
	if size := tx.Size(); size < 100 {
		t.Errorf("%d bytes are collected", size)
	}
	if got := readFile(t, s, c.file(messagesFile)); got != "" {
		t.Errorf("before a flush the log holds %q", got)
	}
	must(t, tx.Flush())
	if tx.Size() != 0 || tx.Result().Appended != 4 || tx.Result().Tools != 2 {
		t.Errorf("%d bytes, %+v", tx.Size(), tx.Result())
	}
	sess, _, err := tx.Session()
	must(t, err)
	sess.Title = "One"
	must(t, tx.Append(thread(4, 6)))
	must(t, tx.Count())
	must(t, tx.Commit())
	tx.Rollback() // no effect now
	if sess, _ := session(t, c); sess.Title != "One" || sess.MessageCount != 6 {
		t.Errorf("%+v", sess)
	}
	if ok, err := c.CountersCurrent(); !ok || err != nil {
		t.Errorf("settled: %t, %v", ok, err)
	}

	tx, err = c.Begin()
	must(t, err)
	must(t, tx.Append(thread(6, 8)))
	must(t, tx.Flush())
	must(t, tx.Append(thread(8, 9)))
	sess, _, _ = tx.Session()
	sess.Title = "Two"
	tx.Rollback()
	if sess, _ := session(t, c); sess.Title != "One" || sess.MessageCount != 8 {
		t.Errorf("after a rollback: %q with %d messages", sess.Title, sess.MessageCount)
	}
	wantSound(t, s)
}

// TestTxAfterAFailure checks that a failed transaction writes nothing more and releases
// the lock.
func TestTxAfterAFailure(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	c.Close()
	f := faults{fail: 1}
	f.install(s)
	tx, err := c.Begin()
	must(t, err)
	must(t, tx.Append(thread(2, 4)))
	for range 2 {
		if err := tx.Flush(); !errors.Is(err, errInjected) {
			t.Errorf("flush: %v", err)
		}
	}
	must(t, tx.Append(thread(4, 6)))
	if err := tx.Commit(); !errors.Is(err, errInjected) {
		t.Errorf("commit: %v", err)
	}
	if ids, _, _ := history(t, c, Limit{}); len(ids) != 2 {
		t.Errorf("%v", ids)
	}
	appendBatch(t, visit(t, s, c), thread(0, 6))
	wantSound(t, s)
}

// TestReplacedDuringAWrite checks that records written to a file that git replaced
// meanwhile are not acknowledged.
func TestReplacedDuringAWrite(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	name := filepath.Join(s.dir, c.file(messagesFile))
	tx, err := c.Begin()
	must(t, err)
	must(t, tx.Append(thread(2, 4)))
	replaceFile(t, name, readFile(t, s, c.file(messagesFile)))
	if err := tx.Commit(); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("%v", err)
	}
	if r := appendBatch(t, c, thread(0, 4)); r.Appended != 2 {
		t.Errorf("%+v", r)
	}
	if ids, _, _ := history(t, c, Limit{}); len(ids) != 4 {
		t.Errorf("%v", ids)
	}
}

// TestSummariesThatWait checks that a waiting summary replaces the one of the same range,
// unless a later cortext wrote that.
func TestSummariesThatWait(t *testing.T) {
	for what, newer := range map[string]bool{"same": false, "newer": true} {
		s := newTestStore(t)
		c := create(t, s)
		appendBatch(t, c, thread(0, 4))
		writeSummary(t, c, summaryOf("m0", "m1", "Old."))
		name := c.file("summaries/m0-m1.json")
		if newer {
			writeFile(t, s, name, strings.Replace(readFile(t, s, name), `"version": "`+schema.Version+`"`, `"version": "9.0"`, 1))
		}
		was := readFile(t, s, name)
		w := waitingFor(t, s, c.Path())
		writeSummary(t, w, summaryOf("m0", "m1", "New."))
		list, _ := w.Summaries()
		if len(list) != 1 || list[0].Content != "New." {
			t.Errorf("%s: %+v", what, list)
		}
		w.Close()
		_, err := s.Kept().PutBack(c.Path())
		must(t, err)
		if got := readFile(t, s, name); (got == was) != newer || strings.Contains(got, "New.") == newer {
			t.Errorf("%s: %s", what, got)
		}
		kept := keptDir + "/damaged/" + name + "-1"
		if ok, err := s.Exists(kept); ok != newer || err != nil {
			t.Errorf("%s: kept aside: %t, %v", what, ok, err)
		}
	}
}

// TestAttributes checks that a workspace of an earlier version gets the line that it
// lacks.
func TestAttributes(t *testing.T) {
	dir := t.TempDir()
	if missing, some, err := MissingAttributes(dir); len(missing) != 4 || some || err != nil {
		t.Errorf("without a file: %q, %t, %v", missing, some, err)
	}
	name := filepath.Join(dir, AttributesFile)
	must(t, os.WriteFile(name, []byte(attributesLogs+"\n"), 0o644))
	if missing, some, err := MissingAttributes(dir); len(missing) != 3 || !some || err != nil {
		t.Errorf("with the logs alone: %q, %t, %v", missing, some, err)
	}
	s, _, err := Init(dir)
	must(t, err)
	if s.Root() != dir {
		t.Errorf("the workspace is %s", s.Root())
	}
	s.Close()
	if b, err := os.ReadFile(name); string(b) != strings.Join(attributes(), "\n")+"\n" {
		t.Errorf("%q, %v", b, err)
	}
	if missing, some, err := MissingAttributes(dir); len(missing) > 0 || !some || err != nil {
		t.Errorf("afterwards: %q, %t, %v", missing, some, err)
	}
}

// TestKnows checks that an index that begins at a checkpoint does not cover earlier
// records.
func TestKnows(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 8))
	tx, err := c.Begin()
	must(t, err)
	must(t, tx.Append(thread(8, 10)))
	must(t, tx.Flush())
	last := thread(8, 10).Messages[1].ID
	cp, err := tx.Checkpoint([]string{last}, nil)
	must(t, err)
	tx.Rollback()
	first := thread(0, 1).Messages[0].ID
	tx, err = c.Begin()
	must(t, err)
	if got, err := tx.Holds("unknown"); got || err != nil {
		t.Errorf("an unknown id is held: %v, %v", got, err)
	}
	tx.Rollback()
	for _, tt := range []struct {
		at          Checkpoint
		first, last bool
	}{{cp, false, true}, {Checkpoint{}, true, true}} {
		fresh := openTestStore(t, s.dir)
		c, err := fresh.Conversation(c.Path())
		must(t, err)
		tx, err := c.BeginAt(tt.at)
		must(t, err)
		for id, want := range map[string]bool{first: tt.first, last: tt.last} {
			if got, err := tx.Holds(id); want && (!got || err != nil) {
				t.Errorf("from %d: %s held %v, %v", tt.at.Messages.Since, id, got, err)
			}
			if got, err := tx.Knows(id); got != want || err != nil {
				t.Errorf("from %d: %s known %v, %v, want %v", tt.at.Messages.Since, id, got, err, want)
			}
		}
		tx.Rollback()
		must(t, c.Close())
	}
}
