package git

import (
	"context"
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
