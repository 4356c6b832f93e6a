//go:build !windows

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(f *os.File) error {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errBusy
	}
	return err
}

func release(f *os.File) error { return flock(f, unix.LOCK_UN) }

// flock does not go through f.Fd, which would change the mode of the file.
func flock(f *os.File, how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var callErr error
	err = conn.Control(func(fd uintptr) {
		for {
			if callErr = unix.Flock(int(fd), how); !errors.Is(callErr, unix.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	return callErr
}
