//go:build unix

package folders

import (
	"os"

	"golang.org/x/sys/unix"
)

// rename moves a file or folder from one open folder to another. An [os.Root] renames
// only below one folder, and walks from there to both.
func rename(a, b *os.File, from, to string) error {
	return unix.Renameat(int(a.Fd()), from, int(b.Fd()), to)
}
