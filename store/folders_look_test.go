package store

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestLookBelow: a look at a folder changes with any file in it, even if its size and time
// stay, and there is none while a change could go unnoticed.
func TestLookBelow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: Windows does not say when a file was changed")
	}
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	log := filepath.Join(s.dir, filepath.FromSlash(c.Path()), ".session", "messages.jsonl")
	seen := map[string]string{}
	look := func(what string) {
		t.Helper()
		time.Sleep(2 * unsettled)
		l := s.Folders().LookBelow(c.Path())
		if l == "" || l != s.Folders().LookBelow(c.Path()) || seen[l] != "" {
			t.Fatalf("%s: %x, as %s", what, l, seen[l])
		}
		seen[l] = what
	}
	look("at first")
	info, err := os.Stat(log)
	must(t, err)
	text, err := os.ReadFile(log)
	must(t, err)
	text[len(text)/2] ^= 1
	must(t, os.WriteFile(log, text, 0o600))
	must(t, os.Chtimes(log, info.ModTime(), info.ModTime()))
	look("another byte")
	must(t, os.Mkdir(filepath.Join(s.dir, filepath.FromSlash(c.Path()), "more"), 0o700))
	look("another folder")
	must(t, os.WriteFile(log, text, 0o600))
	if l := s.Folders().LookBelow(c.Path()); l != "" && time.Since(mustStat(t, log).ModTime()) < unsettled {
		t.Errorf("a file that was written just now: %x", l)
	}
	if l := s.Folders().LookBelow("conversations/2025-11-22/nowhere"); l != "" {
		t.Errorf("no folder: %x", l)
	}
}

func mustStat(t *testing.T, file string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(file)
	must(t, err)
	return info
}

// TestSettled checks that a look counts as settled only once another change would show,
// where file times are whole seconds, too.
func TestSettled(t *testing.T) {
	second := time.Date(2025, 11, 22, 10, 30, 0, 0, time.UTC)
	for _, test := range []struct {
		changed time.Time
		after   time.Duration
		want    bool
	}{
		{second.Add(time.Microsecond), time.Millisecond, false},
		{second.Add(time.Microsecond), unsettled, true},
		{second, unsettled, false},
		{second, 1900 * time.Millisecond, false}, // a FAT has even seconds only
		{second, 2 * time.Second, true},
		{time.Unix(0, 0), time.Since(time.Unix(0, 0)), true}, // no file
	} {
		if got := settledAt(test.changed, test.changed.Add(test.after)); got != test.want {
			t.Errorf("%v after %v: %v", test.after, test.changed, got)
		}
	}
}
