// Package git commits the folder of a conversation, and nothing else, with the
// user's own git.
package git

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// limit bounds a commit: the repository's own hooks run in it.
const limit = 60 * time.Second

// Commit commits what has changed in the folder at path, which is relative to
// root. What else is in the index stays there, uncommitted. It reports whether
// there was anything to commit; the error is what git says.
func Commit(ctx context.Context, root, path, message string) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
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

// elsewhere are variables with which git would work on another repository than
// the one at root: they are set where a hook of git's calls us.
var elsewhere = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"}

// run runs git. It never asks.
func run(ctx context.Context, root string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root, "--literal-pathspecs"}, args...)...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(elsewhere, name)
	}), "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if text := strings.TrimSpace(stderr.String()); err != nil && text != "" {
		err = errors.New(text)
	}
	return string(out), err
}
