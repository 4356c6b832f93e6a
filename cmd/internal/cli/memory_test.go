package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"
)

// TestCollectFor: the limit is low for small transcripts, and above what large ones need.
func TestCollectFor(t *testing.T) {
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	defer func() { debug.SetMemoryLimit(limit); debug.SetGCPercent(percent) }()
	a, dir := app{collects: true}, t.TempDir()
	file := func(name string, size int64) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
		return name
	}
	small, middle, large := file("small", 4<<20), file("middle", 15<<20), file("large", 70<<20)
	check := func(least, most int64, files ...string) {
		t.Helper()
		a.collectFor(files...)
		if got := debug.SetMemoryLimit(-1) >> 20; got < least || got > most {
			t.Errorf("the limit for %v is %d MB, want %d to %d", files, got, least, most)
		}
	}
	runtime.GC()
	check(36, 44, small, "") // transcripts need up to three bytes for each of theirs
	check(3*15+15, 70, middle, filepath.Join(dir, "none"))
	check(2*(3*15+15), 130, middle, middle)
	check(3*70+70, 384, large, small)
	much := make([]byte, 60<<20)
	runtime.GC()
	check(120, 300, small)
	runtime.KeepAlive(much)
}
