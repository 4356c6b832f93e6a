//go:build !unix

package store

import (
	"io/fs"
	"os"
)

// lookAt looks at a file. ok is false if there is none.
func lookAt(name string) (l look, ok bool) {
	info, err := os.Lstat(name)
	if err != nil {
		return l, false
	}
	return lookOf(info), true
}

// lookAtOpen looks at an open file.
func lookAtOpen(f *os.File) (l look, ok bool) {
	info, err := f.Stat()
	if err != nil {
		return l, false
	}
	return lookOf(info), true
}

func lookOf(info fs.FileInfo) look {
	l := look{size: info.Size(), written: info.ModTime().UnixNano()}
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
