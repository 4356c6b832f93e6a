package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	conv = "conversations/2026-01-01/1000-chat-a-aaaa"
	log4 = "{\"id\":\"m1\"}\n{\"id\":\"m2\"}\n{\"id\":\"m3\"}\n{\"id\":\"m4\"}\n"
)

// conversation writes and commits a conversation of four messages.
func (r *repo) conversation() {
	r.t.Helper()
	r.write(conv+"/chat.md", "a\n")
	r.write(conv+"/.session/session.json", "{}\n")
	r.write(conv+"/.session/messages.jsonl", log4)
	r.write(conv+"/.session/tools.jsonl", "{\"id\":\"t1\"}\n")
	r.git("add", "-A")
	r.git("commit", "-qm", "base")
}

func (r *repo) remove(name string) {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.root, filepath.FromSlash(name))); err != nil {
		r.t.Fatal(err)
	}
}

// head returns a file's content in the last commit.
func (r *repo) head(name string) string {
	r.t.Helper()
	return r.git("show", "HEAD:"+name)
}

// sparse leaves only the session.json files in the work tree.
func (r *repo) sparse() {
	r.t.Helper()
	r.git("sparse-checkout", "set", "--no-cone", "/.gitattributes", "/conversations/**/.session/session.json")
}

// TestSparseCommit: in a sparse checkout without the log, a commit does not delete the
// log, and a log with only new messages is not committed.
func TestSparseCommit(t *testing.T) {
	r := newRepo(t)
	r.conversation()
	r.sparse()
	if exists(filepath.Join(r.root, conv, ".session/messages.jsonl")) {
		t.Fatal("the log is checked out")
	}
	r.write(conv+"/.session/session.json", "{\"status\":\"paused\"}\n")
	r.write(conv+"/.session/subagents/x/messages.jsonl", "{\"id\":\"s1\"}\n")
	r.commit(conv, "m", true)
	if got := r.changed(); got != "M\t"+conv+"/.session/session.json\nA\t"+conv+"/.session/subagents/x/messages.jsonl" {
		t.Errorf("committed %q", got)
	}
	files, err := Sparse(context.Background(), r.root, conv)
	var absent []string
	for _, f := range files {
		absent = append(absent, f.Path)
		if id := strings.TrimSpace(r.git("rev-parse", "HEAD:"+f.Path)); f.ID != id {
			t.Errorf("%s has id %s, not %s", f.Path, f.ID, id)
		}
	}
	if want := []string{conv + "/.session/messages.jsonl", conv + "/.session/tools.jsonl", conv + "/chat.md"}; err != nil || !slices.Equal(absent, want) {
		t.Errorf("absent: %q, %v", absent, err)
	}

	r.write(conv+"/.session/messages.jsonl", "{\"id\":\"m5\"}\n")
	r.write(conv+"/.session/new.json", "{}")
	head, before := r.git("rev-parse", "HEAD"), r.git("status", "--porcelain")
	var loss *LossError
	done, err := Commit(context.Background(), r.root, conv, "m")
	if done || !errors.As(err, &loss) || loss.Lost != 4 || !slices.Equal(loss.Paths, []string{conv + "/.session/messages.jsonl"}) {
		t.Errorf("a log of one message over four: %t, %v", done, err)
	}
	if r.git("rev-parse", "HEAD") != head || r.git("status", "--porcelain") != before {
		t.Error("the refused commit changed something")
	}
	r.write(conv+"/.session/messages.jsonl", log4+"{\"id\":\"m5\"}\n")
	r.commit(conv, "m", true)
	if got := r.head(conv + "/.session/messages.jsonl"); got != log4+"{\"id\":\"m5\"}\n" {
		t.Errorf("the log is %q", got)
	}
}

// TestMissingRecords: a record missing from the work tree, whether staged as deleted or
// not, stays in the commit; the user's own file does not.
func TestMissingRecords(t *testing.T) {
	r := newRepo(t)
	r.conversation()
	r.remove(conv + "/.session/messages.jsonl")
	r.git("rm", "-q", "--cached", conv+"/.session/tools.jsonl")
	r.remove(conv + "/.session/tools.jsonl")
	r.commit(conv, "nothing", false)
	r.remove(conv + "/chat.md")
	r.write(conv+"/.session/session.json", "{\"a\":1}\n")
	r.commit(conv, "m", true)
	if got := r.changed(); got != "M\t"+conv+"/.session/session.json\nD\t"+conv+"/chat.md" {
		t.Errorf("committed %q", got)
	}
	r.remove(conv + "/.session")
	r.commit(conv, "nothing", false)
	r.write(conv+"/.session/messages.jsonl/x", "a folder where the log was")
	if done, err := Commit(context.Background(), r.root, conv, "m"); err != nil || done && r.head(conv+"/.session/messages.jsonl") != log4 {
		t.Errorf("%t, %v", done, err)
	}
}

// TestLostRecords: which changes of a log lose records.
func TestLostRecords(t *testing.T) {
	r := newRepo(t)
	r.conversation()
	name := conv + "/.session/messages.jsonl"
	for _, c := range []struct {
		what, before, now string
		lost              int
	}{
		{"appended", log4, log4 + "{\"id\":\"m5\"}\n", 0},
		{"rewritten", log4, strings.ReplaceAll(log4, "}", ",\"rev\":1}"), 0},
		{"in another order", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n", "{\"id\":\"b\"}\n{\"id\":\"a\"}\n{\"id\":\"c\"}\n", 0},
		{"the end is gone", log4, "{\"id\":\"m1\"}\n", 3},
		{"a line in the middle is gone", log4, "{\"id\":\"m1\"}\n{\"id\":\"m2\"}\n{\"id\":\"m4\"}\n{\"id\":\"m5\"}\n", 1},
		{"empty", log4, "", 4},
		{"marks removed", "<<<<<<< a\n{\"id\":\"m1\"}\n=======\n>>>>>>> b\n", "{\"id\":\"m1\"}\n", 0},
		{"given ids", "{\"role\":\"user\"}\n{\"role\":\"assistant\"}\n", "{\"id\":\"x\"}\n{\"id\":\"y\"}\n", 0},
		{"one without an id gone", "{\"role\":\"user\"}\n{\"role\":\"assistant\"}\n", "{\"role\":\"user\",\"a\":1}\n", 1},
	} {
		r.write(name, c.before)
		r.git("add", name)
		r.git("commit", "-q", "--allow-empty", "-m", "x", name)
		r.write(name, c.now)
		done, err := Commit(context.Background(), r.root, conv, c.what)
		var loss *LossError
		switch {
		case c.lost == 0 && (err != nil || !done):
			t.Errorf("%s: %t, %v", c.what, done, err)
		case c.lost > 0 && (done || !errors.As(err, &loss) || loss.Lost != c.lost):
			t.Errorf("%s: %t, %v", c.what, done, err)
		}
	}
}

// TestCommitBelow: the workspace may be a subfolder of the repository, a linked work tree
// or a submodule.
func TestCommitBelow(t *testing.T) {
	r := newRepo(t)
	r.write("base", "1")
	r.git("add", "-A")
	r.git("commit", "-qm", "base")
	sub := &repo{t, filepath.Join(r.root, "deep", "w s")}
	sub.write("a/.session/messages.jsonl", log4)
	sub.commit("a", "m", true)
	if got := r.changed(); got != "A\tdeep/w s/a/.session/messages.jsonl" {
		t.Errorf("committed %q", got)
	}
	sub.write("a/.session/messages.jsonl", "{\"id\":\"m1\"}\n")
	if _, err := Commit(context.Background(), sub.root, "a", "m"); !errors.As(err, new(*LossError)) {
		t.Errorf("a shorter log: %v", err)
	}
	sub.remove("a/.session/messages.jsonl")
	sub.write("a/x", "1")
	sub.commit("a", "m", true)
	if got := r.changed(); got != "A\tdeep/w s/a/x" {
		t.Errorf("committed %q", got)
	}

	tree := &repo{t, filepath.Join(t.TempDir(), "linked")}
	must(t, r.root, "worktree", "add", "-q", tree.root)
	tree.write("a/x", "1")
	tree.commit("a", "in a linked work tree", true)
	if got := r.git("show", "--name-status", "--format=", "linked"); got != "A\ta/x\n" {
		t.Errorf("committed %q", got)
	}

	super := newRepo(t)
	must(t, super.root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", r.root, "sub")
	inner := &repo{t, filepath.Join(super.root, "sub")}
	inner.write("a/x", "1")
	inner.commit("a", "in a submodule", true)
	if got := must(t, inner.root, "show", "--name-status", "--format=", "HEAD"); got != "A\ta/x" {
		t.Errorf("committed %q", got)
	}
}

// TestIntentToAdd: a file that the user added with --intent-to-add is committed, and
// other staged changes are not.
func TestIntentToAdd(t *testing.T) {
	r := newRepo(t)
	r.write("a/x", "1")
	r.write("b", "1")
	r.git("add", "-N", "a/x")
	r.git("add", "b")
	r.commit("a", "m", true)
	if got := r.changed(); got != "A\ta/x" {
		t.Errorf("committed %q", got)
	}
	if got := r.git("status", "--porcelain"); got != "A  b\n" {
		t.Errorf("the status is %q", got)
	}
}

// TestHookEnvironment: the user's hooks run as in a manual commit, so that their
// pathspecs and messages mean the same. Our pathspecs match one file each, whatever its
// name.
func TestHookEnvironment(t *testing.T) {
	r := newRepo(t)
	t.Setenv("LC_ALL", "")
	t.Setenv("LANG", "C.UTF-8")
	r.write("a/[x]*.jsonl", "SECRET\n")
	r.write("a/x.jsonl", "1\n")
	env := filepath.Join(t.TempDir(), "env")
	r.write(".git/hooks/pre-commit", "#!/bin/sh\nenv >'"+env+"'\nif git diff --cached -- '*.jsonl' | grep -q SECRET; then echo refused >&2; exit 1; fi\n")
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the hook found nothing: %t, %v", done, err)
	}
	b, err := os.ReadFile(env)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"GIT_LITERAL_PATHSPECS=", "GIT_TERMINAL_PROMPT=", "LC_ALL=C\n"} {
		if strings.Contains(string(b), v) {
			t.Errorf("the hook gets %s", strings.TrimSpace(v))
		}
	}
	r.write("a/[x]*.jsonl", "1\n")
	r.write("ax.jsonl", "another's")
	r.commit("a", "m", true)
	if got := r.changed(); got != "A\ta/[x]*.jsonl\nA\ta/x.jsonl" {
		t.Errorf("committed %q", got)
	}
	r.write("a/[x]*.jsonl", "2\n")
	r.write("a/x.jsonl", "2\n")
	r.commit("a/[x]*.jsonl", "m", true)
	if got := r.changed(); got != "M\ta/[x]*.jsonl" {
		t.Errorf("committed %q", got)
	}
}

// TestCommitInCommit: a hook of the user's commit commits nothing, because that would
// break the commit.
func TestCommitInCommit(t *testing.T) {
	r := newRepo(t)
	r.write("a/x", "1")
	t.Chdir(r.root)
	for _, index := range []string{filepath.Join(r.root, ".git", "index.lock"), ".git/index", "../.git/index"} {
		t.Setenv("GIT_INDEX_FILE", index)
		var unfinished *UnfinishedError
		if done, err := Commit(context.Background(), r.root, "a", "m"); done || !errors.As(err, &unfinished) || unfinished.Operation != "commit" {
			t.Errorf("%s: %t, %v", index, done, err)
		}
	}
}

// TestPathspecVariables: the user's pathspec variables do not affect ours.
func TestPathspecVariables(t *testing.T) {
	r := newRepo(t)
	r.conversation()
	for i, name := range pathspecs {
		t.Setenv(name, "1")
		if b, err := HeadBlob(t.Context(), r.root, conv+"/chat.md"); err != nil || string(b) != "a\n" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		r.write(conv+"/.session/messages.jsonl", log4+strings.Repeat("{\"id\":\"m5\"}\n", i+1))
		r.commit(conv, name, true)
		os.Unsetenv(name)
	}
	t.Setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", t.TempDir())
	out, err := exec.Command("git", "rev-parse", "--local-env-vars").Output()
	if err != nil {
		t.Fatal(err)
	}
	// The user may have set configuration in the environment for all repositories.
	config := []string{"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT"}
	for _, name := range strings.Fields(string(out)) {
		if !slices.Contains(elsewhere, name) && !slices.Contains(config, name) {
			t.Errorf("%s is passed on", name)
		}
	}
}

// TestCommitTooSlow: the error names the time limit that was exceeded.
func TestCommitTooSlow(t *testing.T) {
	r := newRepo(t)
	r.write("a/x", "1")
	defer func(d time.Duration) { limit = d }(limit)
	limit = time.Nanosecond
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil || !strings.Contains(err.Error(), "git commit took longer than 1ns") {
		t.Errorf("%t, %v", done, err)
	}
}

// TestInnerRepository: a repository inside the folder is not committed as a gitlink
// without content, and is named in the error; one that the user added is committed.
func TestInnerRepository(t *testing.T) {
	r := newRepo(t)
	r.write("a/x", "1")
	inner := &repo{t, filepath.Join(r.root, "a", "proto")}
	inner.write("f", "1")
	must(t, inner.root, "init", "-q")
	must(t, inner.root, "add", "f")
	must(t, inner.root, "commit", "-qm", "f")
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil || !strings.Contains(err.Error(), "a/proto/ is a repository of its own") {
		t.Errorf("%t, %v", done, err)
	}
	r.git("-c", "advice.addEmbeddedRepo=false", "add", "a/proto")
	r.commit("a", "m", true)
	if got := r.changed(); got != "A\ta/proto\nA\ta/x" {
		t.Errorf("committed %q", got)
	}
}

// TestRetract: a failed commit leaves no intent-to-add entries in the index, also with
// git before 2.26, except for a file that had one before.
func TestRetract(t *testing.T) {
	r := newRepo(t)
	path, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	r.write("a/[x]", "1")
	r.write("a/y", "1")
	r.git("add", "a/y")
	before := r.git("status", "--porcelain")
	r.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n")
	old := &repo{t, t.TempDir()}
	old.write("git", "#!/bin/sh\ncase \" $* \" in *\" rm \"*pathspec-from-file*) exit 129;; esac\nexec '"+path+"' \"$@\"\n")
	t.Setenv("PATH", old.root+string(os.PathListSeparator)+os.Getenv("PATH"))
	if done, err := Commit(context.Background(), r.root, "a", "m"); done || err == nil {
		t.Errorf("%t, %v", done, err)
	}
	if after := r.git("status", "--porcelain"); after != before {
		t.Errorf("the status was\n%sand is\n%s", before, after)
	}
}

// TestUnwatched: a commit has what a file monitor did not notice.
func TestUnwatched(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only on Linux does git's own monitor miss changes")
	}
	r := newRepo(t)
	monitor := filepath.Join(t.TempDir(), "monitor")
	if err := os.WriteFile(monitor, []byte("#!/bin/sh\nprintf 'token\\0'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r.conversation()
	r.git("config", "core.fsmonitor", monitor)
	r.git("status")
	longer := log4 + "{\"id\":\"m5\"}\n"
	r.write(conv+"/.session/messages.jsonl", longer)
	if text := r.git("status", "--porcelain"); text != "" {
		t.Fatalf("the monitor noticed %s", text)
	}
	if done, err := Commit(t.Context(), r.root, conv, "five"); !done || err != nil {
		t.Fatal(done, err)
	}
	if text := r.head(conv + "/.session/messages.jsonl"); text != longer {
		t.Errorf("committed %q", text)
	}
}
