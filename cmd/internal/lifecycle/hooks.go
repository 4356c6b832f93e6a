package lifecycle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Hooks is the content of a workspace's [Dir] at one moment. [Read] reads it for showing,
// allowing and running programs alike.
type Hooks struct {
	Files map[string]File `json:"files"` // by path relative to Dir, with slashes
}

// A File is a program, or a file beside a program, which the program may read.
type File struct {
	Sum  string `json:"sha256"`         // of its content, in hexadecimal
	Exec bool   `json:"exec,omitempty"` // executable
}

// A linkError reports something in the path or content of [Dir] that is neither a folder
// nor a regular file. The target of a link could change unseen, so nothing runs.
type linkError struct{ Path string }

func (e *linkError) Error() string {
	return fmt.Sprintf("%s is a link or a special file: no program in %s runs until you replace it with a file or folder", e.Path, Dir)
}

// Read reads the hooks of a workspace: the name, content and permission of every file
// below [Dir]. The path to the workspace itself may contain symlinks.
func Read(root string) (Hooks, error) {
	h := Hooks{map[string]File{}}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return h, err
	}
	defer dir.Close()
	for _, name := range []string{path.Dir(Dir), Dir} {
		info, err := dir.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return h, nil
		}
		if err != nil {
			return h, err
		}
		if !info.IsDir() {
			return h, &linkError{name}
		}
	}
	err = fs.WalkDir(dir.FS(), Dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !d.Type().IsRegular() {
			return &linkError{name}
		}
		h.Files[strings.TrimPrefix(name, Dir+"/")], err = readFile(dir, name)
		return err
	})
	return h, err
}

// readFile reads a file and makes sure that it has not changed since it was listed.
func readFile(dir *os.Root, name string) (File, error) {
	listed, err := dir.Lstat(name)
	if err != nil {
		return File{}, err
	}
	if !listed.Mode().IsRegular() {
		return File{}, &linkError{name}
	}
	f, err := dir.Open(name)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if !os.SameFile(listed, info) {
		return File{}, fmt.Errorf("%s changed while it was read: try again", name)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return File{}, fmt.Errorf("%s: %w", name, err)
	}
	return File{hex.EncodeToString(sum.Sum(nil)), info.Mode()&0o111 != 0}, nil
}

// Programs lists the files that run, by event and name.
func (h Hooks) Programs() []string {
	var list []string
	for _, event := range events() {
		for _, name := range slices.Sorted(maps.Keys(h.Files)) {
			if dir, base := path.Split(name); dir == event+".d/" && h.runs(name, base) {
				list = append(list, name)
			}
		}
	}
	return list
}

// Others lists the files that do not run but that programs may read.
func (h Hooks) Others() []string {
	programs := h.Programs()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(h.Files)), func(name string) bool { return slices.Contains(programs, name) })
}

// runs tells programs from notes, backups and samples beside them.
func (h Hooks) runs(name, base string) bool {
	if strings.HasPrefix(base, ".") || strings.HasSuffix(base, "~") || strings.HasSuffix(base, ".sample") {
		return false
	}
	return runtime.GOOS == "windows" || h.Files[name].Exec
}

// Same reports whether both have the same files, contents and permissions.
func (h Hooks) Same(other Hooks) bool { return maps.Equal(h.Files, other.Files) }
