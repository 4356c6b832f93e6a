package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// WriteLinked replaces a file of the user's, outside a workspace, or creates it and its
// parent folders, for the user alone. A symbolic link stays a link, because some users keep
// their settings elsewhere. An existing file keeps its mode.
func WriteLinked(file string, data []byte) error {
	perm := fs.FileMode(0o600)
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		perm = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	return Write(dir, filepath.Base(file), data, perm, ".")
}
