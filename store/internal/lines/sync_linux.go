package lines

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const nonBlocking = unix.O_NONBLOCK

// Datasync makes the content and the length of f durable, but not its times.
func Datasync(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var callErr error
	err = conn.Control(func(fd uintptr) {
		for {
			if callErr = unix.Fdatasync(int(fd)); !errors.Is(callErr, syscall.EINTR) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	if callErr != nil {
		return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: callErr}
	}
	return nil
}
