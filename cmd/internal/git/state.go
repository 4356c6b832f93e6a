package git

import (
	"fmt"
	"os"
	"path/filepath"
)

// State returns a fingerprint of what git has put into the work tree that root is in: it
// differs after a checkout, a reset, a stash, a merge or a commit. It costs two looks at
// files and is empty where there is no repository.
func State(root string) string {
	dir := Dir(root)
	if dir == "" {
		return ""
	}
	head, _ := os.ReadFile(filepath.Join(dir, "HEAD"))
	info, err := os.Stat(filepath.Join(dir, "index"))
	if err != nil {
		return string(head)
	}
	return fmt.Sprintf("%s%d %d", head, info.Size(), info.ModTime().UnixNano())
}
