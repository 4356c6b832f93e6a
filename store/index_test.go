//go:build unix

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listed returns what another process lists.
func listed(tb testing.TB, dir string) string {
	tb.Helper()
	s := openTestStore(tb, dir)
	var b strings.Builder
	say := func(all []Entry, err error) {
		for _, e := range all {
			fmt.Fprintf(&b, "%s %q %s %v %v\n", e.Path, e.Session.Title, e.Session.Status, e.Damage, e.Twins)
		}
		fmt.Fprintln(&b, err)
	}
	say(s.List())
	return b.String()
}

// TestKnownSessions checks that the index never changes a list, whatever happens to the
// files or to the index.
func TestKnownSessions(t *testing.T) {
	folder := func(n int) string { return fmt.Sprintf("conversations/2025-11-22/100%d-chat-x-000%d", n, n) }
	for name, change := range map[string]func(path func(n int) string) error{
		"nothing": func(func(int) string) error { return nil },
		"a link to where .session was moved": func(path func(int) string) error {
			return linkTo(path(1) + "/.session")
		},
		"a link to where session.json was moved": func(path func(int) string) error {
			return linkTo(path(1) + "/.session/session.json")
		},
		"other text of the same length and time": func(path func(int) string) error {
			file := path(1) + "/.session/session.json"
			info, err := os.Stat(file)
			if err != nil {
				return err
			}
			b, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(b), `"paused"`, `"active"`, 1)), 0o600); err != nil {
				return err
			}
			return os.Chtimes(file, time.Time{}, info.ModTime())
		},
		"two that change places": func(path func(int) string) error {
			return exchange(path(1), path(2))
		},
		"two files that change places": func(path func(int) string) error {
			return exchange(path(1)+"/.session/session.json", path(2)+"/.session/session.json")
		},
		"a twin": func(path func(int) string) error {
			return os.CopyFS(path(7), os.DirFS(path(2)))
		},
		"one that is gone": func(path func(int) string) error { return os.RemoveAll(path(2) + "/.session") },
		"a torn index": func(path func(int) string) error {
			return os.Truncate(filepath.Join(path(0), "../../..", indexFile), 700)
		},
		"an index with rubbish behind it": func(path func(int) string) error {
			f, err := os.OpenFile(filepath.Join(path(0), "../../..", indexFile), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("\xff\xff\xff\xff\x00\x00\x00\x00 \x08\x00\x00\x00")
				_ = f.Close()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t)
			for n := range 4 {
				status := []string{"paused", "paused", "active", "completed"}[n]
				writeFile(t, s, folder(n)+"/.session/session.json", fmt.Sprintf(`{"version":"1.2","id":%q,"status":%q,"title":"title %d","conversation_type":"chat","created_at":"2025-11-22T10:00:00.000Z"}`, testID(fmt.Sprint(n)), status, n))
				writeFile(t, s, folder(n)+"/.session/messages.jsonl", "")
			}
			time.Sleep(2 * unsettled)
			reader := openTestStore(t, s.dir)
			if _, err := reader.List(); err != nil {
				t.Fatal(err)
			}
			reader.Remember()
			_ = reader.Close()
			if b, err := s.readRegular(indexFile); err != nil || strings.Count(string(b), "title ") != 4 {
				t.Fatalf("the index is %q, %v", b, err)
			}
			if err := change(func(n int) string { return filepath.Join(s.dir, folder(n)) }); err != nil {
				t.Fatal(err)
			}
			with := listed(t, s.dir)
			if err := os.Remove(filepath.Join(s.dir, indexFile)); err != nil {
				t.Fatal(err)
			}
			if without := listed(t, s.dir); with != without {
				t.Errorf("with the index:\n%swithout:\n%s", with, without)
			}
		})
	}
}

// TestKnownRemoved checks that a process does not write back to the index what another
// removed after it was read.
func TestKnownRemoved(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	time.Sleep(2 * unsettled)
	reader := openTestStore(t, s.dir)
	if _, err := reader.List(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(s.dir, c.path)); err != nil {
		t.Fatal(err)
	}
	reader.Remember()
	_ = reader.Close()
	if b, err := s.readRegular(indexFile); err == nil && strings.Contains(string(b), "API") {
		t.Errorf("the index has what was removed: %q", b)
	}
}

// linkTo moves a file and puts a link in its place.
func linkTo(file string) error {
	moved := filepath.Join(filepath.Dir(filepath.Dir(file)), "moved")
	if err := os.Rename(file, moved); err != nil {
		return err
	}
	return os.Symlink(moved, file)
}

func exchange(a, b string) error {
	if err := os.Rename(a, a+".x"); err != nil {
		return err
	}
	if err := os.Rename(b, a); err != nil {
		return err
	}
	return os.Rename(a+".x", b)
}
