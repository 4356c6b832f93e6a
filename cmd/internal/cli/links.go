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
	"cortext/inject"
)

// Links in the user's state folder point to this program and to the hook programs beside
// it. The agents' hooks are committed, so they cannot name a folder of one machine. If the
// programs are not on the PATH, hooks find them by these links.
type links struct{ dir string }

// linksOn returns the links on a machine.
func linksOn(m inject.Machine) links {
	return links{filepath.Join(workspace.StateDir(m), "cortext", "bin")}
}

// make points the links to this program and to the hook programs beside it.
func (l links) make() error {
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
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"cortext", "cortext-hook", "cortext-opencode"} {
		target := self
		if name != "cortext" {
			target = filepath.Join(filepath.Dir(self), name)
		}
		if err := linkTo(target, filepath.Join(l.dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// restore creates links that are missing or broken. Only init reports failures.
func (l links) restore() {
	if _, err := os.Stat(filepath.Join(l.dir, "cortext")); errors.Is(err, fs.ErrNotExist) {
		_ = l.make()
	}
}

// staysThere reports whether links to a program work: go run deletes the program
// afterwards, and on Windows not everyone may create links.
func staysThere(program string) bool {
	return runtime.GOOS != "windows" && !strings.Contains(program, "/go-build")
}

// linkTo creates a link to a program, or removes the link if the program does not exist. It
// does not replace anything but links.
func linkTo(target, link string) error {
	switch info, err := os.Lstat(link); {
	case err == nil && info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is not a link: move it away", link)
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
