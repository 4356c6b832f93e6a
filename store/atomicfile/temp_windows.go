package atomicfile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
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

// patiently calls f again, for two seconds in all, while another program has the file open
// that f is to replace. git, editors and virus scanners open files in such a way that nobody
// can replace them meanwhile, and close them soon.
func patiently(f func() error) error {
	err := f()
	for wait := time.Millisecond; wait < 1100*time.Millisecond && (errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)); wait *= 2 {
		time.Sleep(wait)
		err = f()
	}
	return err
}
