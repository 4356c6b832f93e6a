package store

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
	"cortext/schema/jsonl"
	"cortext/schema/tokens"
)

func session(tb testing.TB, c *Conversation) (*schema.Session, []Damage) {
	tb.Helper()
	sess, damage, err := c.Session()
	if err != nil {
		tb.Fatal(err)
	}
	return sess, damage
}

// TestCounters checks that records appended after the counters were written are counted,
// whatever a merge did to the file.
func TestCounters(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	message := func(n int) schema.Message {
		m := message(n)
		m.Usage = &schema.Usage{PromptTokens: int64(n+1) * 100, CompletionTokens: int64(n + 1), CachedTokens: 7}
		return m
	}
	thread := func(from, to int) schema.Batch {
		b := thread(from, to)
		for i := range b.Messages {
			b.Messages[i] = message(from + i)
		}
		return b
	}
	want := func(what string, messages int, settled bool) {
		t.Helper()
		sess, damage := session(t, c)
		if sess.MessageCount != messages || damage != nil {
			t.Errorf("%s: %d messages, want %d; %v", what, sess.MessageCount, messages, damage)
		}
		if is, err := c.CountersCurrent(); err != nil || is != settled {
			t.Errorf("%s: counters are current: %v, %v", what, is, err)
		}
		fresh := *sess
		if err := (counter{&c.Reader}).recount(&fresh, c.folders()...); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(fresh, *sess) {
			t.Errorf("%s: counted %+v; afresh %+v", what, *sess, fresh)
		}
	}
	want("empty", 0, true)
	appendBatch(t, c, thread(0, 4))
	want("never settled", 4, false)
	if err := settle(c); err != nil {
		t.Fatal(err)
	}
	want("settled", 4, true)
	file := readFile(t, s, c.file(sessionFile))
	appendBatch(t, c, thread(4, 7))
	want("grown", 7, false)
	if readFile(t, s, c.file(sessionFile)) != file {
		t.Error("an append wrote session.json")
	}
	if sess, _ := session(t, c); sess.LastActive != message(6).Timestamp {
		t.Errorf("last active %s", sess.LastActive)
	}
	grown := message(5)
	grown.Content += " and more"
	log := readFile(t, s, c.file(messagesFile))
	counted := message(1)
	counted.Content += " and more"
	appendBatch(t, c, schema.Batch{Messages: []schema.Message{grown, counted}})
	if sess, _ := session(t, c); sess.MessageCount != 7 {
		t.Errorf("a rev was counted as a message: %d", sess.MessageCount)
	}
	// The counters were taken at an offset that is now in the middle of a line.
	writeFile(t, s, c.file(messagesFile), "\n\n"+log)
	want("another file by now", 7, false)
	writeFile(t, s, c.file(messagesFile), log[:len(log)/4])
	want("a shorter file", strings.Count(log[:len(log)/4], "\n"), false)
	writeFile(t, s, c.file(messagesFile), log+log)
	if err := settle(c); err != nil {
		t.Fatal(err)
	}
	want("doubled by a merge", 7, true)

	// A returning writer adds to the counters. If git merged the log meanwhile, the
	// counters already include some of the added records.
	write := func(cp Checkpoint, n int) Checkpoint {
		tx, err := c.BeginAt(cp)
		must(t, err)
		must(t, tx.Append(thread(n, n+1)))
		must(t, tx.Count())
		cp, err = tx.Checkpoint(nil, nil)
		must(t, err)
		must(t, tx.Commit())
		return cp
	}
	cp := write(Checkpoint{}, 7)
	appendBatch(t, c, thread(8, 9)) // without the counters
	cp = write(cp, 9)
	want("come back", 10, true)
	merged := readFile(t, s, c.file(messagesFile))
	writeFile(t, s, c.file(messagesFile), merged+strings.SplitAfter(merged, "\n")[0]) // another file may get the inode of this one
	if cp = write(cp, 10); cp.Held != 0 && cp.Held != 11 {
		t.Errorf("the checkpoint holds %d messages", cp.Held)
	}
	want("merged by git", 11, true)
	wantSound(t, s)
}

// TestCountsOf1: version 1.0 stored no token counts.
func TestCountsOf1(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	writeFile(t, s, c.file(messagesFile), `{"id":"a","role":"user","content":"one two three","tool_calls":[{"id":"t"}]}`+"\n")
	writeFile(t, s, c.file(toolsFile), `{"id":"t","input":{"a":1},"output":"four five"}`+"\n")
	sess, _ := session(t, c)
	if want := int64(tokens.Count("one two three") + tokens.Count(`{"a":1}`) + tokens.Count("four five")); sess.Tokens != want || sess.MessageCount != 1 {
		t.Errorf("%d messages, %d tokens, want %d", sess.MessageCount, sess.Tokens, want)
	}
}

// TestCheckStops checks that a caller can stop Check early.
func TestCheckStops(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	if err := os.Symlink("x", filepath.Join(s.dir, "conversations", "link")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, s, c.file(messagesFile), "{broken\n[]\n")
	writeFile(t, s, c.file(toolsFile), "{broken\n[]\n")
	writeFile(t, s, c.file(sessionFile), "{broken")
	writeFile(t, s, c.file("subagents/a/messages.jsonl"), "[]\n")
	writeFile(t, s, c.file("subagents/b"), "")
	all := damages(s)
	if len(all) != 9 {
		t.Errorf("%q", all)
	}
	for n := range all {
		seen := 0
		for d := range s.Check() {
			if d.Unwrap() == nil {
				t.Error("no place")
			}
			if seen++; seen > n {
				break
			}
		}
		if seen != n+1 {
			t.Errorf("%d seen, want %d", seen, n+1)
		}
	}
}

func TestUsage(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	b := thread(0, 3)
	b.Messages[1].Usage = &schema.Usage{PromptTokens: 10, CompletionTokens: 1, CachedTokens: 5}
	appendBatch(t, c, b)
	b.Messages[1].Usage = &schema.Usage{PromptTokens: 10, CompletionTokens: 7, CachedTokens: 5}
	b.Messages[2].Usage = &schema.Usage{PromptTokens: 20, CompletionTokens: 2}
	b.Messages[2].ID = "other"
	appendBatch(t, c, b)
	if err := settle(c); err != nil {
		t.Fatal(err)
	}
	sess, _ := session(t, c)
	if u := sess.Usage; u == nil || u.PromptTokens != 30 || u.CompletionTokens != 9 || u.CachedTokens != 5 {
		t.Errorf("%+v", sess.Usage)
	}
}

func TestEdit(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	before := snapshot(t, s.dir)
	if err := c.Edit(func(s *schema.Session) error { s.Title = s.Title + ""; return nil }); err != nil {
		t.Fatal(err)
	}
	wantSame(t, s.dir, before)
	refusal := errors.New("no")
	if err := c.Edit(func(s *schema.Session) error { s.Title = "x"; return refusal }); !errors.Is(err, refusal) {
		t.Errorf("%v", err)
	}
	if err := c.Edit(func(s *schema.Session) error { s.Status = "gone"; return nil }); err == nil {
		t.Error("an invalid status was accepted")
	}
	wantSame(t, s.dir, before)
	first := readFile(t, s, c.file(sessionFile))
	for _, title := range []string{"Second", "Third"} {
		last := readFile(t, s, c.file(sessionFile))
		if err := c.Edit(func(s *schema.Session) error { s.Title = title; return nil }); err != nil {
			t.Fatal(err)
		}
		if got := readFile(t, s, backupFile(c.path)); got != last {
			t.Errorf("the backup is %s, want %s", got, last)
		}
	}
	want := strings.Replace(first, `"API Design",`, `"Third",
  "title_set": {"at":"2025-11-22T10:00:00.001Z","to":"Third"},`, 1)
	if got := readFile(t, s, c.file(sessionFile)); got != want {
		t.Errorf("session.json is %s", got)
	}
}

// TestLaterVersions checks that fields of a later minor version are kept with its number,
// and that a later major version is reported and left untouched.
func TestLaterVersions(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	file := readFile(t, s, c.file(sessionFile))
	minor := strings.Replace(file, `"`+schema.Version+`"`, `"1.7"`, 1)
	minor = strings.Replace(minor, "\n}", ",\n  \"mood\": {\"a\":1e3}\n}", 1)
	writeFile(t, s, c.file(sessionFile), minor)
	wantSound(t, s)
	if err := c.Edit(func(s *schema.Session) error { s.Notes = "n"; return nil }); err != nil {
		t.Fatal(err)
	}
	got := readFile(t, s, c.file(sessionFile))
	if !strings.Contains(got, `"version": "1.7"`) || !strings.Contains(got, `"mood": {"a":1e3}`) || !strings.Contains(got, `"notes": "n"`) {
		t.Errorf("session.json is %s", got)
	}
	writeFile(t, s, c.file(sessionFile), strings.Replace(file, `"`+schema.Version+`"`, `"2.0"`, 1))
	c.Close()
	before := snapshot(t, s.dir)
	var version *schema.VersionError
	if _, _, err := c.Session(); !errors.As(err, &version) {
		t.Errorf("session: %v", err)
	}
	if err := c.Edit(func(s *schema.Session) error { s.Notes = "n"; return nil }); !errors.As(err, &version) {
		t.Errorf("edit: %v", err)
	}
	if _, err := c.Append(thread(0, 1)); !errors.As(err, &version) {
		t.Errorf("append: %v", err)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || len(list[0].Damage) != 1 || list[0].Damage[0].Kind != Newer || list[0].Session.Title != "api design" {
		t.Errorf("list: %+v, %v", list, err)
	}
	if got := damages(s); !slices.Equal(got, []string{c.file(sessionFile) + ":0:0: newer format"}) {
		t.Errorf("check: %q", got)
	}
	wantSame(t, s.dir, before)
}

// sessionV1 is a session.json as the first Cortext wrote it.
const sessionV1 = `{
  "version": "1.0",
  "conversation_id": "001-brainstorm-api-design",
  "conversation_type": "brainstorm",
  "status": "active",
  "created_at": "2025-11-22T10:30:00Z",
  "last_active": "2025-11-22T11:45:00Z",
  "message_count": 24,
  "agent_config": {
    "command": "/workspace.brainstorm",
    "system_prompt_hash": "sha256:abc123",
    "model": "claude-sonnet-4-5-20250929",
    "tools": ["mcp__cortext__search_workspace"]
  },
  "context_summary": "Discussing REST vs GraphQL"
}
`

// TestVersion1 checks that a workspace of the first Cortext loads as it is, and that
// neither reading nor a change without effect rewrites it.
func TestVersion1(t *testing.T) {
	s := newTestStore(t)
	dir := "conversations/2025-11-22/001-brainstorm-api-design"
	writeFile(t, s, dir+"/.session/session.json", sessionV1)
	writeFile(t, s, dir+"/.session/messages.jsonl", `{"role": "user", "content": "Let's brainstorm API design", "timestamp": "2025-11-22T10:30:00Z"}
{"role": "assistant", "content": "Great! What's the core problem?", "timestamp": "2025-11-22T10:30:15Z"}
`)
	before := snapshot(t, s.dir)
	c, err := s.Conversation(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sess, damage := session(t, c)
	if damage != nil || sess.MessageCount != 2 || sess.Tokens == 0 || sess.DisplayTitle() != "api design" || schema.CheckID(sess.ID) != nil {
		t.Errorf("%+v, %v", sess, damage)
	}
	if want := schema.DerivedID("cortext", "001-brainstorm-api-design", sess.CreatedAt.Time()); sess.ID != want {
		t.Errorf("id %s, want %s", sess.ID, want)
	}
	for _, limit := range []Limit{{}, {Messages: 5}, {Messages: 1}} {
		_, h, damage := history(t, c, limit)
		want := 2
		if limit.Messages == 1 {
			want = 1
		}
		if len(h.Messages) != want || h.Earlier != 2-want || damage != nil {
			t.Errorf("%+v: %d messages, %d earlier, %v", limit, len(h.Messages), h.Earlier, damage)
		}
	}
	if err := c.Edit(func(*schema.Session) error { return nil }); err != nil {
		t.Fatal(err)
	}
	wantSound(t, s)
	for name, content := range snapshot(t, s.dir) {
		// Taking the lock sets the modes but keeps the content.
		_, was, _ := strings.Cut(before[name], " ")
		if _, is, _ := strings.Cut(content, " "); is != was {
			t.Errorf("%s changed to %q", name, is)
		}
	}
	if err := c.Edit(func(s *schema.Session) error { s.Status = schema.Paused; return nil }); err != nil {
		t.Fatal(err)
	}
	got := readFile(t, s, c.file(sessionFile))
	if !strings.HasPrefix(got, "{\n  \"version\": \"1.2\",\n") || !strings.Contains(got, "\n  \"id\": \""+sess.ID+"\"\n}") || !strings.Contains(got, `"context_summary": "Discussing REST vs GraphQL"`) {
		t.Errorf("after a change: %s", got)
	}
	if got := readFile(t, s, backupFile(c.path)); got != sessionV1 {
		t.Errorf("the backup is %s", got)
	}
	appendBatch(t, c, thread(0, 2))
	if _, h, _ := history(t, c, Limit{}); len(h.Messages) != 4 {
		t.Errorf("%d messages", len(h.Messages))
	}
}

// TestRebuiltPart checks that a rebuild recovers the id of a conversation that began with
// a later message of a native session, from that message.
func TestRebuiltPart(t *testing.T) {
	for _, from := range []string{"m0", "message:m0"} {
		s := newTestStore(t)
		s.opts.Agents = []string{"gemini", "claude"}
		id := schema.DerivedPartID("claude", "native", from, start)
		c, err := s.Create("plan", "part", &schema.Session{ID: id, CreatedAt: schema.NewTime(start), Title: "x"}, nil)
		must(t, err)
		batch := thread(0, 4)
		for i := range batch.Messages {
			batch.Messages[i].Source = "native"
		}
		appendBatch(t, c, batch)
		must(t, s.root.Remove(c.file(sessionFile)))
		sess, _, err := c.Session()
		must(t, err)
		if sess.ID != id || len(sess.Sources) != 1 || sess.Sources[0].NativeID != "native" || sess.Sources[0].Agent != "claude" || sess.Sources[0].From != from {
			t.Errorf("%s: id %s, sources %v, want %s", from, sess.ID, sess.Sources, id)
		}
	}
}

// TestRebuild checks that there is a session whatever happens to session.json, and that
// its first change keeps the previous bytes.
func TestRebuild(t *testing.T) {
	conflict := func(file string) string {
		return strings.Replace(file, `  "status": "active",
`, `<<<<<<< HEAD
  "status": "active",
||||||| base
  "status": "broken",
=======
  "status": "completed",
>>>>>>> theirs
`, 1)
	}
	for _, tt := range []struct {
		name   string
		spoil  func(file string) string // "" deletes it
		backup bool
		kind   jsonl.Kind
		title  string
		status schema.Status
	}{
		{"deleted", func(string) string { return "" }, true, Missing, "Kept", schema.Active},
		{"deleted, no backup", func(string) string { return "" }, false, Missing, "api design", schema.Paused},
		{"empty", func(string) string { return " " }, true, Unreadable, "Kept", schema.Active},
		{"cut", func(f string) string { return f[:len(f)/2] }, true, Unreadable, "Kept", schema.Active},
		{"cut, no backup", func(f string) string { return f[:len(f)/2] }, false, Unreadable, "api design", schema.Paused},
		{"a value that cannot be", func(f string) string { return strings.Replace(f, `"active"`, `"gone"`, 1) }, true, Unreadable, "Kept", schema.Active},
		{"a name in another case", func(f string) string { return strings.Replace(f, `"title"`, `"Title"`, 1) }, true, Unreadable, "Kept", schema.Active},
		{"NULs", func(f string) string { return strings.Repeat("\x00", len(f)) }, true, Unreadable, "Kept", schema.Active},
		{"no version", func(string) string { return "{}" }, true, Unreadable, "Kept", schema.Active},
		{"conflict, ours can be read", func(f string) string { return strings.Replace(conflict(f), `"completed"`, `"gone"`, 1) }, false, jsonl.Conflict, "Last", schema.Active},
		{"conflict, theirs can be read", func(f string) string { return strings.Replace(conflict(f), `"active"`, `"gone"`, 1) }, false, jsonl.Conflict, "Last", schema.Completed},
		{"conflict, both can be read", conflict, false, jsonl.Conflict, "Last", schema.Completed},
		{"conflict, theirs is newer", func(f string) string {
			return strings.Replace(f, `  "last_active": "2025-11-22T10:00:00.000Z",
`, `<<<<<<< HEAD
  "last_active": "2025-11-22T10:00:00.000Z",
=======
  "last_active": "2026-11-22T10:00:00.000Z",
  "notes": "theirs",
>>>>>>> theirs
`, 1)
		}, false, jsonl.Conflict, "Last", schema.Active},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestStore(t)
			c := create(t, s)
			appendBatch(t, c, thread(0, 4))
			for _, title := range []string{"Kept", "Last"} {
				if err := c.Edit(func(s *schema.Session) error { s.Title = title; return nil }); err != nil {
					t.Fatal(err)
				}
			}
			if !tt.backup {
				if err := os.RemoveAll(filepath.Join(s.dir, keptDir)); err != nil {
					t.Fatal(err)
				}
			}
			spoilt := tt.spoil(readFile(t, s, c.file(sessionFile)))
			if spoilt == "" {
				if err := os.Remove(filepath.Join(s.dir, c.file(sessionFile))); err != nil {
					t.Fatal(err)
				}
			} else {
				writeFile(t, s, c.file(sessionFile), spoilt)
			}
			before := snapshot(t, s.dir)
			sess, damage := session(t, c)
			if sess.Title != tt.title || sess.Status != tt.status || sess.MessageCount != 4 || sess.ConversationID != path.Base(c.Path()) || schema.CheckID(sess.ID) != nil {
				t.Errorf("%+v", sess)
			}
			if len(damage) != 1 || damage[0].Kind != tt.kind {
				t.Errorf("damage %v", damage)
			}
			if strings.Contains(tt.name, "newer") && sess.Notes != "theirs" {
				t.Errorf("the side that was active earlier was taken")
			}
			if list, err := s.List(); err != nil || len(list) != 1 || list[0].Session.Title != tt.title || len(list[0].Damage) != 1 {
				t.Errorf("list: %v, %v", list, err)
			}
			if got := damages(s); len(got) != 1 || !strings.HasSuffix(got[0], string(tt.kind)) {
				t.Errorf("check: %q", got)
			}
			wantSame(t, s.dir, before)
			appendBatch(t, c, thread(0, 6))
			if err := c.Edit(func(s *schema.Session) error { s.Notes = "mended"; return nil }); err != nil {
				t.Fatal(err)
			}
			sess, damage = session(t, c)
			if sess.Notes != "mended" || sess.Title != tt.title || damage != nil {
				t.Errorf("after an edit: %+v, %v", sess, damage)
			}
			wantSound(t, s)
			if spoilt != "" {
				if got := readFile(t, s, fmt.Sprintf("%s/damaged/%s/session.json-1", keptDir, c.Path())); got != spoilt {
					t.Errorf("%q was kept, want %q", got, spoilt)
				}
			}
		})
	}
}

func TestList(t *testing.T) {
	s := newTestStore(t)
	if list, err := s.List(); len(list) > 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	var want []string
	for i, day := range []string{"2025-11-20", "2025-11-22", "2025-11-22", "2025-11-21"} {
		c, err := s.Create("plan", fmt.Sprint("n", i), &schema.Session{CreatedAt: schema.Time(day + "T09:00:00.000Z")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m := message(i)
		m.ParentID = ""
		appendBatch(t, c, schema.Batch{Messages: []schema.Message{m}})
		c.Close()
		want = append([]string{c.Path()}, want...)
	}
	writeFile(t, s, "conversations/2025-11-19/007-plan-old/plan.md", "")
	writeFile(t, s, "conversations/README.md", "notes of the user")
	writeFile(t, s, "conversations/2025-11-22/stray.md", "")
	writeFile(t, s, "conversations/.obsidian/x/y", "")
	want = append(want, "conversations/2025-11-19/007-plan-old")
	list, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Path)
		if e.Damage != nil {
			t.Errorf("%s: %v", e.Path, e.Damage)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	wantSound(t, s)
}
