// Package filelock lets one process at a time write to a file.
//
// The lock is advisory and belongs to the open file, so it ends with the process, however
// that ends, and it also works between two opens in one process. Do not use it on network
// file systems: some grant such a lock to two machines at once.
//
// It takes an open file. Existing lock packages take a path, which they would resolve
// outside the os.Root that guards the workspace.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrHeld means that another holder kept the lock for the whole wait.
var ErrHeld = errors.New("the file is locked")

// errBusy means that tryLock found the lock held.
var errBusy = errors.New("busy")

// The waits between attempts: short at first, since most holders write one record, and
// bounded, so that a released lock does not stay idle for long, and so that someone who waits
// among processes that lock again and again gets a turn.
const (
	firstPause = time.Millisecond
	lastPause  = 4 * time.Millisecond
)

// Lock locks f for this open file alone. It tries at least once, and again until wait has
// passed. Call unlock to release the lock.
func Lock(f *os.File, wait time.Duration) (unlock func() error, err error) {
	end := time.Now().Add(wait)
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := tryLock(f)
		if err == nil {
			return func() error { return release(f) }, nil
		}
		if !errors.Is(err, errBusy) {
			return nil, fmt.Errorf("lock %q: %w", f.Name(), explain(err))
		}
		left := time.Until(end)
		if left <= 0 {
			return nil, ErrHeld
		}
		time.Sleep(min(pause, left))
	}
}

// explain adds advice to the error of a file system without locks.
func explain(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return fmt.Errorf("%w: its file system has no locks: mount it with them, or move the folder to another disk", err)
	}
	return err
}

// With calls f while no other process is in a call of With for the same file. It creates
// the file and its parent folders if they are missing, readable by the user only.
func With(file string, wait time.Duration, f func() error) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // releases the lock, too
	if _, err := Lock(lock, wait); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return f()
}
