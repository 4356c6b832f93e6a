//go:build unix

package store

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// lookFor looks at a file.
func lookFor(name string) (fileLook, error) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return fileLook{}, err
	}
	return lookOf(&st), nil
}

// lookAtOpen looks at an open file.
func lookAtOpen(f *os.File) (l fileLook, ok bool) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return l, false
	}
	return lookOf(&st), true
}

func lookOf(st *unix.Stat_t) fileLook {
	l := fileLook{inode: uint64(st.Ino), size: st.Size, written: st.Mtim.Nano(), changed: st.Ctim.Nano()}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFDIR:
		l.kind = folderKind
	case unix.S_IFREG:
		l.kind = regularKind
	}
	return l
}

// inode returns the file system's number for a file.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// openShared opens a file for reading, which others may replace or remove meanwhile. It does
// not use the folders that s keeps open, because it is called for many files.
func openShared(s *Files, name string) (*os.File, error) {
	return os.Open(filepath.Join(s.dir, filepath.FromSlash(name)))
}
