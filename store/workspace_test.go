package store

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/schema"
	"cortext/store/atomicfile"
	"cortext/store/internal/lines"
)

// day is the day of the conversations in tests, and start the time when they begin.
const day = "2025-11-22"

var start = time.Date(2025, 11, 22, 10, 0, 0, 0, time.UTC)

// newTestStore creates a workspace that is the same in each run. Nothing in it is synced:
// other tests cover power cuts.
func newTestStore(tb testing.TB) *Store {
	tb.Helper()
	s := unsynced(tb, tb.TempDir())
	if _, err := initialize(s.Files); err != nil {
		tb.Fatal(err)
	}
	return s
}

// openTestStore opens a workspace as another process would.
func openTestStore(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	s.Close()
	return unsynced(tb, dir)
}

func unsynced(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := open(dir, Options{
		Now:      func() time.Time { return start },
		Rand:     strings.NewReader(strings.Repeat("0123456789", 10_000)),
		LockWait: 10 * time.Second,
		Holder:   "a test",
	})
	if err != nil {
		tb.Fatal(err)
	}
	s.logs = lines.Calls{Sync: func(*os.File) error { return nil }}
	s.files = atomicfile.Calls{Sync: func(*os.File) error { return nil }}
	tb.Cleanup(func() { s.Close() })
	return s
}

// create creates a conversation about API design.
func create(tb testing.TB, s *Store) *Conversation {
	tb.Helper()
	c, err := s.Create("brainstorm", "API Design", &schema.Session{Title: "API Design"}, []byte("# API Design\n"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}

// message returns the n-th message of a thread.
func message(n int) schema.Message {
	m := schema.Message{
		ID:        fmt.Sprintf("m%d", n),
		Timestamp: schema.NewTime(start.Add(time.Duration(n) * time.Minute)),
		Role:      schema.User,
		Content:   fmt.Sprintf("message %d — ünïcode \"quoted\"", n),
	}
	if n%2 == 1 {
		m.Role = schema.Assistant
		m.ToolCalls = []schema.ToolCall{{ID: fmt.Sprintf("t%d", n), Name: "Bash"}}
	}
	if n > 0 {
		m.ParentID = fmt.Sprintf("m%d", n-1)
	}
	return m
}

// tool returns the call of the n-th message.
func tool(n int) schema.Tool {
	ok := true
	return schema.Tool{
		ID: fmt.Sprintf("t%d", n), MessageID: fmt.Sprintf("m%d", n), Name: "Bash",
		Input: schema.Raw(`{"command":"go test ./..."}`), Output: fmt.Sprintf("ok %d", n), Success: &ok,
	}
}

// thread returns the messages from <= n < to with their calls.
func thread(from, to int) (b schema.Batch) {
	for n := from; n < to; n++ {
		m := message(n)
		b.Messages = append(b.Messages, m)
		if len(m.ToolCalls) > 0 {
			b.Tools = append(b.Tools, tool(n))
		}
	}
	return b
}

func appendBatch(tb testing.TB, c *Conversation, b schema.Batch) Result {
	tb.Helper()
	r, err := c.Append(b)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func readFile(tb testing.TB, s *Store, name string) string {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func writeFile(tb testing.TB, s *Store, name, content string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(s.dir, name)), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644); err != nil {
		tb.Fatal(err)
	}
}

// history returns the ids of the messages from History, and its damage by kind.
func history(tb testing.TB, c *Conversation, limit Limit) (ids []string, h schema.History, damage []Damage) {
	tb.Helper()
	h, damage, err := c.History(limit)
	if err != nil {
		tb.Fatal(err)
	}
	for _, m := range h.Messages {
		ids = append(ids, m.ID)
	}
	return ids, h, damage
}

// damages returns the damage from Check, sorted, without detail.
func damages(s *Store) (list []string) {
	for d := range s.Check() {
		list = append(list, fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Offset, d.Kind))
	}
	slices.Sort(list)
	return list
}

// wantSound fails if Check finds anything.
func wantSound(tb testing.TB, s *Store) {
	tb.Helper()
	for d := range s.Check() {
		tb.Errorf("damage: %v", d.Error())
	}
}

// snapshot returns every file of a workspace with mode and content, except the cache.
func snapshot(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		rel = filepath.ToSlash(rel)
		if rel == cacheDir || rel == ".git" {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content := ""
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, os.ErrPermission) {
				return err
			}
			content = string(b)
		}
		files[rel] = info.Mode().String() + " " + content
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// wantSame fails if a workspace changed since the snapshot.
func wantSame(tb testing.TB, dir string, before map[string]string) {
	tb.Helper()
	after := snapshot(tb, dir)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if now, ok := after[name]; !ok || now != before[name] {
			tb.Errorf("%s changed from %.200q to %.200q", name, before[name], now)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[name]; !ok {
			tb.Errorf("%s appeared", name)
		}
	}
}

// settle writes the counters of the logs to session.json.
func settle(c *Conversation) error {
	return c.Update(func(tx *Tx, _ *schema.Session) error { return tx.Recount() })
}
