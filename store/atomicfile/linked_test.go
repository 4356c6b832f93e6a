//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteLinked: a new file is private, an existing one keeps its mode, and a link stays
// a link.
func TestWriteLinked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "deep", "config.yaml")
	if err := WriteLinked(file, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("a new file: %v, %v", info, err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := WriteLinked(link, []byte("two")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	info, statErr := os.Lstat(link)
	if err != nil || statErr != nil || string(b) != "two" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("through a link: %q, %v, %v", b, err, statErr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}
