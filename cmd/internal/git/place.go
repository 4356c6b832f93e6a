package git

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// askTime limits a question about a repository: with a history of a million commits the
// answer may take too long.
const askTime = 5 * time.Second

// Worktrees returns the folders of all work trees of dir's repository, including deleted
// ones; none if there is no repository.
func Worktrees(ctx context.Context, dir string) []string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	end := "\x00"
	out, err := read(ctx, dir, "worktree", "list", "--porcelain", "-z")
	if err != nil { // git before 2.36 does not know -z
		end = "\n"
		out, err = read(ctx, dir, "worktree", "list", "--porcelain")
	}
	if err != nil {
		return nil
	}
	var list []string
	for line := range strings.SplitSeq(out, end) {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			list = append(list, filepath.FromSlash(path))
		}
	}
	return list
}

// Root returns the top folder of the work tree that dir is in, or "".
func Root(ctx context.Context, dir string) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := read(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return ""
	}
	return filepath.FromSlash(strings.TrimSuffix(out, "\n"))
}

// IsShallow reports whether dir is in a shallow clone: its history is cut at commits that
// follow others in other clones.
func IsShallow(dir string) bool {
	common := CommonDir(dir)
	return common != "" && exists(filepath.Join(common, "shallow"))
}

// HasCommit reports whether dir's repository has one of some commits.
func HasCommit(ctx context.Context, dir string, commits []string) bool {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return slices.ContainsFunc(commits, func(c string) bool {
		_, err := read(ctx, dir, "cat-file", "-e", c+"^{commit}")
		return err == nil
	})
}

// FirstCommits returns the root commits of dir's repository, which its clones share. Those of a
// shallow clone are the commits at which its history is cut.
func FirstCommits(ctx context.Context, dir string) []string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := read(ctx, dir, "rev-list", "--max-parents=0", "HEAD", "--")
	if err != nil {
		return nil
	}
	list := strings.Fields(out)
	slices.Sort(list)
	return list
}
