//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// inode returns the number by which the file system knows a file.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}
