package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// openRoot returns a root with a folder for temporary files and one to write to.
func openRoot(t *testing.T) *os.Root {
	t.Helper()
	r, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	for _, dir := range []string{"tmp", "d"} {
		if err := r.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func leftovers(t *testing.T, r *os.Root) []string {
	t.Helper()
	names, err := fs.Glob(r.FS(), "tmp/*")
	hidden, err2 := fs.Glob(r.FS(), "tmp/.*")
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	return append(names, hidden...)
}

func TestWriteModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: no file modes on Windows")
	}
	r := openRoot(t)
	for _, tt := range []struct{ before, perm, after fs.FileMode }{
		{0, 0o600, 0o600},
		{0, 0o666, 0o644}, // minus the umask
		{0o600, 0o666, 0o600},
		{0o644, 0o600, 0o600}, // as checked out by git
		{0o755, 0o777, 0o755},
	} {
		name := fmt.Sprintf("d/%o-%o", tt.before, tt.perm)
		if tt.before != 0 {
			if err := r.WriteFile(name, []byte("old"), tt.before); err != nil {
				t.Fatal(err)
			}
			if err := r.Chmod(name, tt.before); err != nil {
				t.Fatal(err)
			}
		}
		if err := Write(r, name, []byte("new"), tt.perm, "tmp"); err != nil {
			t.Fatal(err)
		}
		info, err := r.Stat(name)
		if err != nil || info.Mode() != tt.after {
			t.Errorf("%o written with %o is %v, %v, want %o", tt.before, tt.perm, info.Mode(), err, tt.after)
		}
		if b, _ := r.ReadFile(name); string(b) != "new" {
			t.Errorf("%s holds %q", name, b)
		}
	}
	if left := leftovers(t, r); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

func TestWriteRefuses(t *testing.T) {
	r := openRoot(t)
	out := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(out, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.Mkdir("d/folder", 0o700))
	must(os.Symlink(out, filepath.Join(r.Name(), "d/link")))
	must(os.Symlink(filepath.Dir(out), filepath.Join(r.Name(), "away")))
	for _, name := range []string{"d/folder", "d/link", "away/outside", "missing/x", "../x", out} {
		if err := Write(r, name, []byte("new"), 0o600, "tmp"); err == nil {
			t.Errorf("%q was replaced", name)
		}
	}
	if b, _ := os.ReadFile(out); string(b) != "theirs" {
		t.Errorf("the file outside holds %q", b)
	}
	if left := leftovers(t, r); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

// TestWriteFaults makes each system call fail in turn: the old content stays until the
// rename, the new content from then on, and no file is left over.
func TestWriteFaults(t *testing.T) {
	injected := errors.New("injected")
	order := []string{"write", "sync", "rename"}
	if canSyncDir {
		order = append(order, "sync")
	}
	for fail := range len(order) + 1 {
		r := openRoot(t)
		if err := r.WriteFile("d/f", []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		var seen []string
		next := func(call string) error {
			seen = append(seen, call)
			if len(seen)-1 == fail {
				return injected
			}
			return nil
		}
		calls := Calls{
			Write: func(f *os.File, b []byte) (int, error) {
				if next("write") != nil {
					n, _ := f.Write(b[:1])
					return n, injected
				}
				return f.Write(b)
			},
			Sync: func(f *os.File) error { return errors.Join(next("sync"), f.Sync()) },
			Rename: func(r Folder, from, to string) error {
				if err := next("rename"); err != nil {
					return err
				}
				return r.Rename(from, to)
			},
		}
		_, err := calls.Replace(r, "d/f", []byte("new"), 0o600, "tmp")
		if fail == len(order) {
			if err != nil || !slices.Equal(seen, order) {
				t.Fatalf("%v: %v, want %v", seen, err, order)
			}
			continue
		}
		if !errors.Is(err, injected) {
			t.Errorf("call %d (%s) failed: %v", fail, order[fail], err)
		}
		want := "old"
		if fail == 3 {
			want = "new"
		}
		if b, _ := r.ReadFile("d/f"); string(b) != want {
			t.Errorf("call %d (%s) failed: the file holds %q", fail, order[fail], b)
		}
		if left := leftovers(t, r); left != nil {
			t.Errorf("call %d (%s) failed: left behind %q", fail, order[fail], left)
		}
	}
}

func TestShortWrite(t *testing.T) {
	r := openRoot(t)
	calls := Calls{Write: func(f *os.File, b []byte) (int, error) { return len(b) - 1, nil }}
	if _, err := calls.Replace(r, "d/f", []byte("new"), 0o600, "tmp"); err == nil {
		t.Error("a short write was taken for a whole one")
	}
	if _, err := r.Stat("d/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestNoDirSync: a file system that cannot sync directories is no reason to fail, one that
// cannot sync files is.
func TestNoDirSync(t *testing.T) {
	r := openRoot(t)
	for cause, fails := range map[error]bool{syscall.EINVAL: false, syscall.ENOSYS: false, syscall.EOPNOTSUPP: false, syscall.EIO: canSyncDir} {
		calls := Calls{Sync: func(f *os.File) error {
			if info, err := f.Stat(); err != nil || !info.IsDir() {
				return err
			}
			return &fs.PathError{Op: "sync", Path: f.Name(), Err: cause}
		}}
		if _, err := calls.Replace(r, "d/f", []byte("new"), 0o600, "tmp"); (err != nil) != fails {
			t.Errorf("%v of a directory: %v", cause, err)
		}
		calls.Sync = func(*os.File) error { return cause }
		if _, err := calls.Replace(r, "d/f", []byte("newer"), 0o600, "tmp"); !errors.Is(err, cause) {
			t.Errorf("%v of a file: %v", cause, err)
		}
	}
}

// TestNoChmod: a file system without modes is no reason to fail.
func TestNoChmod(t *testing.T) {
	r := openRoot(t)
	if err := r.WriteFile("d/f", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for cause, fails := range map[error]bool{syscall.EPERM: false, syscall.ENOSYS: false, syscall.EOPNOTSUPP: false, syscall.EIO: true} {
		calls := Calls{Chmod: func(*os.File, fs.FileMode) error { return cause }}
		if _, err := calls.Replace(r, "d/f", []byte("new"), 0o600, "tmp"); (err != nil) != fails {
			t.Errorf("%v: %v", cause, err)
		}
	}
}
