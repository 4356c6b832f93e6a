package git

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strings"
)

// inUTF8 says how a message of ours is encoded, whatever those of the user are.
var inUTF8 = []string{"-c", "i18n.commitEncoding=UTF-8"}

// told returns the error of a commit. Of a hook that refuses it and prints nothing, git says
// nothing either.
func told(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return errors.New("git commit made no commit and does not say why: see what the hook pre-commit or commit-msg does")
	}
	return err
}

// unstage sets the index entries of files that were committed to what was committed. A hook
// that changes a file and stages it changes what is committed, but the entry stays as it was
// before, so that the next commit of the user would undo what the hook did.
func unstage(ctx context.Context, root, folder string, paths []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	out, err := read(ctx, root, "diff-index", "--cached", "--name-only", "-z", "--relative", "--no-renames", "HEAD", "--", folder)
	if err != nil {
		return err
	}
	var stale []string
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if slices.Contains(paths, name) {
			stale = append(stale, name)
		}
	}
	if len(stale) == 0 {
		return nil
	}
	return whenUnlocked(ctx, root, func() error {
		_, err := output(withPaths(ctx, root, stale, slices.Concat(wholeIndex, []string{"reset", "--quiet"})...))
		return err
	})
}
