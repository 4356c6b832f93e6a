package cli

import (
	"fmt"
	"testing"

	"cortext/schema"
	"cortext/store"
)

// To see that each of many arguments names its conversation takes as much work for each,
// however many there are.
func TestUnaskedMany(t *testing.T) {
	work := func(n int) float64 {
		var entries []store.Entry
		var queries []string
		for i := range n {
			id := fmt.Sprintf("01kankjxe88yj5dnztpbts%04d", i)
			entries = append(entries, store.Entry{Path: "conversations/2025-11-22/" + id, Session: &schema.Session{ID: id, Title: id}})
			queries = append(queries, id)
		}
		return testing.AllocsPerRun(1, func() {
			if err := unasked(nil, queries, entries); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := work(50), work(500); many > 15*few {
		t.Errorf("%v allocations for 50 arguments, %v for 500", few, many)
	}
}
