package schema_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"cortext/schema"
)

// BenchmarkParseSession measures what listing costs for each conversation.
func BenchmarkParseSession(b *testing.B) {
	all, err := os.ReadFile("testdata/session-1.1.json")
	if err != nil {
		b.Fatal(err)
	}
	b.Run("one", func(b *testing.B) {
		b.SetBytes(int64(len(all)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := schema.ParseSession(all); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{9_000, 50_000} {
		var many bytes.Buffer
		many.WriteString(`{"version":"1.1","status":"active"`)
		for i := range n {
			fmt.Fprintf(&many, ",\n\"unknown_%d\": %d", i, i)
		}
		many.WriteString("}\n")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				schema.ParseSession(many.Bytes())
			}
		})
	}
}
