package git

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestFindHolders: branches, stashes, the reflog and the index are searched, below the
// given paths only.
func TestFindHolders(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	write := func(name, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := func() Holders {
		t.Helper()
		h, err := FindHolders(context.Background(), dir, []string{"c/a"}, func(b []byte) bool { return bytes.Contains(b, []byte("secret")) })
		if err != nil || !h.Whole {
			t.Fatal(h, err)
		}
		return h
	}
	run("init", "-q", "-b", "main", ".")
	write("c/a/log", "plain\n")
	write("c/b/log", "secret elsewhere\n")
	run("add", "-A")
	run("commit", "-qm", "one")
	if h := find(); h.Commits != 0 || len(h.Refs)+len(h.Index) != 0 {
		t.Errorf("%+v", h)
	}
	run("checkout", "-qb", "side")
	write("c/a/log", "secret\n")
	run("commit", "-qam", "two")
	run("checkout", "-q", "main")
	write("c/a/log", "a secret in the stash\n")
	run("stash", "-q")
	write("c/a/more", "a secret in the index\n")
	run("add", "-A")
	h := find()
	if h.Commits != 2 || !slices.Equal(h.Refs, []string{"side", "stash"}) || !slices.Equal(h.Index, []string{"c/a/more"}) {
		t.Errorf("%+v", h)
	}
	run("branch", "-qD", "side")
	if h := find(); h.Commits != 2 || !slices.Equal(h.Refs, []string{"stash"}) {
		t.Errorf("the reflog: %+v", h)
	}
}
