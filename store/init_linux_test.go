package store

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"cortext/store/atomicfile"
)

// TestIgnoreFileIsWhole checks that the file by which .workspace/local ignores itself is
// whole as soon as it exists: a killed writer leaves no empty one, which git would show.
func TestIgnoreFileIsWhole(t *testing.T) {
	s := newTestStore(t)
	if err := atomicfile.Create(s.root, "probe", nil, privateFileMode); err != nil {
		t.Skip("NOT RUN: the file system cannot create a whole file at once:", err)
	}
	if runtime.GOMAXPROCS(0) < 2 {
		t.Skip("NOT RUN: needs two processors to look while the file is created")
	}
	name := filepath.Join(s.dir, ignoreFile)
	for range 300 {
		must(t, os.Remove(name))
		found := make(chan string)
		go func() {
			for {
				if b, err := os.ReadFile(name); err == nil {
					found <- string(b)
					return
				}
			}
		}()
		_, err := ignoreLocal(s.Files)
		must(t, err)
		if got := <-found; got != "*\n" {
			t.Fatalf("it was %q", got)
		}
	}
}
