//go:build !unix

package store

import "io/fs"

// inode is unknown here: checkpoints rely on the record alone.
func inode(fs.FileInfo) uint64 { return 0 }
