package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"cortext/cmd/internal/workspace"
)

// The agents' hooks are committed, so they cannot name a folder of one machine. If the
// programs are not on the PATH, hooks find them by links in the user's state folder.

// linkFolder returns the folder of the links.
func (a *app) linkFolder() string {
	return filepath.Join(workspace.StateDir(a.machine()), "cortext", "bin")
}

// linkPrograms points the links to this program and to the hook program beside it.
func (a *app) linkPrograms() error {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return err
	}
	if !staysThere(self) {
		return nil
	}
	dir := a.linkFolder()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"cortext", "cortext-hook"} {
		target := self
		if name != "cortext" {
			target = filepath.Join(filepath.Dir(self), name)
		}
		if err := linkTo(target, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// staysThere reports whether a program can be linked to: go run removes what it built,
// and on Windows not everyone may create links.
func staysThere(program string) bool {
	return runtime.GOOS != "windows" && !strings.Contains(program, "/go-build")
}

// linkTo creates a link to a program, or removes it if there is no such program. It
// leaves alone what is not a link.
func linkTo(target, link string) error {
	switch info, err := os.Lstat(link); {
	case err == nil && info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is no link: move it away", link)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
		if err := os.Remove(link); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if to, err := os.Readlink(link); err == nil && to == target {
		return nil
	}
	// A concurrent hook finds either the old link or the new one.
	fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
	if err := os.Symlink(target, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, link); err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	return nil
}

// relink creates links that are missing or broken. The command ignores a failure, since
// it has done its work; init reports it.
func (a *app) relink() {
	if _, err := os.Stat(filepath.Join(a.linkFolder(), "cortext")); errors.Is(err, fs.ErrNotExist) {
		_ = a.linkPrograms()
	}
}
