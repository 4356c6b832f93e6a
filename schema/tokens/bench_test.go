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
	return string(raw)
}

func BenchmarkCountWarm(b *testing.B) {
	text := benchText(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		sink += Count(text)
	}
}

func BenchmarkSplit(b *testing.B) {
	text := benchText(b)
	t := loaded()
	b.SetBytes(int64(len(text)))
	miss := 0
	n := 0
	for b.Loop() {
		for i := 0; i < len(text); {
			n := t.piece(text[i:])
			i += n
			sink++
		}
	}
	for i := 0; i < len(text); {
		m := t.piece(text[i:])
		n++
		if t.rank(text[i:i+m]) == noRank {
			miss++
		}
		i += m
	}
	b.ReportMetric(float64(len(text))/float64(n), "B/piece")
	b.ReportMetric(float64(miss)/float64(n), "miss")
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
	T1, T2 = 0, 0
	for b.Loop() {
		load()
	}
	b.ReportMetric(T1.Seconds()*1000/float64(b.N), "decode-ms")
	b.ReportMetric(T2.Seconds()*1000/float64(b.N), "index-ms")
}
