// Package filelock lets one process at a time write to a file.
//
// The lock is advisory and belongs to the open file, so it ends with the
// process, however that ends, and holds between two opens of one process too.
// Network file systems are out: some grant such a lock to two machines at once.
//
// It takes an open file, where the lock packages that exist take a path: a path
// is resolved outside of the os.Root that guards the workspace.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// ErrHeld is returned when another held the lock for the whole wait.
var ErrHeld = errors.New("the file is locked")

// errBusy is what tryLock returns while another holds the lock.
var errBusy = errors.New("busy")

// The waits between attempts: short at first, since most holders write one
// record, but never so long that a lock that was let go stays idle.
const (
	firstPause = time.Millisecond
	lastPause  = 25 * time.Millisecond
)

// Lock locks f for this open file alone. It tries again until wait has passed,
// and at least once. What the lock guards is left by calling unlock.
func Lock(f *os.File, wait time.Duration) (unlock func() error, err error) {
	end := time.Now().Add(wait)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := tryLock(f)
		if err == nil {
			return func() error { return release(f) }, nil
		}
		if !errors.Is(err, errBusy) {
			return nil, fmt.Errorf("lock %q: %w", f.Name(), err)
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, ErrHeld
		}
		time.Sleep(min(pause, left))
	}
}

// With calls f while no other process is in a call of With for the same file, which is
// made, with the folders above it, if it is missing. Only the user may read them.
func With(file string, wait time.Duration, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // which lets go of it, too
	if _, err := Lock(lock, wait); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return f()
}
