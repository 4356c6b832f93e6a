package git

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
)

// inUTF8 tells git that our messages are in UTF-8, whatever the user has set for their own.
var inUTF8 = []string{"-c", "i18n.commitEncoding=UTF-8"}

// Ended reports whether an error says that git was ended by a signal.
func Ended(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && !exit.Exited()
}

// silentRefusal explains the error of a commit that a hook refused without printing anything: git is
// silent about it, too.
func silentRefusal(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return errors.New("git commit made no commit and does not say why: see what the hook pre-commit or commit-msg does")
	}
	return err
}

// unstage sets the index entries of committed files to what was committed. A hook that
// changes a file and stages it changes what is committed, but the entry stays as it was
// before, so that the next commit of the user would undo what the hook did. What the user
// has staged of a file that only the hook committed stays.
func unstage(ctx context.Context, root, folder string, paths []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	at, err := read(ctx, root, "rev-parse", "--show-prefix", "--show-cdup")
	if err != nil {
		return err
	}
	prefix, rest, _ := strings.Cut(at, "\n")
	up := strings.TrimSuffix(rest, "\n")
	names := func(command string, args ...string) ([]string, error) {
		list, err := namedPaths(ctx, root, command, append([]string{"--no-renames"}, args...)...)
		for i, name := range list { // from the top of the work tree, where a hook may have changed files, too
			if within, ok := strings.CutPrefix(name, prefix); ok {
				list[i] = within
			} else {
				list[i] = up + name
			}
		}
		return list, err
	}
	hooked, err := names("diff-tree", "-r", "HEAD~", "HEAD", "--")
	if err != nil { // it is the first commit
		hooked = nil
	}
	hooked = slices.DeleteFunc(hooked, func(name string) bool { return slices.Contains(paths, name) })
	among := []string{"--cached", "HEAD", "--"}
	if len(hooked) == 0 {
		among = append(among, folder)
	} else {
		own, err := names("diff-index", "--cached", "HEAD~", "--")
		if err != nil {
			return err
		}
		paths = append(slices.Clone(paths), slices.DeleteFunc(hooked, func(name string) bool { return slices.Contains(own, name) })...)
	}
	stale, err := names("diff-index", among...)
	if err != nil {
		return err
	}
	stale = slices.DeleteFunc(stale, func(name string) bool { return !slices.Contains(paths, name) })
	if len(stale) == 0 {
		return nil
	}
	return whenUnlocked(ctx, func() error {
		_, err := output(withPaths(ctx, root, stale, slices.Concat(wholeIndex, []string{"reset", "--quiet"})...))
		return err
	})
}
