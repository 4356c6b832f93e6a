package tokens

import (
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

var sink int

func benchText(b *testing.B) string {
	raw, err := os.ReadFile(os.Getenv("BT"))
	if err != nil {
		b.Fatal(err)
	}
	if len(raw) > 4<<20 {
		raw = raw[:4<<20]
	}
	return repaired(string(raw))
}

func BenchmarkCountWarm(b *testing.B) {
	text := benchText(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		sink += Count(text)
	}
}

func BenchmarkReference(b *testing.B) {
	text := benchText(b)
	c, _ := tokenizer.Get(tokenizer.O200kBase)
	n, _ := c.Count(text)
	if n != Count(text) {
		b.Fatal(n, Count(text))
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		n, _ := c.Count(text)
		sink += n
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		load()
	}
}
