//go:build !unix

package store

import "io/fs"

// inode is not known here: a checkpoint goes by the record alone.
func inode(fs.FileInfo) uint64 { return 0 }
