// Package lines keeps append-only files of lines.
//
// A line is one write that ends in a newline. A writer that dies in the middle
// of it leaves an unterminated tail, which readers pass over and the next writer
// sees with [File.Tail]. What stands in a line is no business of this package.
package lines

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is returned when what stands at a name is no regular file: a
// symlink, a folder, a pipe, a device.
var ErrNotRegular = errors.New("not a regular file")

// A Folder is what [os.Root] can do that is needed here.
type Folder interface {
	Lstat(name string) (fs.FileInfo, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
}

// Open opens a file of root that is a regular one. It neither follows a symlink
// at the end of name nor waits for the other end of a pipe. With [os.O_CREATE] it
// makes the file if there is none; created says whether it did.
func Open(root Folder, name string, flag int, perm fs.FileMode) (f *os.File, info fs.FileInfo, created bool, err error) {
	before, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0 {
		if f, err = root.OpenFile(name, flag|os.O_EXCL, perm); err != nil {
			return nil, nil, false, err
		}
		if info, err = f.Stat(); err != nil {
			_ = f.Close()
			return nil, nil, false, err
		}
		return f, info, true, nil
	}
	if err != nil {
		return nil, nil, false, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, false, notRegular(name, before)
	}
	f, err = root.OpenFile(name, flag&^os.O_CREATE|nonBlocking, 0)
	if err != nil {
		return nil, nil, false, err
	}
	if info, err = f.Stat(); err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%q was replaced while it was opened: try again", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, false, err
	}
	return f, info, false, nil
}

func notRegular(name string, info fs.FileInfo) error {
	return fmt.Errorf("%q is %s: %w", name, Kind(info.Mode()), ErrNotRegular)
}

// Kind names what a mode stands for, with its article.
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

// Calls are the system calls that change a file. A nil one is the system's own;
// a caller that must know what happens when one fails gives others.
type Calls struct {
	Write    func(f *os.File, b []byte) (int, error)
	Sync     func(f *os.File) error // of the content and its length
	Truncate func(f *os.File, size int64) error
}

// A File is a file of lines that is open for appending. Its user holds a lock
// that keeps other writers off.
type File struct {
	f     *os.File
	info  fs.FileInfo // as it was opened: its identity
	size  int64
	dirty bool // what is there may not be on the disk
	calls Calls
}

// OpenAppend opens the file name of root, which is made with mode perm if there
// is none, and reports whether it was.
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

// Size is the length of the file in bytes as of the last Refresh or Append.
func (f *File) Size() int64 { return f.size }

// Is reports whether info describes the file that is open.
func (f *File) Is(info fs.FileInfo) bool { return os.SameFile(f.info, info) }

// Refresh looks at the file again, for what others did to it.
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

// Tail returns the last line if it lacks its newline, and where it begins. A
// file that ends in a newline, or is empty, has none. The text of one that is
// longer than limit is not read.
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

// Append writes line, which ends in a newline, in one write. After a failure
// nothing of it is left, or, where that fails too, a tail without a newline that
// the next writer sees.
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

// Cut takes the bytes from offset on away.
func (f *File) Cut(offset int64) error {
	f.dirty = true
	if err := f.calls.Truncate(f.f, offset); err != nil {
		return err
	}
	f.size = offset
	return nil
}

// Sync makes what is in the file durable, also what another wrote that may have
// died before its own Sync. After a failure it is not known what is on the disk,
// and a second Sync would not tell: what was written is to be cut off and the file
// to be closed and read again.
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
