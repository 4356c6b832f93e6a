package worktrees

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/registry"
)

// Repositories made from one template begin with the same commits but are not clones of
// each other, and their sessions must not mix. So cortext captures from a repository with
// a different remote only if the user names it.

// maxOrigins limits how far a chain of local clones is followed to its origin.
const maxOrigins = 5

// originOf returns what the repository of a folder was cloned from, in a normalized
// spelling, or "" if it has no remote. A clone of a local folder has the origin of that
// folder.
func originOf(ctx context.Context, dir string) (origin string) {
	for range maxOrigins {
		remote := git.Origin(ctx, dir)
		if remote == "" {
			return origin
		}
		at, local := folderOf(remote, git.Root(ctx, dir))
		if !local {
			return git.Spelled(remote)
		}
		origin, dir = at, at
		if _, err := os.Stat(dir); err != nil {
			return origin
		}
	}
	return origin
}

// folderOf returns the folder that a remote names; ok is false if the remote is on
// another machine.
func folderOf(remote, top string) (dir string, ok bool) {
	if rest, ok := strings.CutPrefix(remote, "file://"); ok {
		remote = filepath.FromSlash(rest)
	} else if !filepath.IsAbs(remote) && isElsewhere(remote) {
		return "", false
	}
	if !filepath.IsAbs(remote) {
		remote = filepath.Join(top, remote)
	}
	return strings.TrimSuffix(registry.RealDir(remote), string(filepath.Separator)+".git"), true
}

// isElsewhere reports whether a remote is a URL or of the form host:path.
func isElsewhere(remote string) bool {
	colon := strings.IndexByte(remote, ':')
	slash := strings.IndexByte(remote, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}
