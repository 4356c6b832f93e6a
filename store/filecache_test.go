package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRemembered checks that a session.json is read once while it stays the same, and
// again after every change, even one that keeps its length.
func TestRemembered(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	name := filepath.Join(s.dir, c.file(sessionFile))
	text := readFile(t, s, c.file(sessionFile))
	at := time.Now().Add(-time.Hour)
	for n, title := range []string{"API Design", "API design", "api Design"} {
		writeFile(t, s, c.file(sessionFile), strings.Replace(text, "API Design", title, 1))
		must(t, os.Chtimes(name, at, at.Add(time.Duration(n)*time.Second)))
		for range 2 {
			if sess, _ := session(t, c); sess.Title != title {
				t.Errorf("read is %q, want %q", sess.Title, title)
			}
		}
	}
	// With the same inode, length and time the file is not read again.
	writeFile(t, s, c.file(sessionFile), strings.Replace(text, "API Design", "not a time", 1))
	must(t, os.Chtimes(name, at, at.Add(2*time.Second)))
	if sess, _ := session(t, c); sess.Title != "api Design" {
		t.Errorf("it was read again: %q", sess.Title)
	}
	// A file that has just changed may change again without getting a new time.
	now := time.Now()
	for _, title := range []string{"one of two", "two of two"} {
		writeFile(t, s, c.file(sessionFile), strings.Replace(text, "API Design", title, 1))
		must(t, os.Chtimes(name, now, now.Add(time.Hour)))
		if sess, _ := session(t, c); sess.Title != title {
			t.Errorf("read is %q, want %q", sess.Title, title)
		}
	}
	// The cache stays within its limit.
	must(t, os.Chtimes(name, at, at))
	info, err := os.Stat(name)
	must(t, err)
	for n := range 3 * remembered {
		s.sessions.put(fmt.Sprint(n), info, nil)
	}
	if n := len(s.sessions.files); n > remembered {
		t.Errorf("%d files are remembered", n)
	}
}
