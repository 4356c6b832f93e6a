// Package folders opens files below one folder like [os.Root], but without walking to
// each of them from the top.
//
// An os.Root opens every folder on the way to a file on each call: nine opens for one
// file of a conversation. A [Root] keeps the folders it used last, and checks before each
// use that the name still leads to the same folder, because git may have replaced it.
package folders

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// most is the number of folders that a Root keeps open. On Windows it keeps none, because
// an open folder cannot be renamed or removed there.
const most = 32

// A Root is a folder that all its methods stay below: no symlink leads out of it. Names
// are relative to it, spelled with slashes. Several goroutines may use it.
type Root struct {
	top  *os.Root
	dir  string
	info fs.FileInfo // of dir

	mu   sync.Mutex
	kept []*folder // most recently used first
}

// A folder is an open folder.
type folder struct {
	name   string
	root   *os.Root
	info   fs.FileInfo
	handle func() (*os.File, error) // of root, opened only once

	users int
	gone  bool // no longer kept: its last user closes it
}

// Open opens the folder dir, an absolute path.
func Open(dir string) (*Root, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	info, err := top.Stat(".")
	if err != nil {
		_ = top.Close()
		return nil, err
	}
	return &Root{top: top, dir: dir, info: info}, nil
}

// Close closes the folder; its methods fail afterwards.
func (r *Root) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.kept {
		r.leave(f)
	}
	r.kept = nil
	return r.top.Close()
}

// leave stops keeping a folder.
func (r *Root) leave(f *folder) {
	f.gone = true
	if f.users == 0 {
		f.close()
	}
}

func (f *folder) close() {
	_ = f.root.Close() // handle now fails, unless it was called before
	if h, err := f.handle(); err == nil {
		_ = h.Close()
	}
}

// in calls f with the folder that contains name, and the name within it. Errors contain
// the whole name.
func (r *Root) in(name string, f func(root *os.Root, base string) error) error {
	dir := path.Dir(name)
	if runtime.GOOS == "windows" && strings.Contains(name, ":") { // which no file there has in its name
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if dir == "." || runtime.GOOS == "windows" {
		return f(r.top, name)
	}
	at, err := r.use(dir)
	if errors.Is(err, fs.ErrNotExist) && r.inPlace() {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	if errors.Is(err, errNoFolder) {
		return &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return f(r.top, name) // its error says what is wrong
	}
	defer r.release(at)
	err = f(at.root, path.Base(name))
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) && pathErr.Path == path.Base(name) {
		pathErr.Path = name
	}
	return err
}

// inPlace reports whether the folder is still where it was opened.
func (r *Root) inPlace() bool {
	now, err := os.Lstat(r.dir)
	return err == nil && os.SameFile(now, r.info)
}

// errNoFolder means that something other than a folder is at a path. An os.Root
// would open it, and wait for the other end if it is a pipe.
var errNoFolder = errors.New("not a folder")

// use returns an open folder. The caller must release it.
func (r *Root) use(dir string) (*folder, error) {
	now, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(dir)))
	if err != nil {
		return nil, err
	}
	if now.Mode()&fs.ModeSymlink != 0 {
		if to, err := os.Stat(filepath.Join(r.dir, filepath.FromSlash(dir))); err == nil && !to.IsDir() {
			return nil, errNoFolder
		}
	} else if !now.IsDir() {
		return nil, errNoFolder
	}
	if f := r.find(dir, now); f != nil {
		return f, nil
	}
	f := &folder{name: dir, users: 1}
	if f.root, err = r.OpenRoot(dir); err != nil { // through its parent, which is kept, too
		return nil, err
	}
	f.handle = sync.OnceValues(func() (*os.File, error) { return f.root.Open(".") })
	if f.info, err = f.root.Stat("."); err != nil {
		_ = f.root.Close()
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = slices.Insert(r.kept, 0, f)
	if len(r.kept) > most {
		r.leave(r.kept[most])
		r.kept = r.kept[:most]
	}
	return f, nil
}

// find returns the kept folder of a name if the name still leads to it. now describes the
// folder that the name leads to.
func (r *Root) find(dir string, now fs.FileInfo) *folder {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.kept, func(f *folder) bool { return f.name == dir })
	if i < 0 {
		return nil
	}
	f := r.kept[i]
	r.kept = slices.Delete(r.kept, i, i+1)
	if !os.SameFile(f.info, now) {
		r.leave(f)
		return nil
	}
	r.kept = slices.Insert(r.kept, 0, f)
	f.users++
	return f
}

func (r *Root) release(f *folder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.users--; f.users == 0 && f.gone {
		f.close()
	}
}

// Lstat is [os.Root.Lstat].
func (r *Root) Lstat(name string) (info fs.FileInfo, err error) {
	err = r.in(name, func(root *os.Root, base string) error { info, err = root.Lstat(base); return err })
	return info, err
}

// Readlink is [os.Root.Readlink].
func (r *Root) Readlink(name string) (target string, err error) {
	err = r.in(name, func(root *os.Root, base string) error { target, err = root.Readlink(base); return err })
	return target, err
}

// Open is [os.Root.Open].
func (r *Root) Open(name string) (*os.File, error) { return r.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile is [os.Root.OpenFile].
func (r *Root) OpenFile(name string, flag int, perm fs.FileMode) (f *os.File, err error) {
	err = r.in(name, func(root *os.Root, base string) error { f, err = root.OpenFile(base, flag, perm); return err })
	return f, err
}

// OpenRoot is [os.Root.OpenRoot].
func (r *Root) OpenRoot(name string) (sub *os.Root, err error) {
	err = r.in(name, func(root *os.Root, base string) error { sub, err = root.OpenRoot(base); return err })
	return sub, err
}

// ReadDir reads a folder, sorted by name.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	d, err := r.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// Mkdir is [os.Root.Mkdir].
func (r *Root) Mkdir(name string, perm fs.FileMode) error {
	return r.in(name, func(root *os.Root, base string) error { return root.Mkdir(base, perm) })
}

// Remove is [os.Root.Remove].
func (r *Root) Remove(name string) error {
	return r.in(name, func(root *os.Root, base string) error { return root.Remove(base) })
}

// RemoveAll is [os.Root.RemoveAll].
func (r *Root) RemoveAll(name string) error {
	return r.in(name, func(root *os.Root, base string) error { return root.RemoveAll(base) })
}

// Chmod is [os.Root.Chmod].
func (r *Root) Chmod(name string, mode fs.FileMode) error {
	return r.in(name, func(root *os.Root, base string) error { return root.Chmod(base, mode) })
}

// Chtimes is [os.Root.Chtimes].
func (r *Root) Chtimes(name string, atime, mtime time.Time) error {
	return r.in(name, func(root *os.Root, base string) error { return root.Chtimes(base, atime, mtime) })
}

// Rename is [os.Root.Rename].
func (r *Root) Rename(from, to string) error {
	if runtime.GOOS == "windows" {
		return r.top.Rename(from, to)
	}
	if path.Dir(from) == path.Dir(to) {
		return r.in(from, func(root *os.Root, base string) error {
			return root.Rename(base, path.Join(path.Dir(base), path.Base(to)))
		})
	}
	a, errA := r.use(path.Dir(from))
	if errA == nil {
		defer r.release(a)
	}
	b, errB := r.use(path.Dir(to))
	if errB == nil {
		defer r.release(b)
	}
	if errA != nil || errB != nil {
		return r.top.Rename(from, to)
	}
	dirA, errA := a.handle()
	dirB, errB := b.handle()
	if errA != nil || errB != nil {
		return r.top.Rename(from, to)
	}
	if err := rename(dirA, dirB, path.Base(from), path.Base(to)); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
