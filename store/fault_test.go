package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/store/atomicfile"
	"cortext/store/internal/lines"
)

var errInjected = errors.New("injected")

// exitKilled is the exit code of a process that killed itself midway.
const exitKilled = 9

// faults counts the calls that change the disk and lets one of them fail.
type faults struct {
	fail  int  // number of the call that fails, from 1; 0 for none
	stuck bool // all later calls fail as well: the disk is full
	kill  bool // the process ends instead, as by kill -9
	half  bool // a failing write leaves half of its bytes
	seen  []string
}

func (f *faults) next(call string) error {
	f.seen = append(f.seen, call)
	if n := len(f.seen); f.kill && n == f.fail {
		os.Exit(exitKilled)
	} else if f.fail > 0 && (n == f.fail || f.stuck && n > f.fail) {
		return fmt.Errorf("%s: %w", call, errInjected)
	}
	return nil
}

func (f *faults) write(call string) func(*os.File, []byte) (int, error) {
	return func(file *os.File, b []byte) (int, error) {
		if err := f.next(call + " " + path.Base(file.Name())); err != nil {
			n := 0
			if f.half {
				n, _ = file.Write(b[:len(b)/2])
			}
			return n, err
		}
		return file.Write(b)
	}
}

func (f *faults) install(s *Store) {
	sync := func(file *os.File) error { return f.next("sync " + path.Base(file.Name())) }
	s.logs = lines.Calls{
		Write: f.write("append"),
		Sync:  sync,
		Truncate: func(file *os.File, size int64) error {
			if err := f.next("truncate " + path.Base(file.Name())); err != nil {
				return err
			}
			return file.Truncate(size)
		},
	}
	s.files = atomicfile.Calls{
		Write: f.write("write"),
		Sync:  sync,
		Rename: func(r atomicfile.Folder, from, to string) error {
			if err := f.next("rename " + path.Base(to)); err != nil {
				return err
			}
			return r.Rename(from, to)
		},
	}
}

// A faultCase is an operation, and what comes before it.
type faultCase struct {
	name    string
	prepare func(*testing.T, *Conversation)
	do      func(*Conversation) error
}

// faultCases are the operations of a store, each on a workspace of its own.
var faultCases = []faultCase{
	{"append", nil, func(c *Conversation) error {
		_, err := c.Append(thread(4, 8))
		return err
	}},
	{"append again", nil, func(c *Conversation) error {
		_, err := c.Append(thread(0, 6))
		return err
	}},
	{"append after a torn tail in both logs", func(t *testing.T, c *Conversation) {
		for _, name := range []string{messagesFile, toolsFile} {
			writeFile(t, c.s, c.file(name), readFile(t, c.s, c.file(name))+`{"id":"torn`)
		}
	}, func(c *Conversation) error {
		_, err := c.Append(thread(4, 6))
		return err
	}},
	{"append after an unterminated record", func(t *testing.T, c *Conversation) {
		writeFile(t, c.s, c.file(messagesFile), strings.TrimSuffix(readFile(t, c.s, c.file(messagesFile)), "\n"))
	}, func(c *Conversation) error {
		_, err := c.Append(thread(4, 6))
		return err
	}},
	{"append where .session is missing", func(t *testing.T, c *Conversation) {
		if err := os.RemoveAll(c.s.dir + "/" + c.dir); err != nil {
			t.Fatal(err)
		}
	}, func(c *Conversation) error {
		_, err := c.Append(thread(0, 6))
		return err
	}},
	{"edit", nil, func(c *Conversation) error {
		return c.Edit(func(s *schema.Session) error { s.Notes = "new"; return nil })
	}},
	{"edit a broken session.json", func(t *testing.T, c *Conversation) {
		writeFile(t, c.s, c.file(sessionFile), "{broken")
	}, func(c *Conversation) error {
		return c.Edit(func(s *schema.Session) error { s.Notes = "new"; return nil })
	}},
	{"settle", nil, settle},
	{"create", nil, func(c *Conversation) error {
		c2, err := c.s.Create("plan", "Second", &schema.Session{Title: "Second"}, []byte("# Second\n"))
		if err == nil {
			err = c2.Close()
		}
		return err
	}},
	{"write a summary", func(t *testing.T, c *Conversation) {
		writeSummary(t, c, summaryOf("m0", "m1", "It was done."))
	}, func(c *Conversation) error { return c.WriteSummary(summaryOf("m0", "m3", "All of it was done.")) }},
	{"write what waits", nil, func(c *Conversation) error {
		w, err := c.s.Kept().Waiting(c.Path(), "")
		if err == nil {
			_, err = w.Append(thread(2, 6))
			err = errors.Join(err, w.Close())
		}
		return err
	}},
	{"move what waits", func(t *testing.T, c *Conversation) {
		w := waitingFor(t, c.s, c.Path())
		appendBatch(t, w, thread(2, 6))
		appendBatch(t, subagent(t, w, "x"), thread(0, 2))
		writeSummary(t, w, summaryOf("m0", "m3", "It was done."))
		must(t, w.Edit(func(s *schema.Session) error { s.Notes = "waits"; return nil }))
		w.Close()
	}, func(c *Conversation) error {
		again, err := c.s.Conversation(c.Path())
		if err == nil {
			err = again.Edit(func(s *schema.Session) error { s.Title = "moved"; return nil })
			err = errors.Join(err, again.Close())
		}
		return err
	}},
	{"merge twins", func(t *testing.T, c *Conversation) {
		twin := "conversations/2025-11-22/1059-brainstorm-api-design-ee1s"
		must(t, os.CopyFS(c.s.dir+"/"+twin, os.DirFS(c.s.dir+"/"+c.Path())))
		other, err := c.s.Conversation(twin)
		must(t, err)
		appendBatch(t, other, thread(2, 6))
		appendBatch(t, subagent(t, other, "x"), thread(0, 2))
		other.Close()
	}, func(c *Conversation) error {
		list, err := c.s.List()
		if err != nil {
			return err
		}
		again, err := c.s.Open(list[0])
		if err == nil {
			err = again.Edit(func(s *schema.Session) error { s.Title = "merged"; return nil })
			err = errors.Join(err, again.Close())
		}
		return err
	}},
	{"repair", func(t *testing.T, c *Conversation) {
		writeFile(t, c.s, c.file(messagesFile), readFile(t, c.s, c.file(messagesFile))+"\x00\x00torn")
		writeFile(t, c.s, c.file(toolsFile), readFile(t, c.s, c.file(toolsFile))+"torn")
		writeFile(t, c.s, c.file(sessionFile), readFile(t, c.s, c.file(sessionFile))[:60])
		writeFile(t, c.s, c.file(summariesDir+"/m0-m1.json"), "{")
	}, func(c *Conversation) error { return finishAndRepair(c.s, c.path, nil) }},
	{"write a file", nil, func(c *Conversation) error { return c.s.WriteFile("conversations/new/x/notes.md", []byte("x")) }},
}

// TestFaults makes the n-th call that changes the disk fail, for each n of each operation
// of a store: once only that call and once it and all later calls, with and without half
// of a write on the disk. Each time it must get an error; every record that counted must
// be there, byte for byte; and a fresh process must be able to do the same again and find
// a sound workspace.
func TestFaults(t *testing.T) {
	runs := 0
	for i, tt := range faultCases {
		t.Run(tt.name, func(t *testing.T) {
			modes := []faults{{}, {half: true}, {stuck: true}, {stuck: true, half: true}}
			if testing.Short() || slices.Contains([]string{"write what waits", "move what waits", "merge twins"}, tt.name) { // the others are enough here
				modes = []faults{{half: true}, {stuck: true}}
			}
			if testing.Short() { // scripts/coverage.sh runs the other mode, too
				modes = modes[i%2:][:1]
			}
			for _, mode := range modes {
				for n, more := 1, true; more && !t.Failed(); n++ {
					// A test of its own closes its stores: together they have too many open files.
					t.Run(fmt.Sprintf("stuck=%t half=%t/%d", mode.stuck, mode.half, n), func(t *testing.T) { more = faultAt(t, tt, mode, n) })
					if more {
						runs++
					}
				}
			}
		})
	}
	t.Logf("%d faults", runs)
}

// faultAt makes the n-th call of an operation that changes the disk fail, and reports
// whether there was one.
func faultAt(t *testing.T, tt faultCase, mode faults, n int) bool {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	if tt.prepare != nil {
		tt.prepare(t, c)
	}
	acked := logLines(t, c)
	c.Close()
	f := mode
	f.fail = n
	f.install(s)
	err := tt.do(c)
	if len(f.seen) < n {
		if err != nil {
			t.Fatalf("without a fault: %v", err)
		}
		if n == 1 {
			t.Fatal("it changes nothing")
		}
		return false
	}
	what := fmt.Sprintf("fault at %q", f.seen[n-1])
	if !errors.Is(err, errInjected) {
		t.Fatalf("%s: %v", what, err)
	}
	wantRecords(t, what, c, acked)
	list, err := s.List()
	if err != nil || len(list) > 2 {
		t.Fatalf("%s: list: %v, %v", what, list, err)
	}
	fresh := openTestStore(t, s.dir)
	again, err := fresh.Conversation(c.Path())
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	// The same Conversation that failed can go on, and so can a fresh process.
	f.fail = 0
	for _, c := range []*Conversation{c, again} {
		if err := tt.do(c); err != nil {
			t.Fatalf("%s: again: %v", what, err)
		}
		if _, err := c.Append(thread(0, 10)); err != nil {
			t.Fatalf("%s: a later append: %v", what, err)
		}
		if ids, h, _ := history(t, c, Limit{}); len(ids) != 10 || len(h.Tools) != 5 {
			t.Fatalf("%s: then %v with %d calls", what, ids, len(h.Tools))
		}
	}
	wantRecords(t, what, again, acked)
	if err := settle(again); err != nil {
		t.Fatalf("%s: settle: %v", what, err)
	}
	if tt.name != "edit a broken session.json" {
		wantSound(t, fresh)
	}
	again.Close()
	return true
}

// logLines returns the terminated lines of both logs.
func logLines(t *testing.T, c *Conversation) (all []string) {
	t.Helper()
	for _, name := range []string{messagesFile, toolsFile} {
		b, err := os.ReadFile(c.s.dir + "/" + c.file(name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasSuffix(line, "\n") {
				all = append(all, line)
			}
		}
	}
	return all
}

// wantRecords fails unless every acknowledged line is still there.
func wantRecords(t *testing.T, what string, c *Conversation, acked []string) {
	t.Helper()
	now := logLines(t, c)
	for _, line := range acked {
		if !slices.Contains(now, line) {
			t.Fatalf("%s: %q is gone from\n%s", what, line, strings.Join(now, ""))
		}
	}
}

// TestFailedSync checks that data in memory after a failed sync does not count as safe.
// It is written again. Records that another process wrote and may not have synced are
// synced before they count as known.
func TestFailedSync(t *testing.T) {
	for _, log := range []string{toolsFile, messagesFile} {
		s := newTestStore(t)
		c := create(t, s)
		appendBatch(t, c, thread(0, 2))
		before := readFile(t, s, c.file(log))
		c.Close()
		s.logs.Sync = func(f *os.File) error {
			if path.Base(f.Name()) == log {
				return errInjected
			}
			return nil
		}
		if _, err := c.Append(thread(2, 4)); !errors.Is(err, errInjected) {
			t.Fatal(err)
		}
		if got := readFile(t, s, c.file(log)); got != before {
			t.Errorf("%s holds %q, want %q", log, got, before)
		}
		if _, err := c.Append(thread(0, 2)); !errors.Is(err, errInjected) {
			t.Errorf("%s: what was there is called known without a sync: %v", log, err)
		}
		f := faults{}
		f.install(s)
		known := 3
		if log == messagesFile {
			known++ // the call was safe before the messages were written
		}
		if r := appendBatch(t, c, thread(0, 4)); r.Appended != 2 || r.Skipped != known || r.Appended+r.Tools+r.Skipped != 6 {
			t.Errorf("%s: %+v", log, r)
		}
		f.seen = nil
		if r := appendBatch(t, c, thread(0, 4)); r.Skipped != 6 || f.seen != nil {
			t.Errorf("%s: %+v with %q", log, r, f.seen)
		}
		wantSound(t, s)
	}
}

// TestFailedCreate checks that a failure leaves nothing of a conversation in the work
// tree, or, if only the last sync fails, all of it, which a second try finds.
func TestFailedCreate(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		for n := 1; ; n++ {
			s := newTestStore(t)
			before := snapshot(t, s.dir)
			f := faults{fail: n, stuck: stuck}
			f.install(s)
			sess := &schema.Session{ID: testID("abcd")}
			c, err := s.Create("plan", "x", sess, []byte("x"))
			if len(f.seen) < n {
				if err != nil || path.Base(c.Path()) != "1000-plan-x-abcd" {
					t.Errorf("%v, %v", c.Path(), err)
				}
				break
			}
			what := fmt.Sprintf("fault %d at %q", n, f.seen[n-1])
			if !errors.Is(err, errInjected) {
				t.Fatalf("%s: %v", what, err)
			}
			f.fail = 0
			again := &schema.Session{ID: testID("abcd")}
			if after := snapshot(t, s.dir); maps.Equal(before, after) {
				_, err = s.Create("plan", "x", again, []byte("x"))
			} else if _, err = s.Create("plan", "x", again, []byte("x")); errors.Is(err, ErrExist) {
				err = nil
				if n != len(f.seen) && f.seen[n-1] != "sync 2025-11-22" {
					t.Errorf("%s left %q", what, slices.Sorted(maps.Keys(after)))
				}
			} else {
				t.Errorf("%s left %q", what, slices.Sorted(maps.Keys(after)))
			}
			if err != nil {
				t.Fatalf("%s: again: %v", what, err)
			}
			got := snapshot(t, s.dir)
			for _, name := range []string{"plan.md", ".session/session.json", ".session/messages.jsonl", ".session/tools.jsonl"} {
				if _, ok := got["conversations/2025-11-22/1000-plan-x-abcd/"+name]; !ok {
					t.Errorf("%s: %s is missing", what, name)
				}
			}
			if left, err := os.ReadDir(s.dir + "/" + stageDir); err != nil && !errors.Is(err, os.ErrNotExist) || len(left) > 0 {
				t.Errorf("%s: %v is left, %v", what, left, err)
			}
			wantSound(t, s)
		}
	}
}

// TestAppendOrder checks that calls go to tools.jsonl before the messages that refer to
// them, that each record is one write that ends in a newline, and that each log is synced
// once.
func TestAppendOrder(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	f := faults{}
	f.install(s)
	c.Close()
	appendBatch(t, c, thread(4, 8))
	want := []string{
		"append tools.jsonl", "append tools.jsonl", "sync tools.jsonl",
		"append messages.jsonl", "append messages.jsonl", "append messages.jsonl", "append messages.jsonl", "sync messages.jsonl",
	}
	if !slices.Equal(f.seen, want) {
		t.Errorf("%q, want %q", f.seen, want)
	}
}
