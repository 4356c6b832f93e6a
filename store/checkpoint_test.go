package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"cortext/schema"
)

// visit opens the conversation as another process would.
func visit(t *testing.T, s *Store, c *Conversation) *Conversation {
	t.Helper()
	again, err := s.Conversation(c.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again
}

// deliver appends a batch from a checkpoint and takes the next one, for a visit that
// delivers the records once more.
func deliver(t *testing.T, c *Conversation, cp Checkpoint, b schema.Batch, again ...string) (Result, Checkpoint) {
	t.Helper()
	tx, err := c.BeginAt(cp)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := errors.Join(tx.Append(b), tx.Flush()); err != nil {
		t.Fatal(err)
	}
	var messages, calls []string
	for _, id := range again {
		if id[0] == 't' {
			calls = append(calls, id)
		} else {
			messages = append(messages, id)
		}
	}
	cp, err = tx.Checkpoint(messages, calls)
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return tx.Result(), cp
}

// offsetOf returns the offset of the record with an id in a log.
func offsetOf(t *testing.T, log, id string) int64 {
	t.Helper()
	i := strings.Index("\n"+log, "\n"+`{"id":"`+id+`"`)
	if i < 0 {
		t.Fatalf("%s is not there", id)
	}
	return int64(i)
}

// TestBeginAt checks that an append looks no further back than the checkpoint says: it
// knows nothing of what comes before, and everything after.
func TestBeginAt(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 10))
	second := visit(t, s, c)
	_, cp := deliver(t, second, Checkpoint{}, thread(10, 14), "m12", "m10", "m11", "t13", "t11")
	messages, tools := readFile(t, s, c.file(messagesFile)), readFile(t, s, c.file(toolsFile))
	for _, at := range []struct {
		log   string
		cp    LogCheckpoint
		since string
	}{{messages, cp.Messages, "m10"}, {tools, cp.Tools, "t11"}} {
		if at.cp.End != int64(len(at.log)) || at.cp.Since != offsetOf(t, at.log, at.since) || at.cp.Sum == "" {
			t.Errorf("%+v is not the end of the log, since %s", at.cp, at.since)
		}
	}
	now, err := c.CheckpointNow()
	if err != nil || now.Messages.End != cp.Messages.End || now.Messages.Since != now.Messages.End || !c.Confirms(now) {
		t.Errorf("now it is %+v, %v", now, err)
	}
	// A record that was only found counts like an appended one. A missing record means
	// that everything is searched.
	if _, found := deliver(t, second, Checkpoint{}, thread(0, 14), "m3", "m12", "t3"); found.Messages.Since != offsetOf(t, messages, "m3") || found.Tools.Since != offsetOf(t, tools, "t3") {
		t.Errorf("found: %+v", found)
	}
	if _, none := deliver(t, second, Checkpoint{}, thread(13, 14), "m12", "other"); none.Messages.Since != 0 || none.Tools.Since != none.Tools.End {
		t.Errorf("of what is not there: %+v", none)
	}
	appendBatch(t, second, thread(14, 16))

	third := visit(t, s, c)
	before := snapshot(t, s.dir)
	if r, _ := deliver(t, third, cp, thread(10, 16)); r.Appended != 0 || r.Tools != 0 || r.Skipped != 9 {
		t.Errorf("what is behind the checkpoint: %+v", r)
	}
	wantSame(t, s.dir, before)
	if r, _ := deliver(t, third, cp, thread(16, 18)); r.Appended != 2 || r.Tools != 1 {
		t.Errorf("what is new: %+v", r)
	}
	// A later write without a checkpoint knows everything.
	if r := appendBatch(t, third, thread(0, 18)); r.Appended != 0 || r.Tools != 0 || r.Skipped != 27 {
		t.Errorf("without a checkpoint: %+v", r)
	}
	// Only a broken promise shows that nothing before the checkpoint was read.
	if r, _ := deliver(t, visit(t, s, c), cp, thread(9, 10)); r.Appended != 1 || r.Tools != 1 {
		t.Errorf("what is before the checkpoint is known: %+v", r)
	}
	wantSound(t, s)
	if ids, h, _ := history(t, c, Limit{}); len(ids) != 18 || h.Earlier != 0 {
		t.Errorf("the history is %q", ids)
	}
}

// TestCheckpointOfAnIdleVisit checks that a visit that appended nothing still knows where
// its records are, and that a log it never reached keeps its checkpoint.
func TestCheckpointOfAnIdleVisit(t *testing.T) {
	for _, given := range []bool{false, true} {
		s := newTestStore(t)
		c := create(t, s)
		appendBatch(t, c, thread(0, 10))
		var cp Checkpoint
		if given {
			_, cp = deliver(t, c, cp, thread(8, 10), "m8", "t9")
		}
		r, next := deliver(t, visit(t, s, c), cp, schema.Batch{Messages: thread(8, 10).Messages}, "m9", "t9")
		if r.Appended != 0 || r.Skipped != 2 {
			t.Errorf("given %t: %+v", given, r)
		}
		if log := readFile(t, s, c.file(messagesFile)); next.Tools != cp.Tools || next.Messages.Since != offsetOf(t, log, "m9") {
			t.Errorf("given %t: it is %+v", given, next)
		}
		if r, _ := deliver(t, visit(t, s, c), next, thread(9, 12)); r.Appended != 2 || r.Tools != 1 {
			t.Errorf("given %t: what the visit before was shown is appended again: %+v", given, r)
		}
	}
}

// TestCheckpointReadsLittle checks that the log before the checkpoint costs nothing.
func TestCheckpointReadsLittle(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	c.Close()
	// Unwritten ranges read as NULs and take no disk space.
	const size = 8 << 30
	m := message(1)
	line := "\n" + string(schema.AppendMessage(nil, &m))
	f, err := os.OpenFile(filepath.Join(s.dir, c.file(messagesFile)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Skip("NOT RUN: no sparse files here:", err)
	}
	if _, err := f.WriteAt([]byte(line), size-int64(len(line))); err != nil {
		t.Skip("NOT RUN: no sparse files here:", err)
	}
	cp, err := c.CheckpointNow()
	if err != nil || !c.Confirms(cp) || !c.Unchanged(cp) {
		t.Fatal(cp, err)
	}
	r, next := deliver(t, visit(t, s, c), cp, schema.Batch{Messages: []schema.Message{m, message(2)}}, "m2")
	if r.Appended != 2 {
		t.Errorf("the log was read: %+v", r)
	}
	if next.Messages.Since <= size || next.Messages.End <= next.Messages.Since {
		t.Errorf("the checkpoint is %+v", next)
	}
	if !c.Confirms(cp) || !c.Unchanged(cp) {
		t.Error("what was appended behind a checkpoint spoils it")
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if c.Unchanged(cp) {
		t.Error("a shorter log is called unchanged")
	}
}

// TestCheckpointThatDoesNotFit checks that a checkpoint that does not match is refused.
// Delivering everything again then stores nothing twice.
func TestCheckpointThatDoesNotFit(t *testing.T) {
	each := func(change func(at *LogCheckpoint)) func(*Checkpoint, *Store, *Conversation) {
		return func(cp *Checkpoint, _ *Store, _ *Conversation) { change(&cp.Messages); change(&cp.Tools) }
	}
	files := func(change func(log string) string) func(*Checkpoint, *Store, *Conversation) {
		return func(_ *Checkpoint, s *Store, c *Conversation) {
			for _, name := range []string{messagesFile, toolsFile} {
				replaceFile(t, filepath.Join(s.dir, c.file(name)), change(readFile(t, s, c.file(name))))
			}
		}
	}
	for what, spoil := range map[string]func(*Checkpoint, *Store, *Conversation){
		"an end beyond the log":  each(func(at *LogCheckpoint) { at.End += 1 << 40 }),
		"an end below zero":      each(func(at *LogCheckpoint) { at.End = -1 }),
		"the least of all ends":  each(func(at *LogCheckpoint) { at.End = -1 << 63 }),
		"an end at zero":         each(func(at *LogCheckpoint) { at.End = 0 }),
		"mid-line":               each(func(at *LogCheckpoint) { at.End-- }),
		"a later since":          each(func(at *LogCheckpoint) { at.Since = at.End }),
		"a since below zero":     each(func(at *LogCheckpoint) { at.Since = -1 }),
		"other bytes":            each(func(at *LogCheckpoint) { at.Sum = strings.Repeat("0", len(at.Sum)) }),
		"no bytes":               each(func(at *LogCheckpoint) { at.Sum = "" }),
		"another inode":          each(func(at *LogCheckpoint) { at.File++ }),
		"the messages alone":     func(cp *Checkpoint, _ *Store, _ *Conversation) { cp.Messages.Sum = "" },
		"the calls alone":        func(cp *Checkpoint, _ *Store, _ *Conversation) { cp.Tools.Sum = "" },
		"the same in a new file": files(func(log string) string { return log }),
		"merged: a line came in above": files(func(log string) string {
			return `{"id":"other","role":"user","content":"x"}` + "\n" + log
		}),
		"edited: shorter": files(func(log string) string {
			_, rest, _ := strings.Cut(log, "\n")
			return rest
		}),
		"edited: as long, in the middle": files(func(log string) string { return strings.Replace(log, "message 1", "massage 1", 1) }),
		"gone": func(_ *Checkpoint, s *Store, c *Conversation) {
			for _, name := range []string{messagesFile, toolsFile} {
				if err := os.Remove(filepath.Join(s.dir, c.file(name))); err != nil {
					t.Fatal(err)
				}
			}
		},
		"edited in place: the end": func(_ *Checkpoint, s *Store, c *Conversation) {
			for _, name := range []string{messagesFile, toolsFile} {
				log := readFile(t, s, c.file(name))
				i := strings.LastIndex(log, "9")
				writeFile(t, s, c.file(name), log[:i]+"8"+log[i+1:])
			}
		},
	} {
		if what == "the same in a new file" && runtime.GOOS == "windows" {
			continue // a new file is not recognised there
		}
		s := newTestStore(t)
		c := create(t, s)
		_, cp := deliver(t, c, Checkpoint{}, thread(0, 10), "m8", "t9")
		c.Close()
		spoil(&cp, s, c)
		again := visit(t, s, c)
		if tx, err := again.BeginAt(cp); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s: %v", what, err)
			tx.Rollback()
			continue
		}
		appendBatch(t, again, thread(0, 10))
		if r := appendBatch(t, again, thread(0, 10)); r.Appended != 0 || r.Tools != 0 {
			t.Errorf("%s: appended again: %+v", what, r)
		}
		counts := map[string]int{}
		for m, err := range again.Messages() {
			if err == nil && m.Rev == 0 {
				counts[m.ID]++
			}
		}
		for n := range 10 {
			if id := fmt.Sprint("m", n); counts[id] != 1 {
				t.Errorf("%s: %s is there %d times", what, id, counts[id])
			}
		}
	}
}

// TestCheckpointInAFile checks that a checkpoint is stored as JSON without zero values.
func TestCheckpointInAFile(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	_, cp := deliver(t, c, Checkpoint{}, thread(0, 4), "m3", "t3")
	b, err := json.Marshal(cp)
	if err != nil {
		t.Fatal(err)
	}
	var read Checkpoint
	if err := json.Unmarshal(b, &read); err != nil || read != cp || !c.Confirms(read) {
		t.Errorf("%s is %+v, %v", b, read, err)
	}
	if b, _ := json.Marshal(Checkpoint{}); string(b) != "{}" {
		t.Errorf("nothing is %s", b)
	}
	var lines []string
	add := func(line []byte) { lines = append(lines, string(line)) }
	appendBatch(t, c, thread(4, 6))
	if ok, err := c.Since(cp, add, add); !ok || err != nil || len(lines) != 3 || !strings.Contains(lines[0], `"m4"`) || !strings.Contains(lines[2], `"t5"`) {
		t.Errorf("since then: %t, %v, %q", ok, err, lines)
	}
	replaceFile(t, filepath.Join(s.dir, c.file(messagesFile)), readFile(t, s, c.file(messagesFile)))
	if ok, err := c.Since(cp, add, add); ok || err != nil {
		t.Errorf("of another file: %t, %v", ok, err)
	}
	if c.Unchanged(cp) {
		t.Error("another file is called unchanged")
	}
}

// callsOf returns the ids of the calls of the n-th message.
func callsOf(n int) (ids []string) {
	for _, call := range message(n).ToolCalls {
		ids = append(ids, call.ID)
	}
	return ids
}

// TestVisitsOneAfterTheOther checks that visits store each record once if each continues
// from the previous checkpoint and is shown the new records and the last old one. The log
// may be merged with another at any time.
func TestVisitsOneAfterTheOther(t *testing.T) {
	confirmed, refused := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newTestStore(t)
		c := create(t, s)
		var cp Checkpoint
		n, others := 0, 0
		for range 12 {
			v := visit(t, s, c)
			from := max(0, n-1) // the last one is shown again: it may have grown
			if v.Confirms(cp) {
				confirmed++
			} else {
				cp, from = Checkpoint{}, 0
				refused++
			}
			n += 1 + r.IntN(4)
			again := append(callsOf(n-1), fmt.Sprintf("m%d", n-1))
			for _, b := range []schema.Batch{thread(from, n), thread(max(from, n-1), n)} {
				_, cp = deliver(t, v, cp, b, again...)
			}
			v.Close()
			if r.IntN(4) == 0 {
				others++
				line := fmt.Sprintf(`{"id":"other%d","role":"user","content":"x"}`+"\n", others)
				log := readFile(t, s, c.file(messagesFile))
				at := 0
				if r.IntN(2) == 0 {
					at = len(log)
				}
				replaceFile(t, filepath.Join(s.dir, c.file(messagesFile)), log[:at]+line+log[at:])
			}
		}
		log := readFile(t, s, c.file(messagesFile)) + readFile(t, s, c.file(toolsFile))
		for i := range n {
			for _, id := range []string{fmt.Sprintf("m%d", i), fmt.Sprintf("t%d", i)} {
				want := 1
				if id[0] == 't' && i%2 == 0 {
					want = 0
				}
				if got := strings.Count("\n"+log, "\n"+`{"id":"`+id+`"`); got != want {
					t.Fatalf("seed %d: %s is there %d times in\n%s", seed, id, got, log)
				}
			}
		}
		wantSound(t, s)
	}
	if confirmed < refused || refused < 40 {
		t.Errorf("%d checkpoints were confirmed, %d refused", confirmed, refused)
	}
}
