package store

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// twins creates one conversation in two folders, like a merge of two clones that captured
// it under different names: m0 to m3 are in both, m4 and m5 in the first, m6 and m7, with
// a sub-agent and edits, in the second.
func twins(t *testing.T, s *Store) (shown *Conversation, twin string) {
	t.Helper()
	c := create(t, s)
	clock(s)
	appendBatch(t, c, thread(0, 4))
	must(t, settle(c))
	c.Close()
	twin = "conversations/2025-11-22/1001-brainstorm-api-design-ee1s"
	must(t, os.CopyFS(filepath.Join(s.dir, twin), os.DirFS(filepath.Join(s.dir, c.Path()))))
	name := twin + "/.session/session.json"
	writeFile(t, s, name, strings.Replace(readFile(t, s, name), "1000-", "1001-", 1))
	writeFile(t, s, twin+"/notes.md", "a person's")
	appendBatch(t, c, thread(4, 6))
	must(t, c.Edit(func(s *schema.Session) error { s.Title, s.Tags = "First", []string{"a"}; return nil }))
	c.Close()
	other, err := s.Conversation(twin)
	must(t, err)
	b := thread(6, 8)
	b.Messages[0].ParentID = "m5"
	appendBatch(t, other, b)
	appendBatch(t, subagent(t, other, "x"), thread(0, 2))
	writeSummary(t, other, summaryOf("m0", "m3", "It was done."))
	must(t, other.Edit(func(s *schema.Session) error { s.Title, s.Tags = "Second", []string{"b"}; return nil }))
	must(t, settle(other))
	other.Close()
	return c, twin
}

// openShown opens the only listed conversation.
func openShown(t *testing.T, s *Store) (*Conversation, Entry) {
	t.Helper()
	list, err := s.List()
	if err != nil || len(list) != 1 {
		t.Fatalf("%d conversations, %v: %+v", len(list), err, list)
	}
	c, err := s.Open(list[0])
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c, list[0]
}

func wantTwins(t *testing.T, what string, c *Conversation) {
	t.Helper()
	for _, limit := range []Limit{{}, {Messages: 100}} {
		ids, h, _ := history(t, c, limit)
		if !slices.Equal(ids, []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"}) || len(h.Tools) != 4 {
			t.Errorf("%s: %v with %d calls", what, ids, len(h.Tools))
		}
	}
	sess, damage := session(t, c)
	if sess.MessageCount != 8 || sess.Title != "Second" || !slices.Equal(sess.Tags, []string{"a", "b"}) || sess.ConversationID != path.Base(c.Path()) || damage != nil {
		t.Errorf("%s: %+v, %v", what, sess, damage)
	}
	if ids, _, _ := history(t, subagent(t, c, "x"), Limit{}); len(ids) != 2 {
		t.Errorf("%s: the sub-agent has %v", what, ids)
	}
	if list, _ := c.Summaries(); len(list) != 1 {
		t.Errorf("%s: %d summaries", what, len(list))
	}
	if lost, err := c.Lost(); lost != 0 || err != nil {
		t.Errorf("%s: %d lost, %v", what, lost, err)
	}
}

// TestTwins checks that a conversation in two folders is listed once and read as one, and
// that the next write merges the two logs.
func TestTwins(t *testing.T) {
	s := newTestStore(t)
	first, twin := twins(t, s)
	before := snapshot(t, s.dir)
	c, e := openShown(t, s)
	if e.Path != first.Path() || !slices.Equal(e.Twins, []string{twin}) || e.Session.MessageCount != 8 || e.Session.Title != "Second" {
		t.Errorf("listed is %+v with %+v", e, e.Session)
	}
	wantTwins(t, "before", c)
	wantSound(t, s)
	wantSame(t, s.dir, before)

	if r := appendBatch(t, c, thread(7, 8)); r.Appended+r.Tools != 0 || r.Moved != 3 {
		t.Errorf("%+v", r)
	}
	wantTwins(t, "afterwards", c)
	again, e := openShown(t, s)
	wantTwins(t, "to another", again)
	if !slices.Equal(e.Twins, []string{twin}) || len(again.others()) != 0 {
		t.Errorf("%+v, %d", e, len(again.others()))
	}
	wantMoved(t, "afterwards", s, c.Path())
	for name, want := range map[string]string{
		"messages.jsonl": "", "tools.jsonl": "", "subagents/x/messages.jsonl": "", "subagents/x/tools.jsonl": "",
		"../notes.md": "a person's", "../brainstorm.md": "# API Design\n",
	} {
		if got := readFile(t, s, path.Join(twin, ".session", name)); got != want {
			t.Errorf("the twin's %s is %q", name, got)
		}
	}
	sess, err := schema.ParseSession([]byte(readFile(t, s, twin+"/.session/session.json")))
	if err != nil || sess.ID != c.id(t) || sess.MessageCount != 0 || sess.CountedBytes != 0 || sess.Tokens != 0 {
		t.Errorf("the twin's session is %+v, %v", sess, err)
	}
	if got := readFile(t, s, backupsDir+"/"+c.Path()+".json"); strings.Contains(got, "1001-") {
		t.Errorf("the backup is that of the twin: %s", got)
	}
	// Nothing is left to do: a write without a change writes nothing.
	before = snapshot(t, s.dir)
	must(t, again.Edit(func(*schema.Session) error { return nil }))
	wantSame(t, s.dir, before)

	// A merge brings a line back into the twin.
	extra := message(8)
	extra.ParentID = "m7"
	writeFile(t, s, twin+"/.session/messages.jsonl", string(schema.AppendMessage(nil, &extra)))
	c, _ = openShown(t, s)
	if ids, _, _ := history(t, c, Limit{}); len(ids) != 9 {
		t.Errorf("%v", ids)
	}
	must(t, settle(c))
	if ids, _, _ := history(t, c, Limit{Messages: 100}); len(ids) != 9 || readFile(t, s, twin+"/.session/messages.jsonl") != "" {
		t.Errorf("%v", ids)
	}
	wantSound(t, s)
}

func (c *Conversation) id(t *testing.T) string {
	sess, _ := session(t, c)
	return sess.ID
}

// TestTwinsByGit checks that both clones can merge the twins, and merge again.
func TestTwinsByGit(t *testing.T) {
	s := newTestStore(t)
	mustGit(t, s.dir, "init", "-q", "-b", "main")
	c, twin := twins(t, s)
	commit := func(message string) {
		mustGit(t, s.dir, "add", "-A")
		mustGit(t, s.dir, "commit", "-q", "-m", message)
	}
	commit("twins")
	mustGit(t, s.dir, "branch", "theirs")
	shown, _ := openShown(t, s)
	must(t, settle(shown))
	commit("one log")
	mustGit(t, s.dir, "checkout", "-q", "theirs")
	other, err := s.Conversation(twin) // a clone that continues in the twin
	must(t, err)
	appendBatch(t, other, thread(8, 10))
	other.Close()
	commit("the twin goes on")
	mustGit(t, s.dir, "checkout", "-q", "main")
	mustGit(t, s.dir, "merge", "-q", "theirs", "-m", "merge")
	wantSound(t, s)
	for _, what := range []string{"merged", "written"} {
		shown, e := openShown(t, s)
		if ids, h, _ := history(t, shown, Limit{}); len(ids) != 10 || len(h.Tools) != 5 || e.Session.MessageCount != 10 {
			t.Errorf("%s: %v, %d calls, %d counted", what, ids, len(h.Tools), e.Session.MessageCount)
		}
		must(t, settle(shown))
	}
	wantMoved(t, "by git", s, c.Path())
}

// TestTwinsThatWait checks that records waiting for either folder belong to the
// conversation.
func TestTwinsThatWait(t *testing.T) {
	s := newTestStore(t)
	_, twin := twins(t, s)
	w := waitingFor(t, s, twin)
	appendBatch(t, w, thread(8, 10))
	w.Close()
	c, e := openShown(t, s)
	if ids, _, _ := history(t, c, Limit{}); len(ids) != 10 || e.Session.MessageCount != 10 {
		t.Errorf("%v, %d counted", ids, e.Session.MessageCount)
	}
	must(t, settle(c))
	if ids, _, _ := history(t, c, Limit{}); len(ids) != 10 || s.Kept().WaitingPaths() != nil {
		t.Errorf("%v, %q waits", ids, s.Kept().WaitingPaths())
	}
	wantSound(t, s)

	// This holds even if the folder is known only under another name.
	w = waitingFor(t, s, "conversations/2025-11-22/0959-chat-other-ee1s")
	must(t, w.Edit(func(sess *schema.Session) error { sess.ID = c.id(t); sess.Status = schema.Active; return nil }))
	appendBatch(t, w, thread(10, 11))
	w.Close()
	c, e = openShown(t, s)
	if ids, _, _ := history(t, c, Limit{}); len(ids) != 11 || e.Session.MessageCount != 11 {
		t.Errorf("%v, %d counted", ids, e.Session.MessageCount)
	}
	must(t, settle(c))
	if s.Kept().WaitingPaths() != nil {
		t.Errorf("%q waits", s.Kept().WaitingPaths())
	}
}

// TestTwinsWithDamage checks that unreadable lines are kept before a twin is emptied, and
// that an unreadable session.json makes no twin.
func TestTwinsWithDamage(t *testing.T) {
	s := newTestStore(t)
	_, twin := twins(t, s)
	log := twin + "/.session/messages.jsonl"
	spoilt := "{broken}\n" + readFile(t, s, log)
	writeFile(t, s, log, spoilt)
	c, _ := openShown(t, s)
	must(t, settle(c))
	wantTwins(t, "damaged", c)
	if got := readFile(t, s, keptDir+"/damaged/"+log+"-1"); got != spoilt {
		t.Errorf("kept is %q", got)
	}
	if got := readFile(t, s, log); got != "" {
		t.Errorf("the log is %q", got)
	}
	wantSound(t, s)
	writeFile(t, s, twin+"/.session/session.json", "{broken")
	if list, err := s.List(); err != nil || len(list) != 2 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestDeleteTwins checks that a conversation is removed from all its folders.
func TestDeleteTwins(t *testing.T) {
	s := newTestStore(t)
	c, _ := twins(t, s)
	w := waitingFor(t, s, c.Path())
	appendBatch(t, w, thread(8, 9))
	w.Close()
	c, _ = openShown(t, s)
	must(t, c.Delete())
	if list, err := s.List(); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	for name := range snapshot(t, s.dir) {
		if strings.Contains(name, "brainstorm") && !strings.Contains(name, "/backups/") {
			t.Errorf("%s is left", name)
		}
	}
}

// TestTwinOfItself: an index made while folders were moved may name a folder twice. A
// writer must not wait for its own lock.
func TestTwinOfItself(t *testing.T) {
	s := newTestStore(t)
	first, twin := twins(t, s)
	c, err := s.Open(Entry{Path: first.Path(), Twins: []string{first.Path(), twin, twin}, Session: new(schema.Session)})
	must(t, err)
	defer c.Close()
	wantTwins(t, "before", c)
	must(t, c.Edit(func(*schema.Session) error { return nil }))
	wantTwins(t, "afterwards", c)
}
