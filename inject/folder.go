package inject

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A StoreError reports a folder or file of an agent's store that cannot be read.
type StoreError struct {
	Path string
	Err  error
}

func (e *StoreError) Error() string {
	err := e.Err
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Sprintf("%s: cannot be read, so the sessions in it are not found (%v): make it readable and try again", e.Path, err)
}

func (e *StoreError) Unwrap() error { return e.Err }

// ReadFolder lists a folder of an agent's store. A folder that does not exist, or is
// not a folder, is empty. Any other error is a [StoreError].
func ReadFolder(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if IsAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return entries, &StoreError{dir, err}
	}
	return entries, nil
}

// IsAbsent reports whether an error means that a path, or a folder above it, does not
// exist.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
