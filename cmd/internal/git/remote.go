package git

import (
	"context"
	"strings"
)

// Origin returns the URL of the remote origin of the repository that dir is in, as it
// is configured; empty where there is none.
func Origin(ctx context.Context, dir string) string {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	out, err := read(ctx, dir, "config", "--get", "remote.origin.url")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}
