package inject_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"cortext/inject"
)

// TestUnreadableStore makes a folder unreadable at each level of each agent's store.
// Since the requested session could be in it, the error must name it.
func TestUnreadableStore(t *testing.T) {
	folders := map[string][]string{
		"claude":   {".claude/projects", ".claude/projects/p"},
		"gemini":   {".gemini/tmp", ".gemini/tmp/p/chats", ".cache/.gemini/tmp"},
		"opencode": {".local/share/opencode", ".local/share/opencode/storage/session", ".local/share/opencode/storage/session/p"},
	}
	for _, a := range agents() {
		for _, name := range folders[a.Name()] {
			home := t.TempDir()
			dir := filepath.Join(home, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Base(dir), dir); err != nil { // a loop
				t.Skip("NOT RUN: no symbolic links here:", err)
			}
			m := inject.Machine{Home: home, Getenv: func(string) string { return "" }}
			var store *inject.StoreError
			if _, err := a.Sessions(m); !errors.As(err, &store) || store.Path != dir {
				t.Errorf("%s: sessions with an unreadable %s: %v", a.Name(), name, err)
			}
			if file, ok, err := a.Locate(m, "aaaa"); ok || !errors.As(err, &store) || store.Path != dir {
				t.Errorf("%s: located with an unreadable %s: %s, %t, %v", a.Name(), name, file, ok, err)
			}
		}
	}
}

// TestReadableBesideUnreadable checks that Locate finds a session although another
// folder is unreadable.
func TestReadableBesideUnreadable(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".claude", "projects", "p", "aaaa.jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("q", filepath.Join(home, ".claude", "projects", "q")); err != nil {
		t.Skip("NOT RUN: no symbolic links here:", err)
	}
	m := inject.Machine{Home: home, Getenv: func(string) string { return "" }}
	for _, a := range agents() {
		if a.Name() != "claude" {
			continue
		}
		if got, ok, err := a.Locate(m, "aaaa"); got != file || !ok || err != nil {
			t.Errorf("located %s, %t, %v", got, ok, err)
		}
		if list, err := a.Sessions(m); len(list) != 1 || err == nil {
			t.Errorf("sessions %v, %v", list, err)
		}
	}
}
