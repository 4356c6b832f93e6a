package tokens

import (
	"slices"
	"testing"
)

func FuzzCount(f *testing.F) {
	for _, text := range slices.Concat(tricky, invalid, long(100)) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1000)] // naiveCount takes the square of it
		if got, want := pieces(text), referencePieces(t, text); repaired(text) == text && !slices.Equal(got, want) {
			t.Errorf("%q splits into\n%q, want\n%q", text, got, want)
		}
		if n, want := Count(text), referenceCount(t, text); n != want {
			t.Errorf("Count(%q) = %d, want %d", text, n, want)
		}
	})
}

func FuzzCuts(f *testing.F) {
	for i, text := range slices.Concat(tricky, invalid, long(100)) {
		f.Add(text, i)
	}
	f.Fuzz(checkCuts)
}
