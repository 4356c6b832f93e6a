package store

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// markBefore is the mark of a value before these records.
func markBefore(t *testing.T, c *Conversation, messages, calls []string) Mark {
	t.Helper()
	m, err := c.MarkBefore(messages, calls)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSince: an append looks no further back than the mark, so that what stands
// before it is not known; behind it everything is.
func TestSince(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 10))
	second := visit(t, s, c)
	given := Mark{Messages: LogMark{7, "ab"}, Tools: LogMark{8, "cd"}}
	second.Since(given)
	if m := markBefore(t, second, []string{"m1"}, []string{"t1"}); m != given {
		t.Errorf("before the first append it is %+v", m)
	}
	appendBatch(t, second, thread(10, 14))
	m := markBefore(t, second, []string{"m12", "m10", "m11"}, []string{"t13", "t11"})
	messages, tools := readFile(t, s, c.file(messagesFile)), readFile(t, s, c.file(toolsFile))
	wantAt := func(what string, at LogMark, log, next string) {
		t.Helper()
		if want := markAt(t, log, next); at != want {
			t.Errorf("%s: %+v is not before %q, which is at %+v", what, at, next, want)
		}
	}
	wantAt("messages", m.Messages, messages, "m10")
	wantAt("tools", m.Tools, tools, "t11")
	// What was only found counts as what was appended; what is not there, like nothing.
	found := markBefore(t, second, []string{"m3", "m12"}, []string{"t3"})
	wantAt("found", found.Messages, messages, "m3")
	wantAt("found", found.Tools, tools, "t3")
	if none := markBefore(t, second, []string{"m12", "other"}, []string{"other"}); none != (Mark{}) {
		t.Errorf("before what is not there it is %+v", none)
	}
	end := markBefore(t, second, nil, nil)
	if end.Messages.Size != int64(len(messages)) || end.Tools.Size != int64(len(tools)) {
		t.Errorf("before nothing it is %+v", end)
	}
	first := markBefore(t, second, []string{"m0"}, []string{"t1"})
	if first != (Mark{}) {
		t.Errorf("at the beginning it is %+v", first)
	}
	appendBatch(t, second, thread(14, 16))

	third := visit(t, s, c)
	third.Since(m)
	before := snapshot(t, s.dir)
	if r := appendBatch(t, third, thread(10, 16)); r.Appended != 0 || r.Tools != 0 || r.Skipped != 9 {
		t.Errorf("what stands behind the mark: %+v", r)
	}
	wantSame(t, s.dir, before)
	if r := appendBatch(t, third, thread(16, 18)); r.Appended != 2 || r.Tools != 1 {
		t.Errorf("what is new: %+v", r)
	}
	// Only a promise that is broken shows that nothing before was read.
	if r := appendBatch(t, third, thread(9, 10)); r.Appended != 1 || r.Tools != 1 {
		t.Errorf("what stands before the mark is known: %+v", r)
	}
	wantSound(t, s)
	if ids, h, _ := history(t, c, Limit{}); len(ids) != 18 || h.Earlier != 0 {
		t.Errorf("the history is %q", ids)
	}
}

// TestMarkOfAnIdleVisit: also a visit that appended nothing knows where what it was
// shown stands; a log that it never came to keeps the mark that it was given.
func TestMarkOfAnIdleVisit(t *testing.T) {
	for _, marked := range []bool{false, true} {
		s := newTestStore(t)
		c := create(t, s)
		appendBatch(t, c, thread(0, 10))
		var given Mark
		if marked {
			given = Mark{markAt(t, readFile(t, s, c.file(messagesFile)), "m8"), markAt(t, readFile(t, s, c.file(toolsFile)), "t9")}
		}
		second := visit(t, s, c)
		second.Since(given)
		if r := appendBatch(t, second, schema.Batch{Messages: thread(8, 10).Messages}); r.Appended != 0 || r.Skipped != 2 {
			t.Errorf("marked %t: %+v", marked, r)
		}
		m := markBefore(t, second, []string{"m9"}, []string{"t9"})
		if m.Tools != given.Tools || m.Messages != markAt(t, readFile(t, s, c.file(messagesFile)), "m9") {
			t.Errorf("marked %t: it is %+v", marked, m)
		}
		third := visit(t, s, c)
		third.Since(m)
		if r := appendBatch(t, third, thread(9, 12)); r.Appended != 2 || r.Tools != 1 {
			t.Errorf("marked %t: what the visit before was shown is appended again: %+v", marked, r)
		}
	}
}

// markAt is the mark before a record of a log.
func markAt(t *testing.T, log, id string) LogMark {
	t.Helper()
	i := strings.Index("\n"+log, "\n"+`{"id":"`+id+`"`)
	if i < 0 {
		t.Fatalf("%s is not there", id)
	}
	return LogMark{int64(i), fmt.Sprintf("%x", log[max(0, i-lastBytes):i])}
}

// TestMarkReadsLittle: what stands before the mark costs nothing.
func TestMarkReadsLittle(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	c.Close()
	// What is not written is read as NULs and costs no room.
	const size = 8 << 30
	m := message(1)
	line := "\n" + string(schema.AppendMessage(nil, &m))
	f, err := os.OpenFile(filepath.Join(s.dir, c.file(messagesFile)), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Skip(err)
	}
	if _, err := f.WriteAt([]byte(line), size-int64(len(line))); err != nil {
		t.Skip(err)
	}
	c = visit(t, s, c)
	c.Since(Mark{Messages: LogMark{size, fmt.Sprintf("%x", line[len(line)-lastBytes:])}})
	if r := appendBatch(t, c, schema.Batch{Messages: []schema.Message{m, message(2)}}); r.Appended != 2 {
		t.Errorf("the log was read: %+v", r)
	}
	if at := markBefore(t, c, []string{"m2"}, nil).Messages.Size; at <= size {
		t.Errorf("the mark is at %d", at)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
}

// TestMarkThatDoesNotFit is ignored: everything is known then.
func TestMarkThatDoesNotFit(t *testing.T) {
	for what, spoil := range map[string]func(m *Mark, s *Store, c *Conversation){
		"a size beyond the end": func(m *Mark, _ *Store, _ *Conversation) { m.Messages.Size += 1 << 40; m.Tools.Size = 1 << 60 },
		"a size below zero":     func(m *Mark, _ *Store, _ *Conversation) { m.Messages.Size, m.Tools.Size = -1, -1<<62 },
		"other bytes": func(m *Mark, _ *Store, _ *Conversation) {
			m.Messages.Last, m.Tools.Last = strings.Repeat("00", lastBytes), strings.Repeat("00", lastBytes)
		},
		"no bytes":  func(m *Mark, _ *Store, _ *Conversation) { m.Messages.Last, m.Tools.Last = "", "" },
		"not hex":   func(m *Mark, _ *Store, _ *Conversation) { m.Messages.Last, m.Tools.Last = "zz", "zz" },
		"mid-line":  func(m *Mark, _ *Store, _ *Conversation) { m.Messages.Size--; m.Tools.Size-- },
		"zero size": func(m *Mark, _ *Store, _ *Conversation) { m.Messages.Size, m.Tools.Size = 0, 0 },
		"merged: a line came in above": func(_ *Mark, s *Store, c *Conversation) {
			for _, file := range []string{messagesFile, toolsFile} {
				replaceFile(t, filepath.Join(s.dir, c.file(file)), `{"id":"other","role":"user","content":"x"}`+"\n"+readFile(t, s, c.file(file)))
			}
		},
		"edited: shorter, and grown again": func(_ *Mark, s *Store, c *Conversation) {
			for _, file := range []string{messagesFile, toolsFile} {
				_, rest, _ := strings.Cut(readFile(t, s, c.file(file)), "\n")
				replaceFile(t, filepath.Join(s.dir, c.file(file)), rest)
			}
		},
	} {
		s := newTestStore(t)
		c := create(t, s)
		appendBatch(t, c, thread(0, 10))
		c.Close()
		m := Mark{markAt(t, readFile(t, s, c.file(messagesFile)), "m8"), markAt(t, readFile(t, s, c.file(toolsFile)), "t9")}
		spoil(&m, s, c)
		again := visit(t, s, c)
		again.Since(m)
		b := thread(2, 10) // the oldest may be gone
		if r := appendBatch(t, again, b); r.Appended != 0 || r.Tools != 0 {
			t.Errorf("%s: appended again: %+v", what, r)
		}
	}
}

// callsOf are the calls of the n-th message.
func callsOf(n int) (ids []string) {
	for _, call := range message(n).ToolCalls {
		ids = append(ids, call.ID)
	}
	return ids
}

// TestMarksOneAfterTheOther: visits that each go on from the mark of the one
// before, shown what was new and the last of what was not, leave each record
// once; at any time the log may be merged with another.
func TestMarksOneAfterTheOther(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := newTestStore(t)
		c := create(t, s)
		var m Mark
		n, others := 0, 0
		for range 12 {
			v := visit(t, s, c)
			v.Since(m)
			from := max(0, n-1) // the last one is shown again: more of it may have come
			n += 1 + r.IntN(4)
			for _, b := range []schema.Batch{thread(from, n), thread(max(from, n-1), n)} {
				appendBatch(t, v, b)
			}
			m = markBefore(t, v, []string{fmt.Sprintf("m%d", n-1)}, callsOf(n-1))
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
					t.Fatalf("seed %d: %s stands %d times in\n%s", seed, id, got, log)
				}
			}
		}
		wantSound(t, s)
	}
}
