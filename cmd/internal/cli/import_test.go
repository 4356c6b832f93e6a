package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/inject"
)

// TestProgress: a long import shows its progress on a terminal, and a short one shows
// nothing.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "gone")}
	for i, size := range []int64{10 << 20, 30 << 20} {
		if err := os.WriteFile(files[i], nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(files[i], size); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Unix(0, 0)
	var out bytes.Buffer
	p := progress{out: &out, now: func() time.Time { return now }, show: true}
	p.start(files)
	want := func(text string) {
		t.Helper()
		if got := out.String(); got != text {
			t.Errorf("after %v: %q, want %q", now.Sub(p.began), got, text)
		}
		out.Reset()
	}
	p.update("a", 5<<20, 10<<20)
	p.clear()
	want("")
	now = now.Add(5 * time.Second)
	p.update("a", 10<<20, 10<<20)
	p.update("a", 10<<20, 10<<20) // too soon
	want("\r\x1b[K0 of 3 files, 10 of 40 MB, 15s left")
	p.clear()
	p.clear()
	want("\r\x1b[K")
	p.next(files[0])
	now = now.Add(15 * time.Second)
	p.update("b", 30<<20, 30<<20)
	want("\r\x1b[K1 of 3 files, 40 of 40 MB, 1s left")

	p = progress{out: &out, now: p.now}
	p.start(files)
	now = now.Add(time.Hour)
	p.update("a", 1, 2)
	p.next("a")
	p.clear()
	want("")
}

// TestRenamed: an error about the copy of standard input names that instead, and stays the
// error that it is.
func TestRenamed(t *testing.T) {
	r := &importRun{copied: "/tmp/copy"}
	err := r.shown(fmt.Errorf("import: %w", &inject.FileError{File: "/tmp/copy", Why: "is empty"}))
	if err.Error() != "import: standard input: is empty" || !errors.As(err, new(*inject.FileError)) {
		t.Errorf("%v", err)
	}
}

// TestUnread: an error of reading a file names it.
func TestUnread(t *testing.T) {
	if err := unread("a.json", io.ErrUnexpectedEOF); !strings.HasPrefix(err.Error(), "a.json: became shorter") {
		t.Error(err)
	}
	if err := unread("a.json", errors.New("no such device")); err.Error() != "a.json: no such device" {
		t.Error(err)
	}
	if err := unread("a.json", &fs.PathError{Op: "read", Path: "a.json", Err: errors.New("no such device")}); err.Error() != "read a.json: no such device" {
		t.Error(err)
	}
}
