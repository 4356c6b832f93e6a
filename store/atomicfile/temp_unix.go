//go:build !windows

package atomicfile

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/google/renameio/v2"
)

const canSyncDir = true

// createTemp creates a file in the folder dir of root, named after base, and returns its
// name in root.
func createTemp(root Folder, dir, base string, perm fs.FileMode) (*os.File, string, error) {
	sub, err := root.OpenRoot(dir)
	if err != nil {
		return nil, "", err
	}
	defer sub.Close()
	p, err := renameio.NewPendingFile(base, renameio.WithRoot(sub), renameio.WithPermissions(perm))
	if err != nil {
		return nil, "", err
	}
	return p.File, path.Join(dir, filepath.Base(p.Name())), nil
}

// patiently calls f: here nobody who reads a file prevents its replacement.
func patiently(f func() error) error { return f() }
