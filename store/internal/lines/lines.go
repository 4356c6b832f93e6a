// Package lines keeps append-only files of lines.
//
// A line is one write that ends in a newline. A writer that dies in the middle of a line
// leaves an unterminated tail, which readers skip and the next writer finds with
// [File.Tail]. The package does not interpret the content of lines.
package lines

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular means that a name is not that of a regular file but of a symlink, a
// folder, a pipe or a device.
var ErrNotRegular = errors.New("not a regular file")

// A Folder has the methods of [os.Root] that this package needs.
type Folder interface {
	Lstat(name string) (fs.FileInfo, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
}

// openTries bounds how often a file is opened again because it was replaced meanwhile, as
// git and writers of whole files do.
const openTries = 100

// Open opens a regular file of root. It neither follows a symlink at the end of name nor
// waits for the other end of a pipe. With [os.O_CREATE] it creates a missing file;
// created reports whether it did.
func Open(root Folder, name string, flag int, perm fs.FileMode) (f *os.File, info fs.FileInfo, created bool, err error) {
	for range openTries {
		before, err := root.Lstat(name)
		create := errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0
		switch {
		case create:
			f, err = root.OpenFile(name, flag|os.O_EXCL, perm)
		case err != nil:
		case !before.Mode().IsRegular():
			err = notRegular(name, before)
		default:
			f, err = root.OpenFile(name, flag&^os.O_CREATE|nonBlocking, 0)
		}
		if err != nil {
			return nil, nil, false, err
		}
		info, err := f.Stat()
		if err == nil && (create || os.SameFile(before, info)) {
			return f, info, create, nil
		}
		_ = f.Close()
		if err != nil {
			return nil, nil, false, err
		}
	}
	return nil, nil, false, fmt.Errorf("%q was replaced each time it was opened: run it again when nothing else works there", name)
}

func notRegular(name string, info fs.FileInfo) error {
	return fmt.Errorf("%q is %s: %w", name, Kind(info.Mode()), ErrNotRegular)
}

// Kind describes the file type of a mode, with its article.
func Kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "a file"
	case fs.ModeDir:
		return "a folder"
	case fs.ModeSymlink:
		return "a symlink"
	case fs.ModeNamedPipe:
		return "a named pipe"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

// Calls are the system calls that change a file. A nil field means the system's own call;
// a test may set another to simulate a failure.
type Calls struct {
	Write    func(f *os.File, b []byte) (int, error)
	Sync     func(f *os.File) error // content and length
	Truncate func(f *os.File, size int64) error
}

// A File is a file of lines open for appending. Its user must hold a lock that excludes
// other writers.
type File struct {
	f     *os.File
	info  fs.FileInfo // from when it was opened: its identity
	size  int64
	dirty bool // the content may not be on disk
	calls Calls
}

// OpenAppend opens the file name in root, or creates it with mode perm if it is missing.
// created reports whether it did.
func OpenAppend(root Folder, name string, perm fs.FileMode, calls Calls) (f *File, created bool, err error) {
	if calls.Write == nil {
		calls.Write = (*os.File).Write
	}
	if calls.Sync == nil {
		calls.Sync = Datasync
	}
	if calls.Truncate == nil {
		calls.Truncate = (*os.File).Truncate
	}
	osFile, info, created, err := Open(root, name, os.O_RDWR|os.O_APPEND|os.O_CREATE, perm)
	if err != nil {
		return nil, false, err
	}
	return &File{f: osFile, info: info, size: info.Size(), dirty: true, calls: calls}, created, nil
}

// File returns the open file.
func (f *File) File() *os.File { return f.f }

// Close closes the file.
func (f *File) Close() error { return f.f.Close() }

// Size returns the length of the file in bytes as of the last Refresh or Append.
func (f *File) Size() int64 { return f.size }

// Is reports whether info describes the open file.
func (f *File) Is(info fs.FileInfo) bool { return os.SameFile(f.info, info) }

// Refresh looks at the file again to detect changes by others.
func (f *File) Refresh() (fs.FileInfo, error) {
	info, err := f.f.Stat()
	if err == nil {
		f.dirty = f.dirty || f.size != info.Size()
		f.size = info.Size()
	}
	return info, err
}

// ReadAt reads from the file.
func (f *File) ReadAt(b []byte, off int64) (int, error) { return f.f.ReadAt(b, off) }

// Tail returns the last line and its offset if the line lacks its newline. A file that is
// empty or ends in a newline has no tail. If the line is longer than limit, its text is
// not read.
func (f *File) Tail(limit int64) (offset int64, text []byte, err error) {
	if f.size == 0 {
		return 0, nil, nil
	}
	var last [1]byte
	if _, err := f.f.ReadAt(last[:], f.size-1); err != nil {
		return 0, nil, err
	}
	if last[0] == '\n' {
		return f.size, nil, nil
	}
	for line, err := range Backward(f.f, f.size, limit) {
		return line.Offset, line.Text, err
	}
	return f.size, nil, nil
}

// Append writes line, which ends in a newline, in one write. After a failure it removes
// what it wrote. If that fails too, an unterminated tail stays for the next writer to
// find.
func (f *File) Append(line []byte) error {
	f.dirty = true
	n, err := f.calls.Write(f.f, line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if n > 0 {
			err = errors.Join(err, f.calls.Truncate(f.f, f.size))
		}
		return err
	}
	f.size += int64(n)
	return nil
}

// Cut removes the bytes from offset on.
func (f *File) Cut(offset int64) error {
	f.dirty = true
	if err := f.calls.Truncate(f.f, offset); err != nil {
		return err
	}
	f.size = offset
	return nil
}

// Sync makes the content of the file durable, including what another process wrote and
// may not have synced before it died. After a failure the state of the disk is unknown,
// and a second Sync would not show it: cut off what was written, close the file and read
// it again.
func (f *File) Sync() error {
	if !f.dirty {
		return nil
	}
	if err := f.calls.Sync(f.f); err != nil {
		return err
	}
	f.dirty = false
	return nil
}
