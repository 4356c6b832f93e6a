package git

import (
	"context"
	"strconv"
	"strings"
)

// HeadSize returns the length of a file in the last commit without reading it. The path
// is relative to root, with slashes. An error means only that git cannot tell: the commit
// has no such file, or its content is not on this machine.
func HeadSize(ctx context.Context, root, path string) (int64, error) {
	if Dir(root) == "" {
		return 0, ErrNoRepository
	}
	out, err := read(ctx, root, "cat-file", "-s", "HEAD:./"+path)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(out), 10, 64)
}
