package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// A snapshot reports what the logs have of a record, even after they were replaced.
func TestSnapshot(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	n, err := c.Snapshot()
	must(t, err)
	defer n.Close()
	must(t, os.WriteFile(filepath.Join(s.Root(), c.file(messagesFile))+".new", nil, 0o600))
	must(t, os.Rename(filepath.Join(s.Root(), c.file(messagesFile))+".new", filepath.Join(s.Root(), c.file(messagesFile))))

	b := thread(0, 6)
	grown := b.Messages[1]
	grown.Content += " and more"
	for _, c := range []struct {
		m    schema.Message
		want Held
	}{{b.Messages[0], Whole}, {b.Messages[3], Whole}, {grown, Partly}, {b.Messages[4], Nothing}} {
		if got, err := n.Message(c.m); got != c.want || err != nil {
			t.Errorf("%s: %d, %v; want %d", c.m.ID, got, err, c.want)
		}
	}
	tool := b.Tools[0]
	if got, err := n.Tool(tool); got != Whole || err != nil {
		t.Errorf("%s: %d, %v", tool.ID, got, err)
	}
	tool.Output += " and the rest"
	if got, err := n.Tool(tool); got != Partly || err != nil {
		t.Errorf("%s with more output: %d, %v", tool.ID, got, err)
	}
	tool.ID = "another"
	if got, err := n.Tool(tool); got != Nothing || err != nil {
		t.Errorf("a new call: %d, %v", got, err)
	}
	if _, err := n.Message(schema.Message{ID: "x", Role: "nobody"}); err == nil {
		t.Error("a message of nobody is taken for one")
	}
	if _, err := n.Tool(schema.Tool{}); err == nil {
		t.Error("a call without an id is taken for one")
	}
	if c.Confirms(n.Checkpoint) {
		t.Error("the checkpoint of a replaced log is confirmed")
	}
	if err := os.Remove(filepath.Join(s.Root(), c.file(toolsFile))); err != nil {
		t.Fatal(err)
	}
	must(t, os.Mkdir(filepath.Join(s.Root(), c.file(toolsFile)), 0o700))
	if _, err := c.Snapshot(); err == nil {
		t.Error("a folder is taken for a log")
	}
}

// Two conversations with the same name on two branches wait separately and are put back
// separately.
func TestWaitingUnderOneName(t *testing.T) {
	s := newTestStore(t)
	here := create(t, s)
	appendBatch(t, here, thread(0, 2))
	name, other := here.Path(), schema.DerivedID("claude", "other", start)
	w, err := s.Kept().Waiting(name, other)
	must(t, err)
	if w.Path() != name || len(w.others()) > 0 {
		t.Errorf("it waits as %s, beside %v", w.Path(), w.others())
	}
	appendBatch(t, w, thread(10, 13))
	must(t, w.Edit(func(s *schema.Session) error { s.ID = other; return nil }))
	must(t, w.Close())

	if c, err := s.Conversation(name); err != nil || c.HasMore() || c.Waits() {
		t.Errorf("%v: what waits for another conversation counts for this one", err)
	}
	sess, _, err := here.Session()
	must(t, err)
	own, err := s.Kept().Waiting(name, sess.ID)
	must(t, err)
	if own.Path() != name+"-"+sess.ID[len(sess.ID)-4:] {
		t.Errorf("the conversation that is here waits as %s", own.Path())
	}
	if !s.Kept().WaitsFor(name, other) || s.Kept().WaitsFor(name, sess.ID) {
		t.Error("whose records wait is not told")
	}
	list, err := s.List()
	must(t, err)
	if len(list) != 2 || !slices.ContainsFunc(list, func(e Entry) bool { return e.Waiting && e.Session.ID == other && e.Session.MessageCount == 3 }) {
		t.Errorf("the list has %+v", list)
	}
	back, err := s.Kept().PutBack(name)
	must(t, err)
	if back.Path() != name+"-"+other[len(other)-4:] {
		t.Errorf("it is put back into %s", back.Path())
	}
	for c, want := range map[*Conversation]int{here: 2, back: 3} {
		if ids, err := c.MessageIDs(); len(ids) != want || err != nil {
			t.Errorf("%s has %d messages, %v", c.Path(), len(ids), err)
		}
	}
	if len(s.Kept().WaitingPaths()) > 0 {
		t.Errorf("still waiting: %q", s.Kept().WaitingPaths())
	}
	if _, err := s.Kept().Waiting("elsewhere", ""); err == nil {
		t.Error("any path waits")
	}
	if _, err := s.Kept().MakeFolder("elsewhere", ""); err == nil {
		t.Error("any path is a conversation")
	}
}

// TakeBack brings back what git took, under the name that it had.
func TestTakeBack(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	sess, _, err := c.Session()
	must(t, err)
	k, err := s.Kept().Taken(c.Path())
	must(t, err)
	appendBatch(t, k, thread(2, 4))
	must(t, k.Edit(func(s *schema.Session) error { s.ID = sess.ID; return nil }))
	must(t, k.Close())
	if got := s.Kept().TakenPaths(); !slices.Equal(got, []string{c.Path()}) {
		t.Fatalf("taken: %q", got)
	}
	must(t, c.Close())
	renamed := "conversations/2025-01-01/my-name"
	must(t, os.MkdirAll(filepath.Join(s.Root(), filepath.Dir(renamed)), 0o700))
	must(t, os.Rename(filepath.Join(s.Root(), c.Path()), filepath.Join(s.Root(), renamed)))
	moved, err := s.Conversation(renamed)
	must(t, err)
	defer moved.Close()
	moved.TakeBack(renamed) // nothing was taken under that name
	if moved.HasMore() {
		t.Error("there is more without what was taken")
	}
	moved.TakeBack(c.Path())
	moved.TakeBack(c.Path())
	must(t, moved.Update(func(*Tx, *schema.Session) error { return nil }))
	if ids, err := moved.MessageIDs(); len(ids) != 4 || err != nil || len(s.Kept().TakenPaths()) > 0 {
		t.Errorf("%d messages, %v; taken: %q", len(ids), err, s.Kept().TakenPaths())
	}
}

// A conversation whose second session follows a missing message lacks its start.
func TestLacksStart(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 4))
	for after, want := range map[string]bool{"": false, "m3": false, "m9": true} {
		sess := &schema.Session{Sources: []schema.Source{{Agent: "claude", NativeID: "a"}, {Agent: "claude", NativeID: "b", After: after}}}
		if got, err := c.LacksStart(sess); got != want || err != nil {
			t.Errorf("after %q: %v, %v", after, got, err)
		}
	}
	if c.LogMissing() {
		t.Error("a log is missing")
	}
	must(t, os.Remove(filepath.Join(s.Root(), c.file(toolsFile))))
	if !c.LogMissing() || c.LogsAbsent() {
		t.Error("tools.jsonl is not missed")
	}
}

// However many days there are, none is left out.
func TestListManyDays(t *testing.T) {
	const days = 129
	s := newTestStore(t)
	for day := range days {
		name := "conversations/" + start.AddDate(0, 0, day).Format("2006-01-02") + fmt.Sprintf("/1000-chat-x-%04d", day)
		writeFile(t, s, name+"/.session/session.json", strings.Replace(`{"version":"1.2","status":"paused","title":"DAY","conversation_type":"chat","created_at":"2025-11-22T10:00:00.000Z"}`, "DAY", name, 1))
	}
	list, err := s.List()
	must(t, err)
	for _, e := range list {
		if e.Session.Title != e.Path || len(e.Damage) > 0 {
			t.Errorf("%s is %q, %v", e.Path, e.Session.Title, e.Damage)
		}
	}
	if len(list) != days {
		t.Errorf("%d conversations", len(list))
	}
}
