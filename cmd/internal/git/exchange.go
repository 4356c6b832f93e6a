package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// An Exchange pushes the branch of a work tree to its upstream and pulls from there, with
// the user's own git. It merges only changes to some folders.
type Exchange struct {
	Root    string
	Folders []string                               // what a merge may change, relative to Root, with slashes
	Jitter  func(most time.Duration) time.Duration // a random time up to most
	Now     func() time.Time
}

// An OutsideError reports that the upstream has changes outside of the folders of an
// [Exchange].
type OutsideError struct {
	Upstream string
	Paths    []string
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s has changes to other files (%s): git pull merges them", e.Upstream, strings.Join(e.Paths[:min(len(e.Paths), 3)], ", "))
}

// An UncommittedError reports files that the upstream changed, and that have changes here which
// are not committed. Git would refuse to merge them, too. But before it does, it resets them to
// the last commit and back to what they were a moment ago (builtin/merge.c of git 2.39), and
// takes with it what is written meanwhile.
type UncommittedError struct{ Paths []string }

func (e *UncommittedError) Error() string {
	return fmt.Sprintf("%s: changed here and upstream: commit your change first", strings.Join(e.Paths[:min(len(e.Paths), 3)], ", "))
}

// mostRaces is how often a push tries again. Twenty clones that push for ten minutes on two
// processors lost up to 23 races in one push (scripts/pushers.sh).
const mostRaces = 100

// Pull fetches the upstream of the current branch and merges it, if all that it changes is
// in the folders. A conversation that one side deleted and the other continued stays. It
// reports whether there was anything to merge.
func (x Exchange) Pull(ctx context.Context) (merged bool, err error) {
	if op := Operation(x.Root); op != "" {
		return false, &UnfinishedError{op}
	}
	up, err := x.upstream(ctx)
	if err != nil {
		return false, err
	}
	if _, err := output(attend(x.asking(ctx, "fetch", "--quiet", up.remote))); err != nil {
		return false, err
	}
	if _, err := read(ctx, x.Root, "merge-base", "--is-ancestor", up.ref, "HEAD"); err == nil {
		return false, nil
	}
	top, err := read(ctx, x.Root, "rev-parse", "--show-prefix")
	if err != nil {
		return false, err
	}
	out, err := read(ctx, x.Root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "-z", "HEAD..."+up.ref)
	if err != nil {
		return false, err
	}
	prefix := strings.TrimSuffix(top, "\n")
	var outside []string
	theirs := map[string]bool{}
	for path := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		theirs[path] = true
		if !slices.ContainsFunc(x.Folders, func(f string) bool { return strings.HasPrefix(path, prefix+f+"/") }) && path != "" {
			outside = append(outside, path)
		}
	}
	if len(outside) > 0 {
		return false, &OutsideError{strings.TrimPrefix(up.ref, "refs/remotes/"), outside}
	}
	if err := x.wantCommitted(ctx, theirs); err != nil {
		return false, err
	}
	if _, err := output(attend(x.asking(ctx, "merge", "--quiet", "--ff", "--no-edit", up.ref))); err != nil {
		if kept, done, keepErr := x.KeepChanged(ctx); len(kept) > 0 && done {
			return true, nil
		} else if keepErr != nil {
			err = errors.Join(err, keepErr)
		}
		if Operation(x.Root) == "merge" {
			_, abortErr := run(ctx, x.Root, "merge", "--abort")
			err = errors.Join(err, abortErr)
		}
		return false, err
	}
	return true, nil
}

// wantCommitted returns an [*UncommittedError] if some of the files, named from the top of the
// work tree, have changes in the folders that are not committed.
func (x Exchange) wantCommitted(ctx context.Context, files map[string]bool) error {
	// As the user: it may compare contents, and so run the user's filters, as the merge does.
	out, err := run(ctx, x.Root, append([]string{"--literal-pathspecs", "--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--"}, x.Folders...)...)
	if err != nil {
		return err
	}
	var both []string
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") { // two letters, a space, the path
		if len(line) > 3 && files[line[3:]] {
			both = append(both, line[3:])
		}
	}
	if len(both) > 0 {
		return &UncommittedError{both}
	}
	return nil
}

// Push pushes the current branch to its upstream. If another clone pushed first, it pulls
// and tries again. races is how often that happened.
func (x Exchange) Push(ctx context.Context) (races int, err error) {
	up, err := x.upstream(ctx)
	if err != nil {
		return 0, err
	}
	turn, err := x.awaitTurn(ctx)
	if err != nil {
		return 0, err
	}
	for began := x.Now(); ; {
		pushing := x.Now()
		_, err = output(attend(x.asking(ctx, "push", "--quiet", up.remote, "HEAD:"+up.branch)))
		if err == nil {
			x.endTurn(turn, x.Now().Sub(pushing))
		}
		if err == nil || !lostRace().MatchString(err.Error()) || races >= mostRaces {
			return races, err
		}
		// Wait before the pull, not after it: what it merges must be new when it is pushed.
		for races++; ; races++ {
			wait := turn.lost(x.Now().Sub(began))
			if err := sleep(ctx, x.Jitter(wait)); err != nil {
				return races, err
			}
			began = x.Now()
			if _, err = x.Pull(ctx); err == nil || !lostRace().MatchString(err.Error()) || races >= mostRaces {
				break
			}
		}
		if err != nil {
			return races, err
		}
	}
}

// lostRace matches what git says if another process was faster: another clone at the
// remote, or another command in this one.
var lostRace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[rejected\]|\[remote rejected\].*(lock|already exists|failed to update)|index\.lock|cannot lock ref|shallow\.lock`)
})

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// asking returns a git command that asks nothing unless a user is at the terminal. Its
// messages are in English.
func (x Exchange) asking(ctx context.Context, args ...string) *exec.Cmd {
	cmd := command(ctx, x.Root, args)
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_MERGE_AUTOEDIT=no")
	if !attended() {
		cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0")
	}
	return cmd
}

// An upstream is what a branch is pushed to.
type upstream struct{ remote, branch, ref string }

func (x Exchange) upstream(ctx context.Context) (up upstream, err error) {
	at, ok := Head(x.Root)
	if !ok || at.Branch == "" {
		return up, errors.New("no branch is checked out: git switch to one first")
	}
	out, err := read(ctx, x.Root, "for-each-ref", "--format=%(upstream:remotename) %(upstream:remoteref) %(upstream)", "refs/heads/"+at.Branch)
	if err != nil {
		return up, err
	}
	words := strings.Fields(out)
	if len(words) != 3 {
		return up, fmt.Errorf("branch %s has no upstream: git push -u origin %[1]s", at.Branch)
	}
	return upstream{words[0], words[1], words[2]}, nil
}

// Clone clones a repository into a folder, as the user's git does.
func Clone(ctx context.Context, url, dir string) error {
	_, err := output(attend(Exchange{Root: filepath.Dir(dir)}.asking(ctx, "clone", "--quiet", "--", url, dir)))
	return err
}
