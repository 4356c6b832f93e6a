package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// The lock covers one byte far beyond every record, because on Windows other processes
// cannot read a locked byte.
const lockHigh = 0x7fffffff

func tryLock(f *os.File) error {
	err := control(f, func(h windows.Handle, at *windows.Overlapped) error {
		return windows.LockFileEx(h, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errBusy
	}
	return err
}

func release(f *os.File) error {
	return control(f, func(h windows.Handle, at *windows.Overlapped) error {
		return windows.UnlockFileEx(h, 0, 1, 0, at)
	})
}

func control(f *os.File, call func(windows.Handle, *windows.Overlapped) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var callErr error
	err = conn.Control(func(fd uintptr) {
		callErr = call(windows.Handle(fd), &windows.Overlapped{OffsetHigh: lockHigh})
	})
	if err != nil {
		return err
	}
	return callErr
}
