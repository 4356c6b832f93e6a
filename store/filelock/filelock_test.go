package filelock

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestLock(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	a, b := open(t, name), open(t, name)
	unlock, err := Lock(a, 0)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if _, err := Lock(b, 50*time.Millisecond); !errors.Is(err, ErrHeld) {
		t.Fatalf("a second lock: %v", err)
	}
	if waited := time.Since(begun); waited < 50*time.Millisecond {
		t.Errorf("gave up after %v", waited)
	}
	got := make(chan error)
	go func() {
		unlock, err := Lock(b, 10*time.Second)
		if err == nil {
			err = unlock()
		}
		got <- err
	}()
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Errorf("after the first let go: %v", err)
	}
	// A holder that closes its file without unlocking also releases the lock.
	if _, err := Lock(a, 0); err != nil {
		t.Fatal(err)
	}
	a.Close()
	if _, err := Lock(b, 0); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
	if _, err := Lock(a, 0); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a closed file: %v", err)
	}
}

// TestWith checks that one caller runs at a time, in a folder that With creates, and that
// the error names a lock that another process holds.
func TestWith(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "lock")
	var inside, most atomic.Int32 // the race detector does not know the lock
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := With(file, time.Minute, func() error {
				most.Store(max(most.Load(), inside.Add(1)))
				inside.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := most.Load(); n != 1 {
		t.Errorf("%d at a time", n)
	}
	err := With(file, 0, func() error {
		return With(file, 0, func() error { return errors.New("both have it") })
	})
	if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), file) {
		t.Errorf("a second one: %v", err)
	}
}

// TestNoLocks checks that the error of a file system without locks says what to do.
func TestNoLocks(t *testing.T) {
	for cause, advised := range map[error]bool{syscall.ENOLCK: true, syscall.ENOSYS: true, syscall.EOPNOTSUPP: true, syscall.EIO: false} {
		err := explain(cause)
		if !errors.Is(err, cause) || strings.Contains(err.Error(), "another disk") != advised {
			t.Errorf("%v became %v", cause, err)
		}
	}
}
