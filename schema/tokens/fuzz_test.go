package tokens

import (
	"slices"
	"strings"
	"testing"
)

// newer reports whether r is missing from the tables of the Go library, which the
// reference uses.
func newer(r rune) bool {
	for _, a := range assigned {
		if a.lo <= r && r <= a.hi {
			return true
		}
	}
	return false
}

func FuzzCount(f *testing.F) {
	for _, text := range slices.Concat(tricky, invalid, long(100)) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = text[:min(len(text), 1000)] // naiveCount takes quadratic time
		if strings.ContainsFunc(text, newer) {
			return
		}
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
	f.Fuzz(checkCut)
}
