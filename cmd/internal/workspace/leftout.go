package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/shell"
	"cortext/store"
)

// A LeftOutError is a [store.ErrNoWorkspace] of a folder whose workspace git has, but which the
// sparse checkout leaves out.
type LeftOutError struct{ Root string }

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("the workspace of %s is outside of the sparse checkout: %s", e.Root, shell.Quote("git", "-C", e.Root, "sparse-checkout", "add", ".workspace"))
}

func (e *LeftOutError) Unwrap() error { return store.ErrNoWorkspace }

// WantCheckedOut returns a [*LeftOutError] if a sparse checkout leaves out the workspace of a
// folder, or of one of its parents.
func WantCheckedOut(ctx context.Context, dir string) error {
	repository := git.Dir(dir)
	if _, err := os.Lstat(filepath.Join(repository, "info", "sparse-checkout")); repository == "" || err != nil {
		return nil
	}
	for at := dir; git.Dir(at) == repository; at = filepath.Dir(at) {
		if files, err := git.Sparse(ctx, at, ".workspace"); err == nil && len(files) > 0 {
			if _, err := store.Find(at); err != nil {
				return &LeftOutError{at}
			}
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return nil
}
