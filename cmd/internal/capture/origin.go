package capture

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"cortext/cmd/internal/git"
)

// Repositories that were made from one template begin with the same commits, and are
// not clones of each other for all that: what was said in one is none of the other's.
// So a repository that has another remote is captured from only if the user names it.

// maxOrigins is how many clones of clones are followed to where the first came from.
const maxOrigins = 5

// originOf returns what the repository of a folder was cloned from, in one spelling;
// empty if it has no remote. A clone of a folder comes from where that comes from.
func originOf(ctx context.Context, dir string) (origin string) {
	for range maxOrigins {
		remote := git.Origin(ctx, dir)
		if remote == "" {
			return origin
		}
		at, local := folderOf(remote, git.Root(ctx, dir))
		if !local {
			return spelled(remote)
		}
		origin, dir = at, at
		if _, err := os.Stat(dir); err != nil {
			return origin
		}
	}
	return origin
}

// folderOf returns the folder that a remote names; ok is false if it names another
// machine's.
func folderOf(remote, top string) (dir string, ok bool) {
	if rest, ok := strings.CutPrefix(remote, "file://"); ok {
		remote = filepath.FromSlash(rest)
	} else if !filepath.IsAbs(remote) && isElsewhere(remote) {
		return "", false
	}
	if !filepath.IsAbs(remote) {
		remote = filepath.Join(top, remote)
	}
	return strings.TrimSuffix(realDir(remote), string(filepath.Separator)+".git"), true
}

// isElsewhere reports whether a remote is a URL or of the form host:path.
func isElsewhere(remote string) bool {
	colon := strings.IndexByte(remote, ':')
	slash := strings.IndexByte(remote, '/')
	return colon > 0 && (slash < 0 || colon < slash)
}

// spelled returns the host and path of a remote: the same repository can be had in
// several ways.
func spelled(remote string) string {
	host, at := "", ""
	if u, err := url.Parse(remote); err == nil && u.Host != "" {
		host, at = u.Hostname(), u.Path
	} else {
		host, at, _ = strings.Cut(remote, ":")
		host = host[strings.LastIndexByte(host, '@')+1:]
	}
	at = strings.TrimSuffix(strings.Trim(at, "/"), ".git")
	return strings.ToLower(host) + "/" + strings.TrimSuffix(at, "/")
}
