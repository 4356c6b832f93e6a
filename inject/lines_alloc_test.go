//go:build !race

package inject_test

import (
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema/jsonl"
)

// TestReadLinesAllocates checks that more lines do not need more allocations. With the race
// detector they do.
func TestReadLinesAllocates(t *testing.T) {
	allocs := func(lines int) float64 {
		text := strings.Repeat("{\"a\":1}\n", lines)
		return testing.AllocsPerRun(5, func() {
			var l inject.Losses
			if err := inject.ReadLines(strings.NewReader(text), int64(len(text)), inject.Options{}, &l, func(jsonl.Record) {}); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := allocs(10), allocs(1000); many > few+10 {
		t.Errorf("%.0f allocations for 10 lines, %.0f for 1000", few, many)
	}
}
