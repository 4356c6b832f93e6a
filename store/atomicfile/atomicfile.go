// Package atomicfile replaces a file so that readers see either the old content or the
// new, complete, even after a crash.
//
// Everything happens inside one [Folder], such as an [os.Root], so no symlink leads a
// write out of it. The order is: temporary file, write, fsync, rename, fsync of the
// directory. renameio (v2.0.2) creates the temporary file but does not do the rest.
// Within an os.Root it puts that file at the top of the root and cannot rename it into
// any folder other than the one it was made for. Without an os.Root it follows symlinks out
// of the workspace. It never syncs the directory, so a power cut may undo the
// replacement. On Windows it exports nothing.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
)

// A Folder has the methods of [os.Root] that this package needs.
type Folder interface {
	Lstat(name string) (fs.FileInfo, error)
	Open(name string) (*os.File, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	OpenRoot(name string) (*os.Root, error)
	Remove(name string) error
	RemoveAll(name string) error
	Rename(from, to string) error
}

// Calls are the system calls that make up a replacement, or a removal. A nil field means the
// system's own call; a test may set another to simulate a failure.
type Calls struct {
	Write     func(f *os.File, b []byte) (int, error)
	Chmod     func(f *os.File, mode fs.FileMode) error
	Sync      func(f *os.File) error // called for the file, then for its directory
	Rename    func(root Folder, from, to string) error
	Remove    func(root Folder, name string) error
	RemoveAll func(root Folder, name string) error

	// NoSync omits the syncs, for a file that can be rebuilt or is synced later.
	NoSync bool
}

func (c Calls) write(f *os.File, b []byte) (int, error) {
	if c.Write != nil {
		return c.Write(f, b)
	}
	return f.Write(b)
}

// SetMode sets the mode of an open file.
func (c Calls) SetMode(f *os.File, mode fs.FileMode) error {
	if c.Chmod != nil {
		return c.Chmod(f, mode)
	}
	return f.Chmod(mode)
}

// KeepsMode reports whether the error of a chmod says that the file keeps its mode: it belongs
// to another user, or its file system has no modes.
func KeepsMode(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)
}

func (c Calls) sync(f *os.File) error {
	if c.NoSync {
		return nil
	}
	if c.Sync != nil {
		return c.Sync(f)
	}
	return f.Sync()
}

func (c Calls) rename(root Folder, from, to string) error {
	if c.Rename != nil {
		return c.Rename(root, from, to)
	}
	return patiently(func() error { return root.Rename(from, to) })
}

// Write replaces the file name in root with data; see [Calls.Replace].
func Write(root Folder, name string, data []byte, perm fs.FileMode, tmpDir string) error {
	_, err := Calls{}.Replace(root, name, data, perm, tmpDir)
	return err
}

// Replace replaces the file name in root with data, or creates it. name and tmpDir, the
// folder for the temporary file, are relative to root, spelled with slashes, and on the
// same file system. A new file has the mode perm minus the umask; an existing file keeps
// its mode minus the bits that perm lacks. Replace fails if name is not a regular file.
//
// On an error the old content stays, with one exception: if the directory could not be
// synced, the new content is in place but may be lost in a power cut. info describes the
// new file, whatever has its name by now.
func (c Calls) Replace(root Folder, name string, data []byte, perm fs.FileMode, tmpDir string) (info fs.FileInfo, err error) {
	old, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return nil, err
	case !old.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file (%s): move it away first", name, old.Mode().Type())
	}
	f, tmp, err := createTemp(root, tmpDir, path.Base(name), perm)
	if err != nil {
		return nil, fmt.Errorf("make a temporary file for %q: %w", name, err)
	}
	defer func() {
		if err != nil && tmp != "" {
			_ = f.Close()
			_ = root.Remove(tmp)
		}
	}()
	if old != nil {
		if err := c.SetMode(f, old.Mode().Perm()&perm); err != nil && !KeepsMode(err) {
			return nil, fmt.Errorf("write %q: %w", name, err)
		}
	}
	n, err := c.write(f, data)
	if err == nil && n < len(data) {
		err = errors.New("short write")
	}
	if err == nil {
		err = c.sync(f) // or a power cut may leave the new name on an empty file
	}
	if err == nil {
		info, err = f.Stat()
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("write %q: %w", name, err)
	}
	if err := c.rename(root, tmp, name); err != nil {
		return nil, fmt.Errorf("replace %q: %w", name, err)
	}
	tmp = ""
	return info, c.SyncDir(root, path.Dir(name))
}

// RenameIn renames a file or folder of root. Call [Calls.SyncDir] on the folders to make
// that durable.
func (c Calls) RenameIn(root Folder, from, to string) error { return c.rename(root, from, to) }

// RemoveIn removes a file or an empty folder of root.
func (c Calls) RemoveIn(root Folder, name string) error {
	if c.Remove != nil {
		return c.Remove(root, name)
	}
	return root.Remove(name)
}

// RemoveAllIn removes a file or folder of root, with everything in it. Call [Calls.SyncDir]
// on its folder to make that durable.
func (c Calls) RemoveAllIn(root Folder, name string) error {
	if c.RemoveAll != nil {
		return c.RemoveAll(root, name)
	}
	return root.RemoveAll(name)
}

// SyncDir is the function [SyncDir] using c.Sync.
func (c Calls) SyncDir(root Folder, name string) error {
	if !canSyncDir || c.NoSync {
		return nil
	}
	d, err := root.Open(name)
	if err != nil {
		return err
	}
	return c.SyncOpenDir(d, name)
}

// SyncOpenDir is SyncDir for an open directory, which it closes. Some file systems, mostly
// network ones, cannot sync directories: that is not an error.
func (c Calls) SyncOpenDir(d *os.File, name string) error {
	if !canSyncDir || c.NoSync {
		return d.Close()
	}
	err := c.syncAndClose(d, name)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

// SyncFile makes a file of root durable, but not its name.
func (c Calls) SyncFile(root Folder, name string) error {
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return c.syncAndClose(f, name)
}

func (c Calls) syncAndClose(f *os.File, name string) error {
	if err := errors.Join(c.sync(f), f.Close()); err != nil {
		return fmt.Errorf("sync %q: %w", name, err)
	}
	return nil
}

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
