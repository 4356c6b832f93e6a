package registry

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"cortext/schema"
	"cortext/store/atomicfile"
	"cortext/store/filelock"
)

// files are the files of a registry, which hold JSON.
type files struct{ dir string }

var errNoHome = errors.New("cannot find this user's state folder: set HOME")

// known reports whether the user's state folder is known. Otherwise names would be relative
// to the current folder.
func (f files) known() bool { return filepath.IsAbs(f.dir) }

// path returns the path of a file or folder.
func (f files) path(names ...string) string {
	return filepath.Join(append([]string{f.dir}, names...)...)
}

// file returns the path of a file in a folder, named by a key.
func (f files) file(folder, key string) string {
	return filepath.Join(f.dir, folder, schema.PathElement(key)+".json")
}

// read reads a file into v; ok is false if no readable file exists.
func (f files) read(name string, v any) (ok bool) {
	if !f.known() {
		return false
	}
	b, err := readFile(name)
	return err == nil && json.Unmarshal(b, v) == nil
}

// readFile reads a file. Anything else in its place, such as a pipe, is an error, not a wait.
func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name) // costs less than opening it: most files do not exist
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// readAny reads a file into v, if the file exists: most do not. The error about one that cannot
// be read ends with advice.
func readAny(name string, v any, advice string) error {
	b, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, advice)
	}
	return nil
}

// write replaces a file with the JSON of v.
func (f files) write(name string, v any) error {
	if !f.known() {
		return errNoHome
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.replace(name, b, atomicfile.Calls{})
}

// replace replaces a file with calls.
func (f files) replace(name string, b []byte, calls atomicfile.Calls) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = calls.Replace(root, filepath.Base(name), append(b, '\n'), 0o600, ".")
	return err
}

// lockWait is how long a writer waits for another writer.
const lockWait = 5 * time.Second

// locked calls do while no other process changes the registry.
func (f files) locked(do func() error) error {
	if !f.known() {
		return errNoHome
	}
	return filelock.With(filepath.Join(f.dir, "lock"), lockWait, do)
}
