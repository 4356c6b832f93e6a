package git

import (
	"context"
	"net/url"
	"strings"
)

// Origin returns the configured URL of the remote origin of dir's repository, or "".
func Origin(ctx context.Context, dir string) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := read(ctx, dir, "config", "--get", "remote.origin.url")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// replicated reports whether a remote is fetched from another repository than it is pushed to:
// a copy, which may be behind. The ways to reach one repository may differ.
func replicated(ctx context.Context, root, remote string) bool {
	from, err := read(ctx, root, "remote", "get-url", remote)
	to, pushErr := read(ctx, root, "remote", "get-url", "--push", remote)
	return err == nil && pushErr == nil && Spelled(from) != Spelled(to)
}

// Spelled returns the host and path of a remote, because the same repository has several
// URLs.
func Spelled(remote string) string {
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
