package opencode

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver for OpenCode's databases

	"cortext/inject"
)

// readAll collects everything in a transcript.
func readAll(t testing.TB, path string, o inject.Options) (*inject.Transcript, inject.Batch) {
	t.Helper()
	tr, err := adapter.Open(path, o)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	defer tr.Close()
	return tr, gather(t, tr)
}

func gather(t testing.TB, tr *inject.Transcript) (all inject.Batch) {
	t.Helper()
	err := tr.Each(func(sub string, b inject.Batch) error {
		if sub != "" {
			t.Errorf("a batch for %q", sub)
		}
		all.Messages = append(all.Messages, b.Messages...)
		all.Tools = append(all.Tools, b.Tools...)
		all.Blobs = append(all.Blobs, b.Blobs...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func write(t testing.TB, dir, name, content string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func slurp(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A doc is an export.
type doc struct {
	Info     map[string]any `json:"info"`
	Messages []docMessage   `json:"messages"`
}

type docMessage struct {
	Info  map[string]any   `json:"info"`
	Parts []map[string]any `json:"parts"`
}

func parseDoc(t testing.TB, text string) (d doc) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func toJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// A storeFile is a database like OpenCode's, for tests to write to.
type storeFile struct {
	t    testing.TB
	file string
	db   *sql.DB
	now  int64 // timestamp of the next row
}

// newStore makes a database with OpenCode's tables, all empty.
func newStore(t testing.TB, wal bool) *storeFile {
	t.Helper()
	file := write(t, t.TempDir(), "opencode.db", slurp(t, fixtures+"1.18.33/store/transcript.db"))
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	s := &storeFile{t: t, file: file, db: db, now: 1_795_000_000_000}
	s.do(`pragma synchronous = off`)
	if wal {
		s.do(`pragma journal_mode = wal`)
	}
	for _, table := range []string{"part", "message", "session"} {
		s.do("delete from " + table)
	}
	return s
}

func (s *storeFile) do(query string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Exec(query, args...); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
}

func (s *storeFile) tick() int64 { s.now += 1000; return s.now }

func (s *storeFile) session(id, parent string) {
	s.t.Helper()
	s.do(`insert into session (id, project_id, parent_id, slug, directory, title, version, time_created, time_updated)
		values (?, 'global', nullif(?, ''), 'x', '/home/dev/shop', 'T', '1.18.33', ?, ?)`, id, parent, s.tick(), s.now)
}

// message stores a message as the program does, replacing an existing one.
func (s *storeFile) message(session string, info map[string]any) {
	s.t.Helper()
	id, data := strip(info)
	created := s.tick()
	if at, ok := info["time"].(map[string]any); ok {
		if ms, ok := at["created"].(float64); ok {
			created = int64(ms)
		}
	}
	s.do(`insert into message (id, session_id, time_created, time_updated, data) values (?1, ?2, ?3, ?4, ?5)
		on conflict (id) do update set data = ?5, time_updated = ?4`, id, session, created, s.now, data)
}

func (s *storeFile) part(session, message string, part map[string]any) {
	s.t.Helper()
	id, data := strip(part)
	s.do(`insert into part (id, message_id, session_id, time_created, time_updated, data) values (?1, ?2, ?3, ?4, ?4, ?5)
		on conflict (id) do update set data = ?5, time_updated = ?4`, id, message, session, s.tick(), data)
}

// strip removes the members that are stored in columns.
func strip(v map[string]any) (id, data string) {
	rest := map[string]any{}
	for k, x := range v {
		if k != "id" && k != "sessionID" && k != "messageID" {
			rest[k] = x
		}
	}
	id, _ = v["id"].(string)
	return id, toJSON(rest)
}

// put writes a whole session.
func (s *storeFile) put(id string, d doc) {
	s.t.Helper()
	s.session(id, "")
	for _, m := range d.Messages {
		s.message(id, m.Info)
		mid, _ := m.Info["id"].(string)
		for _, p := range m.Parts {
			s.part(id, mid, p)
		}
	}
}
