package cloneref

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"cortext/store"
)

// TestLeftOutModes: that a document is executable is left out, unless all files are, because
// the file system has no modes.
func TestLeftOutModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: no file modes on Windows")
	}
	dir := t.TempDir()
	folder := "conversations/2026-01-05/1000-plan-x-abcd"
	document, session := folder+"/plan.md", folder+"/.session/session.json"
	for _, name := range []string{document, session} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, ".workspace"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(dir, store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, tt := range []struct {
		executable string
		want       []string
	}{
		{document, []string{document + " (that it is executable)"}},
		{session, nil},
	} {
		if err := os.Chmod(filepath.Join(dir, tt.executable), 0o700); err != nil {
			t.Fatal(err)
		}
		if got, err := (Ref{Store: s}).LeftOut(folder); err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, %v", tt.executable, got, err)
		}
	}
}
