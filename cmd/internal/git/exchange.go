package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"cortext/store/filelock"
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

// An UncommittedError reports files that the upstream changed and that have uncommitted
// changes here. Git would also refuse to merge them. But before it does, it resets them to
// the last commit and back to what they were a moment ago (builtin/merge.c of git 2.39),
// and loses anything written in the meantime.
type UncommittedError struct{ Paths []string }

func (e *UncommittedError) Error() string {
	return fmt.Sprintf("%s: changed here and upstream: commit your change first", strings.Join(e.Paths[:min(len(e.Paths), 3)], ", "))
}

// A StagedError reports changes in the index, which git does not merge into. Before it refuses,
// it does the same as for an [UncommittedError].
type StagedError struct{ Paths []string }

func (e *StagedError) Error() string {
	return fmt.Sprintf("%s: staged: commit or unstage it first (git restore --staged)", strings.Join(e.Paths[:min(len(e.Paths), 3)], ", "))
}

// mostRaces is how often a push tries again. Twenty clones that push for ten minutes on two
// processors lost up to 23 races in one push (scripts/pushers.sh).
const mostRaces = 100

// Pulled says what a pull did. Folders are those of conversations, relative to the root.
type Pulled struct {
	Merged  bool      // the upstream had something new
	Changed []string  // folders that are new or have changed
	Removed []string  // folders that are gone
	Kept    Conflicts // those of a merge under way that are resolved: nothing of them is lost
	Open    string    // the git command that the user has to finish with before a pull can merge, or ""
}

// Pull fetches the upstream of the current branch and merges it, if all that it changes is
// in the folders. A conversation that one side deleted and the other continued stays, and so
// do both folders of one that both sides renamed, even in an operation that is already
// under way.
func (x Exchange) Pull(ctx context.Context) (p Pulled, err error) {
	err = x.alone(ctx, func() error {
		var done bool
		if p.Kept, done, err = x.keepChanged(ctx); err != nil {
			return err
		}
		if p.Kept.any() && !done {
			p.Open = "commit"
			if op := Operation(x.Root); op != "" {
				p.Open = op + " --continue"
			}
			return nil
		}
		before, _ := Head(x.Root)
		if p.Merged, err = x.merge(ctx); err == nil && p.Merged {
			p.Changed, p.Removed, _ = ChangedFrom(ctx, x.Root, x.Folders[0], before.Commit) // it is merged, whatever git says
		}
		p.Merged = p.Merged || p.Kept.any()
		return err
	})
	return p, err
}

// ChangedFrom lists the folders of conversations below dir that have changed from a commit to HEAD,
// and those that are gone. A folder that moved to another day counts as changed.
func ChangedFrom(ctx context.Context, root, dir, from string) (changed, removed []string, err error) {
	out, err := read(ctx, root, "diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--relative", from, "HEAD", "--", dir)
	if err != nil {
		return nil, nil, err
	}
	there := map[string]bool{} // by name
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // :mode mode id id letter, then the path
		info, folder := fields[i], fields[i+1]
		if !strings.Contains(info[:min(len(info), 14)], "040000") || strings.Count(folder, "/") != conversationDepth-1 {
			continue
		}
		if strings.HasSuffix(info, " D") {
			removed = append(removed, folder)
		} else {
			changed, there[path.Base(folder)] = append(changed, folder), true
		}
	}
	return changed, slices.DeleteFunc(removed, func(folder string) bool { return there[path.Base(folder)] }), nil
}

// pullFile, in a work tree's git folder, is locked while a process fetches and merges.
const pullFile = "cortext-pull"

// mostMerge bounds a merge that nobody attends. Tests change it.
var mostMerge = 2 * time.Minute

// How long a process waits for another that pulls, and for git's own locks, which the user's
// git holds for moments and leaves behind if it is killed.
const (
	mostPull   = 2 * time.Minute
	mostLocked = 10 * time.Second
)

// alone calls f while no other process pulls into this work tree: one must not abort the
// merge of another.
func (x Exchange) alone(ctx context.Context, f func() error) error {
	dir := Dir(x.Root)
	if dir == "" {
		return noRepository(x.Root)
	}
	for until := x.Now().Add(mostPull); ; {
		err := filelock.With(filepath.Join(dir, pullFile), mostLocked/100, f)
		switch {
		case !errors.Is(err, filelock.ErrHeld):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case x.Now().After(until):
			return fmt.Errorf("another cortext pull or push is merging in %s: wait until it is done", x.Root)
		}
	}
}

// merge fetches the upstream and merges it. It reports whether there was anything to merge.
// While another process holds a lock of git's, it tries again.
func (x Exchange) merge(ctx context.Context) (merged bool, err error) {
	if op := Operation(x.Root); op != "" {
		return false, &UnfinishedError{Operation: op}
	}
	up, err := x.upstream(ctx)
	if err != nil {
		return false, err
	}
	for until := x.Now().Add(mostLocked); ; {
		merged, err = x.mergeOnce(ctx, up)
		if err == nil || !locked().MatchString(err.Error()) || x.Now().After(until) {
			return merged, err
		}
		if err := sleep(ctx, leastTry+x.Jitter(leastTry)); err != nil {
			return false, err
		}
	}
}

func (x Exchange) mergeOnce(ctx context.Context, up upstream) (merged bool, err error) {
	if err := x.fetch(ctx, up); err != nil {
		return false, err
	}
	if _, err := read(ctx, x.Root, "merge-base", "--is-ancestor", up.ref, "HEAD"); err == nil {
		if up.pushRemote != up.remote { // a push does not change the upstream
			return false, nil
		}
		return false, x.wantKept(ctx, up)
	}
	if err := x.wantMergeable(ctx, up); err != nil {
		return false, err
	}
	// If it cannot lock the index, git merge starts and cannot finish (2.39).
	if lock := filepath.Join(Dir(x.Root), "index.lock"); exists(lock) {
		return false, fmt.Errorf("'%s': File exists: another git process is at work; if there is none, remove the file", lock)
	}
	// With merge.autoStash, git would take uncommitted changes from the work tree, and with
	// them anything written in the meantime. Without find-renames=100% it would mistake
	// a new conversation for the new place of a removed one that looks like it. (Before 2.49
	// it ignores no-renames.)
	whole := context.WithoutCancel(ctx)
	args := append(usualStrategy(ctx, x.Root, up), "-c", "merge.autoStash=false", "merge", "--quiet", "-X", "find-renames=100%", "--ff", "--no-squash", "--commit", "--no-edit", "--no-rerere-autoupdate", up.ref)
	err = wholeMerge(ctx, x.Root, func(ctx context.Context) error { return call(x.asking(ctx, args...)) })
	if err == nil {
		return true, nil
	}
	if strings.Contains(err.Error(), "MERGE_HEAD exists") { // the user began another one meanwhile
		return false, &UnfinishedError{Operation: "merge"}
	}
	var keepErr error
	if Operation(x.Root) != "" {
		kept, done, keptErr := x.keepChanged(whole)
		if kept.any() && done {
			return true, nil
		}
		keepErr = keptErr
	}
	if left, leftErr := ConflictsIn(whole, x.Root, x.Folders[0]); leftErr == nil && len(left.Other) > 0 {
		err = &ConflictError{short(up.ref), left.Other}
	} else if Operation(x.Root) == "merge" { // git says how to complete it
		err = fmt.Errorf("the merge of %s was undone: %w", short(up.ref), err)
	}
	return false, errors.Join(err, keepErr, x.abort(whole))
}

// wholeMerge calls a function that merges in root with git. A merge that is killed in the middle
// leaves changed files that the index does not know about, so it runs to its end even if ctx has
// ended. But if nobody attends, a program that signs the commit, or a hook, could keep it waiting
// forever, so it is ended once git has written what it merged.
func wholeMerge(ctx context.Context, root string, merge func(context.Context) error) error {
	whole, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	head, staged := commitAndIndex(whole, root)
	if !attended() {
		defer time.AfterFunc(mostMerge, func() {
			for !exists(filepath.Join(Dir(root), "MERGE_HEAD")) && sleep(whole, leastTry) == nil {
				if h, s := commitAndIndex(whole, root); h != head || s != staged {
					break
				}
			}
			end(fmt.Errorf("git merge took longer than %v: run it yourself to see what it waits for", mostMerge))
		}).Stop()
	}
	err := merge(whole)
	slow := context.Cause(whole)
	if err == nil || slow == nil {
		return err
	}
	switch h, s := commitAndIndex(context.WithoutCancel(ctx), root); {
	case h != head: // a hook after the merge
		return nil
	case s != staged && Operation(root) == "": // the hook pre-merge-commit
		_, err = read(context.WithoutCancel(ctx), root, "reset", "--quiet", "--merge")
		return errors.Join(slow, err)
	}
	return slow
}

// commitAndIndex returns HEAD's commit, and what the index has that the commit lacks.
func commitAndIndex(ctx context.Context, root string) (commit, changes string) {
	commit, _ = read(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD")
	changes, _ = read(ctx, root, "diff-index", "--cached", "--no-renames", "HEAD", "--")
	return commit, changes
}

// abort aborts the merge that is under way, if there is one. If another process holds the
// lock of the index, it waits.
func (x Exchange) abort(ctx context.Context) error {
	for until := x.Now().Add(mostLocked); Operation(x.Root) == "merge"; {
		_, err := output(x.asking(ctx, "merge", "--abort"))
		if err == nil {
			return nil
		}
		if !locked().MatchString(err.Error()) || x.Now().After(until) {
			return fmt.Errorf("abort the merge: %w", err)
		}
		if err := sleep(ctx, leastTry); err != nil {
			return err
		}
	}
	return nil
}

// wantMergeable returns the reason why a merge of the upstream must not begin, if there is one.
func (x Exchange) wantMergeable(ctx context.Context, up upstream) error {
	prefix, err := Prefix(ctx, x.Root)
	if err != nil {
		return err
	}
	if _, err := read(ctx, x.Root, "merge-base", "HEAD", up.ref); err != nil {
		return x.unrelated(ctx, up, err)
	}
	if err := x.wantKept(ctx, up); err != nil {
		return err
	}
	if err := x.wantDropped(ctx, up); err != nil {
		return err
	}
	theirs, err := namedPaths(ctx, x.Root, "diff", "--no-renames", "--no-ext-diff", "--no-textconv", "HEAD..."+up.ref)
	if err != nil {
		return err
	}
	var outside []string
	for _, path := range theirs {
		if !slices.ContainsFunc(x.Folders, func(f string) bool { return strings.HasPrefix(path, prefix+f+"/") }) {
			outside = append(outside, path)
		}
	}
	if len(outside) > 0 {
		return &OutsideError{short(up.ref), outside}
	}
	if _, err := read(ctx, x.Root, "merge-base", "--is-ancestor", "HEAD", up.ref); err != nil {
		staged, err := namedPaths(ctx, x.Root, "diff-index", "--cached", "--no-renames", "HEAD", "--")
		if err != nil {
			return err
		}
		if len(staged) > 0 {
			return &StagedError{staged}
		}
	}
	return x.wantCommitted(ctx, theirs)
}

// namedPaths returns the paths that a git command prints: relative to root for ls-tree,
// from the top of the work tree for the others.
func namedPaths(ctx context.Context, root, command string, args ...string) ([]string, error) {
	return readList(ctx, root, slices.Concat([]string{command, "--name-only", "-z"}, args)...)
}

// wantCommitted returns an [*UncommittedError] if some of the files, named from the top of the
// work tree, have changes in the folders that are not committed.
func (x Exchange) wantCommitted(ctx context.Context, files []string) error {
	// As the user: it may compare contents, and so run the user's filters, as the merge does.
	out, err := run(ctx, x.Root, append([]string{"--literal-pathspecs", "--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored", "--"}, x.Folders...)...)
	if err != nil {
		return err
	}
	var both []string
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") { // two letters, a space, the path
		switch {
		case len(line) <= 3 || !slices.Contains(files, line[3:]):
		case line[:2] == "!!": // git would overwrite it
			both = append(both, line[3:]+" (ignored by git)")
		default:
			both = append(both, line[3:])
		}
	}
	if len(both) > 0 {
		return &UncommittedError{both}
	}
	return nil
}

// locked matches what git says if another process in this clone holds a lock, or was faster
// to change a ref.
var locked = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\.lock': File exists|cannot lock ref|Unable to write index`)
})

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// An UnansweredError is an error of git, or of ssh, that may have wanted to ask the user
// something where nobody could be asked.
type UnansweredError struct{ Err error }

func (e *UnansweredError) Error() string { return e.Err.Error() }
func (e *UnansweredError) Unwrap() error { return e.Err }

// unanswered reports whether git or ssh says that it could not ask: for a password or a
// passphrase, or whether the key of a host is right.
func unanswered(text string) bool {
	return slices.ContainsFunc([]string{"terminal prompts disabled", "Host key verification failed", "Permission denied (", "/dev/tty", "incorrect passphrase"}, func(s string) bool {
		return strings.Contains(text, s)
	})
}

// call runs a git command that may contact the remote, and ask the user if there is one.
func call(cmd *exec.Cmd) error {
	_, err := output(attend(cmd))
	if err != nil && !attended() && unanswered(err.Error()) {
		return &UnansweredError{err}
	}
	return err
}

// asking returns a git command that asks nothing unless a user is at the terminal. Its
// messages are in English.
func (x Exchange) asking(ctx context.Context, args ...string) *exec.Cmd {
	cmd := command(ctx, x.Root, args)
	cmd.Env = append(cmd.Env, "LC_ALL=C", "GIT_MERGE_AUTOEDIT=no", inExchange(x.Root))
	if !attended() {
		cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0")
	}
	return cmd
}

// exchanging is the variable that lists the repositories which an [Exchange] is pushing or
// pulling, in the environment of git and of the hooks that git runs. Without it, a hook that
// pushes would be run again by its own push.
const exchanging = "CORTEXT_EXCHANGING"

// Exchanging reports whether we were called, through one of git's hooks, by an [Exchange] of
// the repository that root is in.
func Exchanging(root string) bool {
	name := repositoryOf(root)
	return name != "" && slices.Contains(filepath.SplitList(os.Getenv(exchanging)), name)
}

// inExchange returns the variable for the git of an exchange.
func inExchange(root string) string {
	outer := filepath.SplitList(os.Getenv(exchanging))
	return exchanging + "=" + strings.Join(append(outer, repositoryOf(root)), string(filepath.ListSeparator))
}

// repositoryOf names a repository by its folder, whichever link leads there.
func repositoryOf(root string) string {
	dir := CommonDir(root)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}
