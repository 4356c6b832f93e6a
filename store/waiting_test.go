package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cortext/schema"
)

// clock advances the time of a store.
func clock(s *Store) {
	now := start
	s.opts.Now = func() time.Time { now = now.Add(time.Minute); return now }
}

func waitingFor(t *testing.T, s *Store, name string) *Conversation {
	t.Helper()
	w, err := s.Kept().Waiting(name, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func subagent(t *testing.T, c *Conversation, id string) *Conversation {
	t.Helper()
	sub, err := c.Subagent(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sub.Close() })
	return sub
}

// waits creates a conversation with m0 to m3 in the work tree and m3 to m7 waiting, and
// with a sub-agent, a summary, edits, and unreadable lines.
func waits(t *testing.T, s *Store) *Conversation {
	t.Helper()
	clock(s)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	appendBatch(t, subagent(t, c, "x"), thread(0, 2))
	writeSummary(t, c, summaryOf("m0", "m1", "The beginning."))
	must(t, c.Edit(func(s *schema.Session) error {
		s.Tags, s.Notes = []string{"both", "tree"}, "old"
		s.Sources = []schema.Source{{Agent: "claude", NativeID: "one"}}
		return nil
	}))
	c.Close()
	w := waitingFor(t, s, c.Path())
	appendBatch(t, w, thread(3, 8))
	appendBatch(t, subagent(t, w, "x"), thread(1, 4))
	appendBatch(t, subagent(t, w, "y"), thread(0, 1))
	appendBatch(t, subagent(t, subagent(t, w, "y"), "z"), thread(0, 1))
	writeSummary(t, w, summaryOf("m0", "m5", "More of it."))
	must(t, w.Edit(func(s *schema.Session) error {
		s.Title, s.Status, s.Notes = "Set while it waits", schema.Paused, "new"
		s.Tags = []string{"both", "waiting"}
		s.Sources = append(s.Sources, schema.Source{Agent: "gemini", NativeID: "two"})
		return nil
	}))
	w.Close()
	log := w.file(messagesFile)
	writeFile(t, s, log, readFile(t, s, log)+"{broken}\n"+`{"id":"torn`)
	return visit(t, s, c)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantAll fails unless the conversation reads as waits created it, each record once.
func wantAll(t *testing.T, what string, c *Conversation) {
	t.Helper()
	for _, limit := range []Limit{{}, {Messages: 100}} {
		ids, h, _ := history(t, c, limit)
		if !slices.Equal(ids, []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"}) || len(h.Tools) != 4 || h.Earlier+h.Aside > 0 {
			t.Errorf("%s: %v with %d calls", what, ids, len(h.Tools))
		}
	}
	sess, damage := session(t, c)
	if sess.MessageCount != 8 || sess.Title != "Set while it waits" || sess.Status != schema.Paused || sess.Notes != "new" ||
		!slices.Equal(sess.Tags, []string{"both", "waiting"}) || len(sess.Sources) != 2 || damage != nil || sess.LastActive != message(7).Timestamp {
		t.Errorf("%s: %+v, %v", what, sess, damage)
	}
	names, err := c.Subagents()
	if err != nil || !slices.Equal(names, []string{"x", "y"}) {
		t.Errorf("%s: sub-agents %q, %v", what, names, err)
	}
	if ids, _, _ := history(t, subagent(t, c, "x"), Limit{}); len(ids) != 4 {
		t.Errorf("%s: the sub-agent x has %v", what, ids)
	}
	if ids, _, _ := history(t, subagent(t, subagent(t, c, "y"), "z"), Limit{}); len(ids) != 1 {
		t.Errorf("%s: the sub-agent of the sub-agent has %v", what, ids)
	}
	list, damage := c.Summaries()
	if len(list) != 1 || list[0].Last != "m5" || damage != nil {
		t.Errorf("%s: %d summaries, %v", what, len(list), damage)
	}
	if lost, err := c.Lost(); lost != 0 || err != nil {
		t.Errorf("%s: %d lost, %v", what, lost, err)
	}
}

// wantMoved fails unless nothing waits any more and the logs in the work tree hold each
// line once.
func wantMoved(t *testing.T, what string, s *Store, name string) {
	t.Helper()
	if got := s.Kept().WaitingPaths(); got != nil {
		t.Errorf("%s: %q waits", what, got)
	}
	if left := s.ListFiles(waitingDir + "/" + name + "/" + sessionDir); left != nil {
		t.Errorf("%s: %q is left", what, left)
	}
	seen := map[string]int{}
	for _, log := range []string{messagesFile, toolsFile} {
		text, err := os.ReadFile(filepath.Join(s.dir, name, sessionDir, log))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if seen[line]++; seen[line] > 1 {
				t.Errorf("%s: twice in %s: %s", what, log, line)
			}
		}
	}
	wantSound(t, s)
}

// TestWaiting checks that waiting records are read as part of their conversation, and
// that the next write moves them there, with everything that belongs to them.
func TestWaiting(t *testing.T) {
	s := newTestStore(t)
	c := waits(t, s)
	tree := snapshot(t, filepath.Join(s.dir, "conversations"))
	if got := s.Kept().WaitingPaths(); !slices.Equal(got, []string{c.Path()}) || c.IsWaiting() || !waitingFor(t, s, c.Path()).IsWaiting() {
		t.Errorf("%q waits", got)
	}
	if n, err := s.Kept().WaitingCount(c.Path()); n != 4 || err != nil {
		t.Errorf("%d messages wait, %v", n, err)
	}
	wantAll(t, "while it waits", c)
	wantAll(t, "by Waiting", waitingFor(t, s, c.Path()))
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Session.Title != "Set while it waits" || list[0].Session.MessageCount != 8 || list[0].Waiting {
		t.Errorf("list: %+v, %v", list, err)
	}
	lines := 0
	for range c.Messages() {
		lines++
	}
	if lines != 4+5+2 {
		t.Errorf("%d lines of messages", lines)
	}
	if ok, err := c.CountersCurrent(); ok || err != nil {
		t.Errorf("settled: %t, %v", ok, err)
	}
	wantSame(t, filepath.Join(s.dir, "conversations"), tree)

	unread := readFile(t, s, waitingDir+"/"+c.dir+"/"+messagesFile)
	r := appendBatch(t, c, schema.Batch{})
	if r.Moved != 0 || len(s.Kept().WaitingPaths()) != 1 {
		t.Error("an append of nothing moved something")
	}
	r = appendBatch(t, c, thread(7, 8))
	if r.Moved != 4+2 || r.Appended != 0 || r.Tools != 0 || r.Skipped != 2 {
		t.Errorf("%+v", r)
	}
	wantAll(t, "afterwards", c)
	wantAll(t, "to another value", visit(t, s, c))
	wantMoved(t, "afterwards", s, c.Path())
	if got := readFile(t, s, keptDir+"/damaged/"+c.Path()+"/"+messagesFile+"-1"); got != unread {
		t.Errorf("kept is %q, want %q", got, unread)
	}
	if got := readFile(t, s, c.file("summaries/m0-m5.json")); !strings.Contains(got, "More of it.") {
		t.Errorf("the summary is %s", got)
	}
	appendBatch(t, c, thread(8, 9))
	if ok, err := c.CountersCurrent(); ok || err != nil {
		t.Errorf("settled: %t, %v", ok, err)
	}
}

// TestWaitingBehindACheckpoint checks that records in the work tree stay there once,
// whatever the writer's checkpoint says.
func TestWaitingBehindACheckpoint(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	_, cp := deliver(t, c, Checkpoint{}, thread(0, 6))
	c.Close()
	w := waitingFor(t, s, c.Path())
	if w.Confirms(cp) {
		t.Error("a checkpoint in the work tree is confirmed by what waits")
	}
	_, at := deliver(t, w, Checkpoint{}, thread(0, 8), "m7")
	w.Close()
	if _, next := deliver(t, waitingFor(t, s, c.Path()), at, thread(7, 9), "m8"); next.Messages.Since <= at.Messages.Since {
		t.Errorf("%+v after %+v", next, at)
	}
	if r, _ := deliver(t, visit(t, s, c), cp, thread(8, 10)); r.Appended != 1 || r.Tools != 1 || r.Moved != 3+1 {
		t.Errorf("%+v", r)
	}
	if ids, h, _ := history(t, c, Limit{}); len(ids) != 10 || len(h.Tools) != 5 {
		t.Errorf("%v", ids)
	}
	wantMoved(t, "behind a checkpoint", s, c.Path())
}

// TestWaitingRevisions checks that a record written while it waits, without knowing the
// revs in the work tree, still counts as the longer one.
func TestWaitingRevisions(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	pending, running, done := tool(1), tool(1), tool(1)
	pending.Success, pending.Output = nil, ""
	running.Success, running.Output = nil, "o"
	b := thread(0, 2)
	b.Tools = []schema.Tool{pending, running}
	appendBatch(t, c, b)
	m := message(1)
	m.Content += " and more"
	appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
	m.Content += " and more"
	c.Close()
	w := waitingFor(t, s, c.Path())
	appendBatch(t, w, schema.Batch{Messages: []schema.Message{m}, Tools: []schema.Tool{done}})
	w.Close()
	old := waitingFor(t, s, c.Path()) // an older copy of stored records adds nothing
	appendBatch(t, old, schema.Batch{Messages: []schema.Message{message(0)}, Tools: []schema.Tool{pending}})
	old.Close()
	want := func(what string) {
		t.Helper()
		_, h, _ := history(t, c, Limit{})
		if got := h.Tools["t1"]; got.Success == nil || got.Output != done.Output {
			t.Errorf("%s: the call is %+v", what, got)
		}
		if len(h.Messages) != 2 || h.Messages[1].Content != m.Content {
			t.Errorf("%s: the message is %+v", what, h.Messages)
		}
	}
	c = visit(t, s, c)
	want("while it waits")
	must(t, settle(c))
	want("afterwards")
	wantMoved(t, "revisions", s, c.Path())
}

// TestPutBack covers a folder that is gone, has no .session/, or is complete.
func TestPutBack(t *testing.T) {
	for what, change := range map[string]func(folder string) error{
		"complete": func(string) error { return nil },
		"gone":     os.RemoveAll,
		"without .session": func(folder string) error {
			return errors.Join(os.RemoveAll(folder+"/"+sessionDir), os.WriteFile(folder+"/brainstorm.md", []byte("mine"), 0o644))
		},
		"the day is gone": func(folder string) error { return os.RemoveAll(filepath.Dir(folder)) },
		"without session.json": func(folder string) error {
			return os.Remove(folder + "/" + sessionDir + "/" + sessionFile)
		},
	} {
		s := newTestStore(t)
		c := waits(t, s)
		w := waitingFor(t, s, c.Path())
		appendBatch(t, w, thread(0, 4)) // the content of the transcript
		appendBatch(t, subagent(t, w, "x"), thread(0, 4))
		w.Close()
		writeFile(t, s, waitingDir+"/"+c.Path()+"/brainstorm.md", "ours")
		must(t, change(filepath.Join(s.dir, c.Path())))
		list, err := s.List()
		if gone := strings.Contains(what, "gone"); err != nil || len(list) != 1 || list[0].Waiting != gone || list[0].Session.Title != "Set while it waits" {
			t.Errorf("%s: %+v, %v", what, list, err)
		}
		opened, err := s.Open(list[0])
		must(t, err)
		wantAll(t, what+", opened", opened)
		back, err := s.Kept().PutBack(c.Path())
		must(t, err)
		wantAll(t, what, back)
		wantMoved(t, what, s, c.Path())
		doc := map[string]string{"gone": "ours", "the day is gone": "ours", "without .session": "mine"}[what]
		if doc == "" {
			doc = "# API Design\n"
		}
		if got := readFile(t, s, c.Path()+"/brainstorm.md"); got != doc {
			t.Errorf("%s: the document is %q", what, got)
		}
		if again, err := s.Kept().PutBack(c.Path()); err != nil || again.Path() != c.Path() {
			t.Errorf("%s: again: %v", what, err)
		}
	}
	s := newTestStore(t)
	before := snapshot(t, s.dir)
	if _, err := s.Kept().PutBack("conversations/2025-11-22/1000-chat-x-abcd"); !errors.Is(err, ErrNotFound) {
		t.Errorf("where nothing waits: %v", err)
	}
	if _, err := s.Kept().PutBack("conversations/../x"); err == nil {
		t.Error("a path that leads elsewhere")
	}
	wantSame(t, s.dir, before)
}

// TestPublishWaiting checks that a conversation that began while the work tree must not
// be written to is like any other.
func TestPublishWaiting(t *testing.T) {
	s := newTestStore(t)
	tree := snapshot(t, s.dir)
	stage := func() *Conversation {
		c, err := s.Stage("chat", "hello", &schema.Session{ID: testID("abcd")}, []byte("# Hello\n"))
		must(t, err)
		appendBatch(t, c, thread(0, 4))
		return c
	}
	c := stage()
	must(t, c.PublishWaiting())
	appendBatch(t, c, thread(4, 6))
	c.Close()
	for name := range snapshot(t, s.dir) {
		if _, ok := tree[name]; !ok && !strings.HasPrefix(name, keptDir) {
			t.Errorf("%s was made in the work tree", name)
		}
	}
	if err := stage().PublishWaiting(); !errors.Is(err, ErrExist) {
		t.Errorf("again: %v", err)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || !list[0].Waiting || list[0].Session.MessageCount != 6 {
		t.Fatalf("%+v, %v", list, err)
	}
	wantSound(t, s)
	back, err := s.Kept().PutBack(list[0].Path)
	must(t, err)
	if ids, _, _ := history(t, back, Limit{}); len(ids) != 6 {
		t.Errorf("%v", ids)
	}
	if got := readFile(t, s, back.Path()+"/chat.md"); got != "# Hello\n" {
		t.Errorf("the document is %q", got)
	}
	sess, _ := session(t, back)
	if sess.ID != testID("abcd") || sess.MessageCount != 6 {
		t.Errorf("%+v", sess)
	}
	wantMoved(t, "put back", s, back.Path())
}

// TestWaitingWriters: some processes write waiting records while others move them.
// Nothing is lost.
func TestWaitingWriters(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	c.Close()
	const writers, each = 3, 40
	var group sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		group.Go(func() {
			store := openTestStore(t, s.dir)
			for n := range each {
				to, err := store.Kept().Waiting(c.Path(), "")
				if err == nil && n%3 == 0 {
					to, err = to.Subagent("x")
				}
				if err == nil {
					_, err = to.Append(schema.Batch{Messages: []schema.Message{{ID: fmt.Sprint("w", w, "-", n), Role: schema.User}}})
					err = errors.Join(err, to.Close())
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { group.Wait(); close(done) }()
	moves := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		v, err := openTestStore(t, s.dir).Conversation(c.Path())
		must(t, err)
		must(t, v.Update(func(*Tx, *schema.Session) error { return nil }))
		v.Close()
		moves++
	}
	got := map[string]int{}
	for _, c := range []*Conversation{c, subagent(t, c, "x")} {
		for m, err := range c.Messages() {
			must(t, err)
			got[m.ID]++
		}
	}
	for w := range writers {
		for n := range each {
			if id := fmt.Sprint("w", w, "-", n); got[id] != 1 {
				t.Errorf("%s is there %d times after %d moves", id, got[id], moves)
			}
		}
	}
	wantMoved(t, "writers", s, c.Path())
}

// TestLocalIgnoresItself checks that .workspace/local ignores itself whichever command
// comes first, even in a clone where an older version created it without its .gitignore.
func TestLocalIgnoresItself(t *testing.T) {
	const name = "conversations/2025-11-22/1000-brainstorm-api-design-ee1s"
	for what, do := range map[string]func(s *Store) error{
		"cache":     func(s *Store) error { return s.WriteCache("x", nil) },
		"lock":      func(s *Store) error { _, err := s.LockCache("x", time.Second); return err },
		"file":      func(s *Store) error { return s.WriteFile(".workspace/local/kept/x", nil) },
		"workspace": func(s *Store) error { return s.WriteFile(".workspace/config.yaml", nil) },
		"append": func(s *Store) error {
			c, err := s.Conversation(name)
			if err == nil {
				_, err = c.Append(thread(2, 3))
			}
			return err
		},
		"known": func(s *Store) error {
			c, err := s.Conversation(name)
			if err == nil {
				_, err = c.Append(thread(0, 1))
			}
			return err
		},
		"edit": func(s *Store) error {
			c, err := s.Conversation(name)
			if err == nil {
				err = c.Edit(func(s *schema.Session) error { s.Title = "x"; return nil })
			}
			return err
		},
		"create": func(s *Store) error { _, err := s.Create("chat", "x", &schema.Session{}, nil); return err },
		"wait": func(s *Store) error {
			c, err := s.Kept().Waiting(name, "")
			if err == nil {
				_, err = c.Append(thread(2, 3))
			}
			return err
		},
		"publish": func(s *Store) error {
			c, err := s.Stage("chat", "x", &schema.Session{}, nil)
			if err == nil {
				err = c.PublishWaiting()
			}
			return err
		},
		"summary": func(s *Store) error {
			c, err := s.Conversation(name)
			if err == nil {
				err = c.WriteSummary(summaryOf("m0", "m1", "x"))
			}
			return err
		},
		"init": func(s *Store) error { _, err := initialize(s.Files); return err },
	} {
		for _, remove := range []string{ignoreFile, localDir} {
			s := newTestStore(t)
			appendBatch(t, create(t, s), thread(0, 2))
			must(t, os.RemoveAll(filepath.Join(s.dir, remove)))
			if remove == ignoreFile {
				must(t, os.MkdirAll(filepath.Join(s.dir, keptDir), 0o700))
			}
			if err := do(openTestStore(t, s.dir)); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			if b, err := os.ReadFile(filepath.Join(s.dir, ignoreFile)); string(b) != "*\n" {
				t.Errorf("%s without %s: %q, %v", what, remove, b, err)
			}
		}
	}
	// A person's own file stays.
	s := newTestStore(t)
	writeFile(t, s, ignoreFile, "*\n# mine\n")
	must(t, s.WriteCache("x", nil))
	if got := readFile(t, s, ignoreFile); got != "*\n# mine\n" {
		t.Errorf("it is %q", got)
	}
}
