package worktrees

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"cortext/cmd/internal/registry"
)

// TestOriginOf: spellings of one repository are equal, and a clone of a clone has the
// origin of the first.
func TestOriginOf(t *testing.T) {
	base := registry.RealDir(t.TempDir())
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", base}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "first")
	git("clone", "-q", "first", "second")
	git("clone", "-q", "file://"+filepath.ToSlash(filepath.Join(base, "second")), "third")
	first, third := filepath.Join(base, "first"), filepath.Join(base, "third")
	if got, want := originOf(t.Context(), third), registry.RealDir(first); got != want {
		t.Errorf("a clone of a clone: %q, want %q", got, want)
	}
	if got := originOf(t.Context(), first); got != "" {
		t.Errorf("no remote: %q", got)
	}
	git("-C", first, "remote", "add", "origin", "x")
	for _, remote := range []string{
		"https://host.example/team/project.git", "https://me@HOST.example/team/project/", "git@host.example:team/project.git",
		"ssh://git@host.example:22/team/project", "host.example:/team/project",
	} {
		git("-C", first, "remote", "set-url", "origin", remote)
		if got, want := originOf(t.Context(), third), "host.example/team/project"; got != want {
			t.Errorf("%s: %q, want %q", remote, got, want)
		}
	}
	git("-C", first, "remote", "set-url", "origin", "../gone")
	if got, want := originOf(t.Context(), third), filepath.Join(base, "gone"); got != want {
		t.Errorf("a folder that is gone: %q, want %q", got, want)
	}
	if err := os.RemoveAll(filepath.Join(base, "second")); err != nil {
		t.Fatal(err)
	}
	if got, want := originOf(t.Context(), third), filepath.Join(base, "second"); got != want {
		t.Errorf("the clone between is gone: %q, want %q", got, want)
	}
}
