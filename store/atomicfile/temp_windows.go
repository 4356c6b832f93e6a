package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
)

// canSyncDir is false because Windows has no fsync for directories: NTFS journals names
// itself.
const canSyncDir = false

// createTemp creates a file in the folder dir of root, named after base, and returns its
// name in root. renameio does not support Windows.
func createTemp(root Folder, dir, base string, perm fs.FileMode) (*os.File, string, error) {
	for {
		name := path.Join(dir, "."+base+strconv.FormatUint(rand.Uint64(), 10))
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
}
