package inject

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
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

// ProjectFiles lists the files of a store with a folder for each project: those in
// root/<project>/below that match. If some folders cannot be read, the error names them
// and the list has the rest.
func ProjectFiles(root, below string, match func(fs.DirEntry) bool) (files []string, err error) {
	projects, err := ReadFolder(root)
	for _, p := range projects {
		dir := filepath.Join(root, p.Name(), below)
		entries, e := ReadFolder(dir)
		err = errors.Join(err, e)
		for _, f := range entries {
			if match(f) {
				files = append(files, filepath.Join(dir, f.Name()))
			}
		}
	}
	return files, err
}

// FilesIn lists the regular files in a folder, which need not exist, sorted by name.
func FilesIn(dir string) (files []string, err error) {
	if _, err := os.Lstat(dir); IsAbsent(err) { // cheaper than opening it, and most do not exist
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if IsAbsent(err) { // deleted meanwhile, or a file
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// Upwards yields a folder and those above it, nearest first.
func Upwards(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(dir) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
	}
}

// IsAbsent reports whether an error means that a path, or a folder above it, does not
// exist.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
