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
	l = look{size: info.Size(), written: info.ModTime().UnixNano()}
	switch {
	case info.IsDir():
		l.kind = folderKind
	case info.Mode().IsRegular():
		l.kind = regularKind
	}
	return l, true
}

// inode is unknown here: checkpoints rely on the record alone.
func inode(fs.FileInfo) uint64 { return 0 }
