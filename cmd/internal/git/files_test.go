package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// try runs git as a user would, in dir, and returns its output; it may fail.
func try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_EDITOR=true")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// must is try that must succeed.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := try(dir, args...)
	if err != nil {
		t.Fatalf("git %q: %s", args, out)
	}
	return out
}

// diverged creates a repository in dir whose branch other conflicts with the current
// branch in "f"; both are two commits ahead of base.
func diverged(t *testing.T, dir string) {
	t.Helper()
	must(t, dir, "checkout", "-qb", "side")
	must(t, dir, "commit", "-q", "--allow-empty", "-m", "base")
	must(t, dir, "branch", "other")
	for _, branch := range []string{"side", "other"} {
		must(t, dir, "checkout", "-q", branch)
		for _, n := range []string{"1", "2"} {
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte(branch+n+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			must(t, dir, "add", "f")
			must(t, dir, "commit", "-qm", branch+n)
		}
	}
	must(t, dir, "checkout", "-q", "side")
}

// TestOperation: Operation reports the operation in progress in each kind of work tree, and
// nothing before and after it. A commit is refused, and the error names the operation.
func TestOperation(t *testing.T) {
	plain := newRepo(t)
	plain.write("x", "1")
	plain.commit("x", "m", true)
	first := newRepo(t)
	first.write("x", "1")
	first.commit("x", "m", true)
	linked := filepath.Join(t.TempDir(), "linked")
	must(t, first.root, "worktree", "add", "-q", linked)
	super := newRepo(t)
	must(t, super.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", plain.root, "sub")
	for what, dir := range map[string]string{"plain": plain.root, "linked": linked, "submodule": filepath.Join(super.root, "sub")} {
		diverged(t, dir)
		operations(t, what, dir)
	}
	if op := Operation(first.root); op != "" {
		t.Errorf("the first work tree: %q", op)
	}
	if op := Operation(t.TempDir()); op != "" {
		t.Errorf("outside of a repository: %q", op)
	}
}

func operations(t *testing.T, what, dir string) {
	patch, within := filepath.Join(t.TempDir(), "patch"), filepath.Join(dir, "sub", "folder")
	if err := os.MkdirAll(within, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want   string
		begin  [][]string
		finish []string
	}{
		{"merge", [][]string{{"merge", "other"}}, []string{"merge", "--abort"}},
		{"merge", [][]string{{"merge", "--no-commit", "-s", "ours", "other"}}, []string{"merge", "--abort"}},
		{"rebase", [][]string{{"rebase", "other"}}, []string{"rebase", "--abort"}},
		{"rebase", [][]string{{"rebase", "--apply", "other"}}, []string{"rebase", "--abort"}},
		{"rebase", [][]string{{"-c", `sequence.editor=printf 'break\n' >`, "rebase", "-i", "HEAD~1"}}, []string{"rebase", "--abort"}},
		{"am", [][]string{{"format-patch", "-q", "-1", "other", "--output", patch}, {"am", patch}}, []string{"am", "--abort"}},
		{"cherry-pick", [][]string{{"cherry-pick", "other"}}, []string{"cherry-pick", "--abort"}},
		{"cherry-pick", [][]string{{"cherry-pick", "other~1", "other"}, {"checkout", "--theirs", "f"}, {"add", "f"}, {"commit", "-qm", "picked"}}, []string{"cherry-pick", "--quit"}},
		{"revert", [][]string{{"revert", "side~1"}}, []string{"revert", "--abort"}},
		{"bisect", [][]string{{"bisect", "start"}}, []string{"bisect", "reset"}},
	} {
		if op := Operation(dir); op != "" {
			t.Errorf("%s: before %q: %q", what, c.begin, op)
		}
		var said string
		for _, args := range c.begin {
			said, _ = try(dir, args...)
		}
		if op := Operation(within); op != c.want {
			t.Errorf("%s: %q: %q, want %q: %s", what, c.begin, op, c.want, said)
		}
		_, err := Commit(context.Background(), dir, "f", "m")
		var unfinished *UnfinishedError
		if !errors.Is(err, ErrUnfinished) || !errors.As(err, &unfinished) || unfinished.Operation != c.want || !strings.Contains(err.Error(), "git "+c.want) {
			t.Errorf("%s: commit in %q: %v", what, c.want, err)
		}
		must(t, dir, c.finish...)
		must(t, dir, "reset", "-q", "--hard")
	}
	if op := Operation(dir); op != "" {
		t.Errorf("%s: at the end: %q", what, op)
	}
}

// TestHead: Head returns what git says.
func TestHead(t *testing.T) { positions(t, newRepo(t)) }

// TestTable: where references are in a table, Head and Operation return the same.
func TestTable(t *testing.T) {
	r := newRepo(t)
	if err := os.RemoveAll(filepath.Join(r.root, ".git")); err != nil {
		t.Fatal(err)
	}
	if _, err := try(r.root, "init", "-q", "--ref-format=reftable"); err != nil {
		t.Skip("git before 2.45 keeps no references in a table")
	}
	positions(t, r)
	r.git("reset", "-q", "--hard")
	diverged(t, r.root)
	operations(t, "table", r.root)
}

func positions(t *testing.T, r *repo) {
	check := func(dir string) {
		t.Helper()
		at, ok := Head(dir)
		commit, err := try(dir, "rev-parse", "-q", "--verify", "HEAD")
		if err != nil {
			commit = ""
		}
		branch, _ := try(dir, "symbolic-ref", "-q", "--short", "HEAD")
		if want := (Position{commit, branch}); !ok || at != want {
			t.Errorf("%s: %v, %t, want %v", dir, at, ok, want)
		}
		for _, c := range []struct {
			arg string
			got string
		}{{"--git-dir", Dir(dir)}, {"--git-common-dir", CommonDir(dir)}} {
			want, err := try(dir, "rev-parse", "--path-format=absolute", c.arg)
			if err != nil {
				t.Fatal(want)
			}
			if real(t, c.got) != real(t, want) {
				t.Errorf("%s: %s is %q, want %q", dir, c.arg, c.got, want)
			}
		}
	}
	check(r.root)
	r.write("a/x", "1")
	r.commit("a", "m", true)
	check(filepath.Join(r.root, "a"))
	r.git("checkout", "-qb", "feature/one")
	r.git("pack-refs", "--all")
	check(r.root)
	linked := filepath.Join(t.TempDir(), "linked")
	must(t, r.root, "worktree", "add", "-q", linked)
	check(linked)
	r.git("checkout", "-q", "--detach")
	check(r.root)
	if err := os.Mkdir(filepath.Join(r.root, "a", ".git"), 0o700); err != nil { // not a repository: ignored
		t.Fatal(err)
	}
	check(filepath.Join(r.root, "a"))
	if at, ok := Head(t.TempDir()); ok {
		t.Errorf("outside of a repository: %v", at)
	}
}

func real(t *testing.T, name string) string {
	t.Helper()
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPlaces: work tree folders may end in a space and contain newlines.
func TestPlaces(t *testing.T) {
	r := newRepo(t)
	r.write("x", "1")
	r.commit("x", "m", true)
	dir := filepath.Join(real(t, t.TempDir()), "a\nworktree b ")
	must(t, r.root, "worktree", "add", "-q", "-b", "b", dir)
	if got := Root(t.Context(), dir); got != dir {
		t.Errorf("the root is %q, want %q", got, dir)
	}
	if got, want := Worktrees(t.Context(), dir), []string{real(t, r.root), dir}; !slices.Equal(got, want) {
		t.Errorf("the work trees are %q, want %q", got, want)
	}
}

// TestState: where file times are whole seconds, a reset in the second of the one before
// changes the fingerprint.
func TestState(t *testing.T) {
	dir := newRepo(t).root
	seen := map[string]string{}
	at := time.Unix(1700000000, 0)
	for _, content := range []string{"one", "two"} {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		must(t, dir, "add", "f")
		must(t, dir, "commit", "-qm", content)
		must(t, dir, "tag", content)
	}
	for _, tag := range []string{"one", "two"} {
		must(t, dir, "reset", "-q", "--hard", tag)
		if err := os.Chtimes(filepath.Join(dir, ".git", "index"), at, at); err != nil {
			t.Fatal(err)
		}
		state := State(dir)
		if other, ok := seen[state]; ok {
			t.Errorf("%s is %q, and so is %s", tag, state, other)
		}
		if again := State(dir); again != state {
			t.Errorf("%s is %q, then %q", tag, state, again)
		}
		seen[state] = tag
	}
}
