package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A repo is a repository with its own user.
type repo struct {
	t    *testing.T
	root string
}

func newRepo(t *testing.T) *repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err) // the tests need Go and git
	}
	for _, v := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		t.Setenv(v+"_NAME", "a")
		t.Setenv(v+"_EMAIL", "a@example.com")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	r := &repo{t, t.TempDir()}
	r.git("init", "--quiet")
	return r
}

// git runs git the way a user would.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.root}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(r.root, ".git"), "GIT_WORK_TREE="+r.root, "GIT_INDEX_FILE="+filepath.Join(r.root, ".git", "index"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (r *repo) write(name, text string) {
	r.t.Helper()
	file := filepath.Join(r.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

func (r *repo) commit(path, message string, want bool) {
	r.t.Helper()
	if done, err := Commit(context.Background(), r.root, path, message); err != nil || done != want {
		r.t.Errorf("commit %q: %t, %v", path, done, err)
	}
}

// changed returns the files of the last commit.
func (r *repo) changed() string {
	r.t.Helper()
	return strings.TrimSpace(r.git("show", "--name-status", "--format=", "HEAD"))
}

// state returns what is staged and what is not.
func (r *repo) state() string {
	r.t.Helper()
	return r.git("diff", "--cached", "--raw") + "|" + r.git("diff", "--raw")
}

func TestCommit(t *testing.T) {
	r := newRepo(t)
	r.write("conv/a/x", "1")
	r.write("conv/ab/x", "1")
	r.commit("conv/a", "the first\n\nof all: $(x) 'q' \"q\"", true) // in a repository without a commit
	if got := r.changed(); got != "A\tconv/a/x" {
		t.Errorf("committed %q", got)
	}
	if got := r.git("log", "-1", "--format=%B"); strings.TrimSpace(got) != "the first\n\nof all: $(x) 'q' \"q\"" {
		t.Errorf("the message is %q", got)
	}
	r.commit("conv/a", "again", false)

	// Other staged, changed or new files stay as they are.
	r.write("staged", "1")
	r.git("add", "staged")
	r.write("staged", "2")
	r.write("conv/a/y/z", "new")
	r.write("conv/a/x", "2")
	r.git("add", "conv/a/x")
	r.write("conv/a/x", "3")
	before := r.git("diff", "--cached", "--raw", "--", "staged") + r.git("diff", "--raw", "--", "staged")
	r.commit("conv/a", "more", true)
	if got := r.changed(); got != "M\tconv/a/x\nA\tconv/a/y/z" {
		t.Errorf("committed %q", got)
	}
	if got := r.git("show", "HEAD:conv/a/x"); got != "3" {
		t.Errorf("committed what was staged before: %q", got)
	}
	if after := r.git("diff", "--cached", "--raw") + r.git("diff", "--raw"); after != before {
		t.Errorf("the index was %q, is %q", before, after)
	}
	if got := r.git("status", "--porcelain"); got != "AM staged\n?? conv/ab/\n" {
		t.Errorf("the status is %q", got)
	}

	// Deleted and ignored files.
	r.write("conv/a/.gitignore", "*.log\n")
	r.write("conv/a/x.log", "")
	if err := os.Remove(filepath.Join(r.root, "conv/a/x")); err != nil {
		t.Fatal(err)
	}
	r.commit("conv/a", "less", true)
	if got := r.changed(); got != "A\tconv/a/.gitignore\nD\tconv/a/x" {
		t.Errorf("committed %q", got)
	}
	r.commit("conv/a", "again", false)
}

// TestPathIsNoPattern: a path means the folder of that name, whatever characters it has.
func TestPathIsNoPattern(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"c*", "[c]", ":(top)c", "-c", "c d"} {
		r.write("cc/x", name)
		r.write(name+"/x", name)
		r.commit(name, "x", true)
		if got := r.git("-c", "core.quotePath=false", "show", "--name-only", "--format=", "-z", "HEAD"); got != name+"/x\x00" {
			t.Errorf("%q: committed %q", name, got)
		}
	}
}

// TestHookOfAnother: a git hook sets variables that point to another repository.
func TestHookOfAnother(t *testing.T) {
	other := newRepo(t)
	r := newRepo(t)
	t.Setenv("GIT_DIR", filepath.Join(other.root, ".git"))
	t.Setenv("GIT_WORK_TREE", other.root)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.root, ".git", "index"))
	t.Setenv("GIT_PREFIX", "x/")
	r.write("a/x", "1")
	r.commit("a", "m", true)
	if got := r.changed(); got != "A\ta/x" {
		t.Errorf("committed %q", got)
	}
	if got := other.git("status", "--porcelain"); got != "" {
		t.Errorf("the other repository has %q", got)
	}
}

// TestCommitFails: the error has git's message, and the index is as before.
func TestCommitFails(t *testing.T) {
	r := newRepo(t)
	r.write("a/x", "1")
	r.commit("a", "m", true)
	head := r.git("rev-parse", "HEAD")
	r.write("a/x", "2")
	r.write("a/new", "1")
	r.write("staged", "1")
	r.git("add", "staged")
	before := r.state()
	r.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'no, not today' >&2\nexit 1\n")
	done, err := Commit(context.Background(), r.root, "a", "m")
	if done || err == nil || !strings.Contains(err.Error(), "no, not today") {
		t.Errorf("%t, %v", done, err)
	}
	if got := r.state(); got != before {
		t.Errorf("the index was %q, is %q", before, got)
	}
	if got := r.git("rev-parse", "HEAD"); got != head {
		t.Error("it is committed all the same")
	}
	r.write(".git/index.lock", "")
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil || !strings.Contains(err.Error(), "index.lock") {
		t.Errorf("locked: %t, %v", done, err)
	}
	if err := os.Remove(filepath.Join(r.root, ".git", "index.lock")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if done, err := Commit(ctx, r.root, "a", "m"); done || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %t, %v", done, err)
	}
	if done, err := Commit(context.Background(), r.root, "nowhere", "m"); done || err == nil {
		t.Errorf("no such folder: %t, %v", done, err)
	}
	if got := r.state(); got != before {
		t.Errorf("the index was %q, is %q", before, got)
	}
}

// TestKeepsWhatWasStaged: if the commit fails, files of the folder that the user staged
// are still staged.
func TestKeepsWhatWasStaged(t *testing.T) {
	r := newRepo(t)
	r.write("a/x", "1")
	r.commit("a", "m", true)
	r.write("a/x", "2")
	r.git("add", "a/x")
	r.write("a/x", "3")
	before := r.state()
	r.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil {
		t.Errorf("%t, %v", done, err)
	}
	if got := r.state(); got != before {
		t.Errorf("the index was %q, is %q", before, got)
	}
}

// TestFirstCommitFails: the same before the first commit.
func TestFirstCommitFails(t *testing.T) {
	r := newRepo(t)
	r.write("a/x", "1")
	r.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil {
		t.Errorf("%t, %v", done, err)
	}
	if got := r.git("status", "--porcelain"); got != "?? a/\n" {
		t.Errorf("the status is %q", got)
	}
}

func TestNoRepository(t *testing.T) {
	newRepo(t)
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	t.Setenv("LC_ALL", "C")
	if done, err := Commit(context.Background(), dir, "a", "m"); done || err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("%t, %v", done, err)
	}
	t.Setenv("PATH", dir)
	if done, err := Commit(context.Background(), dir, "a", "m"); done || !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("without git: %t, %v", done, err)
	}
}

// TestMergeInProgress: the index entries of a merge stay for the commit that ends it.
func TestMergeInProgress(t *testing.T) {
	r := newRepo(t)
	r.write("a/log", "one\n")
	r.write("notes", "x\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "base")
	r.git("branch", "other")
	r.write("notes", "ours\n")
	r.git("commit", "-qam", "ours")
	r.git("checkout", "-q", "other")
	r.write("notes", "theirs\n")
	r.write("a/log", "one\ntwo\n")
	r.git("commit", "-qam", "theirs")
	r.git("checkout", "-q", "-")
	if out, err := exec.Command("git", "-C", r.root, "merge", "other").CombinedOutput(); err == nil {
		t.Fatalf("the merge has no conflict: %s", out)
	}
	before := r.git("diff", "--cached", "--stat")
	r.write("a/log", "one\ntwo\nthree\n")
	if _, err := Commit(context.Background(), r.root, "a", "m"); !errors.Is(err, ErrUnfinished) {
		t.Errorf("in a merge: %v", err)
	}
	if after := r.git("diff", "--cached", "--stat"); after != before {
		t.Errorf("the index was\n%sand is\n%s", before, after)
	}
	r.write("notes", "both\n")
	r.git("add", "notes")
	r.git("commit", "-qm", "merged")
	if text := r.git("show", "HEAD:a/log"); text != "one\ntwo\n" {
		t.Errorf("the merge has %q", text)
	}
	r.commit("a", "after it", true)
}

// TestHangingHook: a git hook that never ends is killed with git, and no git lock is left
// behind.
func TestHangingHook(t *testing.T) {
	r := newRepo(t)
	r.write("a/log", "one\n")
	r.write(".git/hooks/pre-commit", "#!/bin/sh\n: > started\nsleep 600\n")
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // cancelled once the hook runs
		for {
			if _, err := os.Stat(filepath.Join(r.root, "started")); err == nil {
				cancel()
				return
			}
		}
	}()
	if done, err := Commit(ctx, r.root, "a", "m"); done || err == nil {
		t.Errorf("done %v, %v", done, err)
	}
	locks, err := filepath.Glob(filepath.Join(r.root, ".git", "*.lock"))
	if err != nil || len(locks) > 0 {
		t.Errorf("left behind: %v, %v", locks, err)
	}
	r.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
	r.commit("a", "again", true)
}

// TestHiddenConfiguration: the user's git configuration applies even if Gemini CLI calls
// us. If someone else hides it, that is intended.
func TestHiddenConfiguration(t *testing.T) {
	r := newRepo(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	for _, v := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		for _, end := range []string{"_NAME", "_EMAIL"} {
			t.Setenv(v+end, "")
			if err := os.Unsetenv(v + end); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = The User\n\temail = u@example.com\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "user.useConfigOnly")
	t.Setenv("GIT_CONFIG_VALUE_0", "true")
	r.write("a/log", "one\n")
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil {
		t.Fatalf("hidden by the user: %v, %v", done, err)
	}
	t.Setenv("GEMINI_CLI", "1")
	r.commit("a", "m", true)
	if name := r.git("log", "--format=%an"); name != "The User\n" {
		t.Errorf("committed by %q", name)
	}
}

// TestKnownAmong: git knows a folder if a file of it is staged or committed, whether it is
// asked about one or about many.
func TestKnownAmong(t *testing.T) {
	r := newRepo(t)
	names := map[string]bool{"c/1/committed": true, "c/1/unstaged": true, "c/2/staged": true, "c/2/untracked": false, "c/2/stag": false, "c/3/none": false}
	for name := range names {
		if !strings.HasPrefix(name, "c/3") && name != "c/2/stag" {
			r.write(name+"/.s/f", name)
		}
	}
	ask := func(when string) {
		t.Helper()
		known, err := KnownAmong(t.Context(), r.root, "c", slices.Collect(maps.Keys(names)))
		if err != nil || !maps.Equal(known, names) {
			t.Errorf("%s: %v, %v", when, known, err)
		}
		for name, want := range names {
			if one, err := Knows(t.Context(), r.root, name); err != nil || one != want {
				t.Errorf("%s, %s: %v, %v", when, name, one, err)
			}
		}
	}
	r.git("add", "c/2/staged")
	names["c/1/committed"], names["c/1/unstaged"] = false, false
	ask("before the first commit")
	r.git("add", "c/1")
	r.git("commit", "--quiet", "-m", "one", "--", "c/1")
	r.git("rm", "--quiet", "--cached", "-r", "c/1/unstaged")
	names["c/1/committed"], names["c/1/unstaged"] = true, true
	ask("after it")
}
