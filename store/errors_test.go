package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"cortext/schema"
	"cortext/store/internal/lines"
)

// TestAdvice checks that a system error names the file and what to do about it.
func TestAdvice(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC:        "make room",
		syscall.EDQUOT:        "make room",
		syscall.EFBIG:         "ulimit -f",
		syscall.EROFS:         "read-only",
		syscall.EXDEV:         "copy",
		syscall.EACCES:        "permission",
		syscall.EMFILE:        "ulimit -n",
		lines.ErrNotRegular:   "move it away",
		syscall.EIO:           "",
		errors.New("another"): "",
	} {
		err := explain(&fs.PathError{Op: "write", Path: "p", Err: cause})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v became %v", cause, err)
		}
	}
	if explain(nil) != nil {
		t.Error("no error became one")
	}
	s := newTestStore(t)
	c := create(t, s)
	c.Close()
	s.logs.Write = func(f *os.File, b []byte) (int, error) {
		n, _ := f.Write(b[:3])
		return n, &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.ENOSPC}
	}
	_, err := c.Append(thread(0, 1))
	for _, want := range []string{c.Path(), messagesFile, "no space left on device", "make room"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// TestReadOnlyFolder checks that a failed write explains itself and that reading still
// works.
func TestReadOnlyFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: no file modes on Windows")
	}
	if os.Getuid() == 0 && asNobody(t) {
		return // root may write anywhere
	}
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	c.Close()
	for _, name := range []string{c.file(messagesFile), c.dir, c.Path(), conversationsDir + "/" + day} {
		if err := os.Chmod(filepath.Join(s.dir, name), 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(s.dir, name), 0o700)
	}
	if _, err := c.Append(thread(2, 3)); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "permission to read and write") {
		t.Errorf("append: %v", err)
	}
	if _, err := s.Create("plan", "x", &schema.Session{}, nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("create: %v", err)
	}
	if ids, _, _ := history(t, c, Limit{}); len(ids) != 2 {
		t.Errorf("%v", ids)
	}
}
