package folders

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func open(t *testing.T) (*Root, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, dir
}

func write(t *testing.T, r *Root, name, text string) {
	t.Helper()
	f, err := r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(r *Root, name string) (string, error) {
	f, err := r.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b := make([]byte, 100)
	n, _ := f.Read(b)
	return string(b[:n]), nil
}

func makeDirs(t *testing.T, r *Root, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := r.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReplacedFolder checks that a name leads to the folder that has it now, not to the
// one that was opened.
func TestReplacedFolder(t *testing.T) {
	r, dir := open(t)
	makeDirs(t, r, "a", "a/b")
	write(t, r, "a/b/f", "old")
	if got, err := read(r, "a/b/f"); got != "old" || err != nil {
		t.Fatal(got, err)
	}
	// Put another folder in its place, as git does.
	if err := errors.Join(os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "z")), os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700), os.WriteFile(filepath.Join(dir, "a", "b", "f"), []byte("new"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if got, err := read(r, "a/b/f"); got != "new" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	write(t, r, "a/b/g", "written")
	if b, err := os.ReadFile(filepath.Join(dir, "a", "b", "g")); string(b) != "written" {
		t.Errorf("written elsewhere: %q, %v", b, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lstat("a/b/f"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is gone: %v", err)
	}
	var pathErr *fs.PathError
	if _, err := r.Open("a/b/f"); !errors.As(err, &pathErr) || pathErr.Path != "a/b/f" {
		t.Errorf("an error without the whole name: %v", err)
	}
}

// TestNoWayOut checks that no symlink leads out, even one that replaces a folder that is
// kept open.
func TestNoWayOut(t *testing.T) {
	r, dir := open(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "f"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	makeDirs(t, r, "a")
	write(t, r, "a/f", "inside")
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "a")), os.Symlink(outside, filepath.Join(dir, "a"))); err != nil {
		t.Skip("NOT RUN: no symbolic links here:", err)
	}
	if got, err := read(r, "a/f"); err == nil {
		t.Errorf("read %q through a symlink", got)
	}
	if f, err := r.OpenFile("a/new", os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.Close()
		t.Error("wrote through a symlink")
	}
	if err := r.Mkdir("a/dir", 0o700); err == nil {
		t.Error("made a folder through a symlink")
	}
	write(t, r, "g", "stays")
	if err := r.Rename("g", "a/g"); err == nil {
		t.Error("renamed through a symlink")
	}
	if _, err := os.Lstat(filepath.Join(outside, "g")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file got out: %v", err)
	}
}

// TestRename renames between folders, and from one that is gone.
func TestRename(t *testing.T) {
	r, _ := open(t)
	makeDirs(t, r, "a", "b")
	write(t, r, "a/f", "text")
	if err := r.Rename("a/f", "b/g"); err != nil {
		t.Fatal(err)
	}
	if got, err := read(r, "b/g"); got != "text" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if err := r.Rename("b/g", "b/h"); err != nil {
		t.Error(err)
	}
	var linkErr *os.LinkError
	if err := r.Rename("a/f", "b/g"); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &linkErr) || linkErr.Old != "a/f" || linkErr.New != "b/g" {
		t.Errorf("rename of what is not there: %v", err)
	}
	if err := r.Rename("c/f", "b/g"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("rename from a folder that is not there: %v", err)
	}
}

// TestKept checks that no more folders stay open than the limit.
func TestKept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT RUN: needs /proc to count open files")
	}
	r, _ := open(t)
	count := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	before := count()
	for i := range 4 * most {
		dir := fmt.Sprintf("d%d", i)
		makeDirs(t, r, dir)
		write(t, r, dir+"/f", "x")
		if err := r.Rename(dir+"/f", "d0/f"); err != nil {
			t.Fatal(err)
		}
	}
	if n := count() - before; n > 2*most+2 {
		t.Errorf("%d files are open", n)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count() - before; n > 0 {
		t.Errorf("%d files are open after Close", n)
	}
}

// TestConcurrent: goroutines read and write files while others replace their folders.
// Each finds what it wrote, or that its folder was replaced.
func TestConcurrent(t *testing.T) {
	r, dir := open(t)
	for i := range 8 {
		makeDirs(t, r, fmt.Sprintf("d%d", i))
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for n := range 300 {
				folder := fmt.Sprintf("d%d", random.IntN(8))
				name := fmt.Sprintf("%s/%d-%d", folder, g, n)
				f, err := r.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
				if err == nil {
					_, _ = f.WriteString(name)
					_ = f.Close()
				}
				if got, err := read(r, name); err == nil && got != name {
					t.Errorf("%s holds %q", name, got)
				}
				if random.IntN(10) == 0 {
					_ = os.RemoveAll(filepath.Join(dir, folder))
					_ = os.Mkdir(filepath.Join(dir, folder), 0o700)
				}
				_ = r.Rename(name, fmt.Sprintf("d%d/moved-%d-%d", random.IntN(8), g, n))
			}
		})
	}
	all.Wait()
}

// TestMoved checks that a moved folder is still the one that was opened, and that another
// in its place is not.
func TestMoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: Windows cannot move an open folder")
	}
	top := t.TempDir()
	dir, moved := filepath.Join(top, "w"), filepath.Join(top, "moved")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	makeDirs(t, r, "a", "a/b", "c")
	write(t, r, "a/b/f", "text")
	if err := errors.Join(os.Rename(dir, moved), os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700)); err != nil {
		t.Fatal(err)
	}
	from := "a/b/f"
	for _, to := range []string{"a/b/g", "a/h", "c/h", "c/i", "i", "j", "a/b/f"} {
		if err := r.Rename(from, to); err != nil {
			t.Fatal(to, err)
		}
		if b, err := os.ReadFile(filepath.Join(moved, filepath.FromSlash(to))); string(b) != "text" {
			t.Fatalf("%s: %q, %v", to, b, err)
		}
		from = to
	}
}

// TestColon: a name with a colon is one of no file, on Windows, too, where os.Root takes what
// precedes the colon for a volume.
func TestColon(t *testing.T) {
	r, _ := open(t)
	for _, name := range []string{"git:a/b", "a:b", "a/b:c"} {
		_, err := r.Lstat(name)
		_, openErr := r.Open(name)
		_, dirErr := r.ReadDir(name)
		for _, err := range []error{err, openErr, dirErr, r.Remove(name)} {
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
