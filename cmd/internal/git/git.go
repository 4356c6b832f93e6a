// Package git commits the folder of a conversation, and nothing else, with the
// user's own git.
package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// limit bounds a commit: the repository's own hooks run in it. An agent's hook that
// commits has 25 s.
const limit = 20 * time.Second

// ErrUnfinished says that the repository is in the middle of something that a
// commit of ours would disturb.
var ErrUnfinished = errors.New("a merge, rebase, cherry-pick or revert is under way: commit the folder when that is done")

// Commit commits what has changed in the folder at path, which is relative to
// root. What else is in the index stays there, uncommitted. It reports whether
// there was anything to commit; the error is what git says.
func Commit(ctx context.Context, root, path, message string) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if busy, err := unfinished(ctx, root); err != nil {
		return false, err
	} else if busy {
		return false, ErrUnfinished
	}
	// New files are only announced: what the user has staged in the folder is not
	// touched unless the commit is made.
	fresh, err := run(ctx, root, "ls-files", "-z", "--others", "--exclude-standard", "--", path)
	if err != nil {
		return false, err
	}
	if _, err := run(ctx, root, "add", "--intent-to-add", "--", path); err != nil {
		return false, err
	}
	changed, err := run(ctx, root, "status", "--porcelain", "--untracked-files=all", "--", path)
	if err != nil || changed == "" {
		return false, err
	}
	if _, err := run(ctx, root, "commit", "--quiet", "--only", "-m", message, "--", path); err != nil {
		if fresh = strings.TrimRight(fresh, "\x00"); fresh != "" {
			args := append([]string{"rm", "--cached", "--quiet", "--force", "--"}, strings.Split(fresh, "\x00")...)
			_, _ = run(context.WithoutCancel(ctx), root, args...)
		}
		return false, err
	}
	return true, nil
}

// unfinished reports whether git waits for the end of something. A partial commit
// is refused in a merge, and what git then holds in the index is the merge's.
func unfinished(ctx context.Context, root string) (bool, error) {
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		path, err := run(ctx, root, "rev-parse", "--git-path", name)
		if err != nil {
			return false, err
		}
		path = strings.TrimSpace(path)
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if _, err := os.Lstat(path); err == nil {
			return true, nil
		}
	}
	return false, nil
}

// elsewhere are variables with which git would work on another repository than
// the one at root: they are set where a hook of git's calls us.
var elsewhere = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"}

// hidden are the variables with which Gemini CLI hides the user's configuration of
// git from the commands that its shell tool runs (0.61.0): with them nobody could
// commit, and the user's own hooks of git would not run.
var hidden = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT"}

// environment is ours without what would lead git astray.
func environment() []string {
	unset := elsewhere
	if os.Getenv("GEMINI_CLI") != "" && os.Getenv("GIT_CONFIG_GLOBAL") == os.DevNull {
		unset = slices.Concat(elsewhere, hidden)
	}
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(unset, name)
	})
}

// run runs git. It never asks.
func run(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root, "--literal-pathspecs"}, args...)...)
	cmd.Env = append(environment(), "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	inGroup(cmd)
	cmd.WaitDelay = 3 * time.Second
	out, err := cmd.Output()
	if text := strings.TrimSpace(stderr.String()); err != nil && text != "" {
		err = errors.New(text)
	}
	return string(out), err
}
