package git

import (
	"fmt"
	"os"
	"path/filepath"
)

// State returns a fingerprint of root's checkout, or "" without a repository. It changes
// after a checkout, reset, stash, merge or commit, and looks at only three files.
func State(root string) string {
	dir := Dir(root)
	if dir == "" {
		return ""
	}
	head, err := os.ReadFile(filepath.Join(dir, "reftable", "tables.list"))
	if err != nil {
		head, _ = os.ReadFile(filepath.Join(dir, "HEAD"))
	}
	info, err := os.Stat(filepath.Join(dir, "index"))
	if err != nil {
		return string(head)
	}
	return fmt.Sprintf("%s%d %d", head, info.Size(), info.ModTime().UnixNano())
}
