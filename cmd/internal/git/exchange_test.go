package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A pair is two clones of one repository, whose files below conversations git merges line by
// line.
type pair struct {
	*repo  // the clone that pulls
	theirs *repo
}

func newPair(t *testing.T) pair {
	t.Helper()
	theirs := newRepo(t)
	theirs.git("checkout", "--quiet", "-B", "main")
	theirs.write(".gitattributes", "conversations/** merge=union\n")
	theirs.write("conversations/log", "begun\n")
	theirs.write("code", "old\n")
	theirs.git("add", "-A")
	theirs.git("commit", "--quiet", "-m", "begin")
	ours := &repo{t, filepath.Join(t.TempDir(), "clone")}
	if err := Clone(context.Background(), filepath.Dir(ours.root), theirs.root, ours.root); err != nil {
		t.Fatal(err)
	}
	return pair{ours, theirs}
}

// add commits a line to a file.
func (r *repo) add(name, line string) {
	r.t.Helper()
	old, _ := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
	r.write(name, string(old)+line+"\n")
	r.git("add", name)
	r.git("commit", "--quiet", "-m", line)
}

func (r *repo) read(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.root, filepath.FromSlash(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func (p pair) exchange() Exchange {
	return Exchange{Root: p.root, Folders: []string{"conversations"}, Now: time.Now, Jitter: func(most time.Duration) time.Duration { return rand.N(most) }}
}

// untouched reports an error unless a pull fails as want says and leaves all as it is.
func (p pair) untouched(x Exchange, want error) {
	p.t.Helper()
	before := p.git("rev-parse", "HEAD") + p.git("status", "--porcelain") + p.state()
	_, err := x.Pull(context.Background())
	if err == nil || !strings.Contains(err.Error(), want.Error()) {
		p.t.Errorf("pull: %v, want %v", err, want)
	}
	if op := Operation(p.root); op != "" {
		p.t.Errorf("git %s is under way after %v", op, err)
	}
	if after := p.git("rev-parse", "HEAD") + p.git("status", "--porcelain") + p.state(); after != before {
		p.t.Errorf("after %v:\n%s\nbefore:\n%s", err, after, before)
	}
}

// TestPullsAtOnce: processes that pull into one work tree wait for each other. None sees the
// merge of another, or aborts it.
func TestPullsAtOnce(t *testing.T) {
	p := newPair(t)
	for round := range 4 {
		p.add("conversations/log", fmt.Sprint("ours ", round))
		p.theirs.add("conversations/log", fmt.Sprint("theirs ", round))
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := p.exchange().Pull(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	for round := range 4 {
		for _, side := range []string{"ours", "theirs"} {
			if line := fmt.Sprint(side, " ", round, "\n"); strings.Count(p.read("conversations/log"), line) != 1 {
				t.Errorf("%q is not there once:\n%s", line, p.read("conversations/log"))
			}
		}
	}
	if s := p.git("status", "--porcelain"); s != "" {
		t.Error(s)
	}
}

// TestPullStaged: git would reset all uncommitted files before it refuses to merge into a
// changed index, and with merge.autoStash, before it merges.
func TestPullStaged(t *testing.T) {
	p := newPair(t)
	p.git("config", "merge.autoStash", "true")
	p.add("conversations/log", "ours")
	p.theirs.add("conversations/log", "theirs")
	p.write("code", "staged\n")
	p.git("add", "code")
	p.untouched(p.exchange(), &StagedError{[]string{"code"}})
	p.git("reset", "--quiet")

	before, err := os.Stat(filepath.Join(p.root, "code"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.exchange().Pull(context.Background()); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(p.root, "code"))
	if err != nil || !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Errorf("the file was written: %v", err)
	}
	if got := p.read("conversations/log"); got != "begun\nours\ntheirs\n" {
		t.Error(got)
	}
	// What is staged does not matter if the branch only moves forward.
	p.git("push", "--quiet", "origin", "HEAD:refs/heads/other")
	p.theirs.git("merge", "--quiet", "other")
	p.theirs.add("conversations/log", "more")
	p.git("add", "code")
	if got, err := p.exchange().Pull(context.Background()); err != nil || !got.Merged {
		t.Error(got, err)
	}
}

// TestPullLocked: a pull waits for a lock of git's that another process holds. If it stays,
// it gives up in good time and leaves no merge behind.
func TestPullLocked(t *testing.T) {
	locks := []string{"index.lock", "HEAD.lock", "refs/heads/main.lock"}
	if reftable(newPair(t).root + "/.git") {
		locks = []string{"index.lock", "reftable/tables.list.lock"}
	}
	for _, lock := range locks {
		p := newPair(t)
		p.add("conversations/log", "ours")
		p.theirs.add("conversations/log", "theirs")
		file := filepath.Join(p.root, ".git", filepath.FromSlash(lock))
		p.write(".git/"+lock, "")
		hurried := p.exchange()
		var past time.Duration
		hurried.Now = func() time.Time { // each look at the clock takes seconds
			past += mostLocked / 3
			return time.Now().Add(past)
		}
		if lock == "index.lock" { // git status needs the lock only to write what it found
			p.untouched(hurried, errors.New("index.lock"))
		} else if _, err := hurried.Pull(context.Background()); err == nil {
			t.Errorf("%s: merged", lock)
		}
		time.AfterFunc(500*time.Millisecond, func() { _ = os.Remove(file) })
		if got, err := p.exchange().Pull(context.Background()); err != nil || !got.Merged {
			t.Errorf("%s: %+v, %v", lock, got, err)
		}
		if got := p.read("conversations/log"); got != "begun\nours\ntheirs\n" || Operation(p.root) != "" {
			t.Errorf("%s: %q, %s", lock, got, Operation(p.root))
		}
	}
}

// TestPullInterrupted: a merge runs to its end once it has begun, unless one of the user's own
// hooks refuses it. Then it is aborted.
func TestPullInterrupted(t *testing.T) {
	p := newPair(t)
	p.add("conversations/log", "ours")
	p.theirs.add("conversations/log", "theirs")
	p.write(".git/hooks/pre-merge-commit", "#!/bin/sh\nexit 1\n")
	p.untouched(p.exchange(), errors.New("the merge of origin/main was undone: Not committing merge"))

	p.write(".git/hooks/pre-merge-commit", "#!/bin/sh\ntouch .git/began\nwhile ! test -e .git/end; do sleep .01; done\n")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(p.root, ".git", "began")); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		cancel()
		time.Sleep(50 * time.Millisecond) // time for a signal to arrive
		_ = os.WriteFile(filepath.Join(p.root, ".git", "end"), nil, 0o600)
	}()
	if got, err := p.exchange().Pull(ctx); err != nil || !got.Merged || Operation(p.root) != "" {
		t.Errorf("%+v, %v, %q", got, err, Operation(p.root))
	}
	if got := p.read("conversations/log"); got != "begun\nours\ntheirs\n" {
		t.Error(got)
	}
}

// TestPasswordOfRemote: a URL that is pushed to is named without the password in it.
func TestPasswordOfRemote(t *testing.T) {
	p := newPair(t)
	p.git("config", "receive.denyCurrentBranch", "ignore")
	url := "ssh://user:secret@example.invalid/team/app.git"
	p.git("config", "url."+p.theirs.root+".insteadOf", url)
	p.git("config", "branch.main.pushRemote", url)
	p.add("conversations/log", "ours")
	p.theirs.add("conversations/log", "theirs")
	_, err := p.exchange().Push(context.Background())
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "merge what ssh://example.invalid/team/app.git has in main") {
		t.Error(err)
	}
}

// TestMergeWaits: a merge that nobody attends does not wait for ever for a hook, and leaves
// everything as it was, unless the merge is done.
func TestMergeWaits(t *testing.T) {
	most := mostMerge
	t.Cleanup(func() { mostMerge = most })
	mostMerge = time.Millisecond
	for _, hook := range []string{"pre-merge-commit", "commit-msg", "post-merge"} {
		p := newPair(t)
		p.add("conversations/log", "ours")
		p.theirs.add("conversations/log", "theirs")
		p.write(".git/hooks/"+hook, "#!/bin/sh\nsleep 60\n")
		if err := os.Chmod(filepath.Join(p.root, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
		p.git("fetch", "--quiet")
		if hook != "post-merge" {
			p.untouched(p.exchange(), errors.New("git merge took longer than 1ms: run it yourself"))
			continue
		}
		got, err := p.exchange().Pull(context.Background())
		if text := p.read("conversations/log"); err != nil || !got.Merged || text != "begun\nours\ntheirs\n" {
			t.Errorf("%+v, %v: %q", got, err, text)
		}
	}
}
