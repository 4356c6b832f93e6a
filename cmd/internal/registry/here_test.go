package registry

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestFirstCommitsOnce: git is asked only once for the commits that identify clones, even
// if it does not answer.
func TestFirstCommitsOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the stand-in for git is a shell script")
	}
	root := t.TempDir()
	bin := t.TempDir()
	calls := filepath.Join(bin, "calls")
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := errors.Join(
		os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho \"$*\" >> '"+calls+"'\nexit 1\n"), 0o700),
		os.MkdirAll(filepath.Join(root, ".git"), 0o700),
		os.WriteFile(filepath.Join(root, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	h := At(root)
	for range 3 {
		h.KnowClones(context.Background())
	}
	b, err := os.ReadFile(calls)
	if n := strings.Count(string(b), "rev-list"); err != nil || n != 1 {
		t.Errorf("git was asked %d times, %v:\n%s", n, err, b)
	}
}
