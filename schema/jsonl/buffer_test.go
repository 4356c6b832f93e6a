package jsonl_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"cortext/schema/jsonl"
)

// TestShortFiles: reading a short file costs little memory, so that reading very many of
// them does not keep the garbage collector busy.
func TestShortFiles(t *testing.T) {
	text := strings.Repeat(`{"id":"m1","content":"hello"}`+"\n", 3) + `{"id":"m2"}`
	const files = 200
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range files {
		n := 0
		for _, err := range jsonl.Read(io.NewSectionReader(strings.NewReader(text), 0, int64(len(text))), 0, 1) {
			if err == nil {
				n++
			}
		}
		if n != 4 {
			t.Fatalf("%d records", n)
		}
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / files; got > 16<<10 {
		t.Errorf("reading %d bytes took %d bytes of memory", len(text), got)
	}
}
