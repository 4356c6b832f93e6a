package tokens

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// benchText returns up to 4 MB of ASCII text: the content of the transcripts, or the
// sources of this package if there are none.
func benchText(b *testing.B) string {
	var sb strings.Builder
	add := func(text string) {
		for i := range len(text) {
			if text[i] >= 0x80 {
				return
			}
		}
		if sb.Len()+len(text) <= 4<<20 {
			sb.WriteString(text)
		}
	}
	if transcriptLines(b, func(line []byte) {
		var value any
		if json.Unmarshal(line, &value) == nil {
			for _, text := range texts(value, nil) {
				add(text)
			}
		}
	}) {
		return sb.String()
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			add(line)
		}
	}
	return sb.String()
}

// The first count of a program.
func BenchmarkCountFirst(b *testing.B) {
	text := benchText(b)[:1<<10]
	for b.Loop() {
		newCounter().total(text)
	}
}

func BenchmarkCount1KB(b *testing.B) {
	text := benchText(b)[:1<<10]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Count(text)
	}
}

func BenchmarkCountWarm(b *testing.B) {
	text := benchText(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Count(text)
	}
}

// The same text as BenchmarkCountWarm, with the other implementation.
func BenchmarkReference(b *testing.B) {
	codec, err := library()
	if err != nil {
		b.Fatal(err)
	}
	text := benchText(b)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := codec.Count(text); err != nil {
			b.Fatal(err)
		}
	}
}
