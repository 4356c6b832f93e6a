//go:build !unix

package store

import (
	"io/fs"
	"os"
)

// lookFor looks at a file.
func lookFor(name string) (fileLook, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return fileLook{}, err
	}
	return lookOf(info), nil
}

// lookAtOpen looks at an open file.
func lookAtOpen(f *os.File) (l fileLook, ok bool) {
	info, err := f.Stat()
	if err != nil {
		return l, false
	}
	return lookOf(info), true
}

func lookOf(info fs.FileInfo) fileLook {
	l := fileLook{size: info.Size(), written: info.ModTime().UnixNano()}
	switch {
	case info.IsDir():
		l.kind = folderKind
	case info.Mode().IsRegular():
		l.kind = regularKind
	}
	return l
}

// inode is unknown here: checkpoints rely on the record alone.
func inode(fs.FileInfo) uint64 { return 0 }

// openShared opens a file for reading, which others may replace or remove meanwhile. On
// Windows nobody can do that to a file that os.Open opened.
func openShared(s *Files, name string) (*os.File, error) { return s.root.Open(name) }
