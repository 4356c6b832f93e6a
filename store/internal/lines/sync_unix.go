//go:build !linux && !windows

package lines

import (
	"os"

	"golang.org/x/sys/unix"
)

const nonBlocking = unix.O_NONBLOCK

func Datasync(f *os.File) error { return f.Sync() }
