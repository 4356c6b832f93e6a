package tokens

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkCuts verifies what Prefix and Suffix promise for text and limit.
func checkCuts(t *testing.T, text string, limit int) {
	t.Helper()
	head, tail := Prefix(text, limit), Suffix(text, limit)
	if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
		t.Fatalf("Prefix(%q, %d) = %q, Suffix = %q", text, limit, head, tail)
	}
	fits := max(limit, 0)
	if n := Count(head); n > fits {
		t.Errorf("Prefix(%q, %d) = %q of %d tokens", text, limit, head, n)
	}
	if n := Count(tail); n > fits {
		t.Errorf("Suffix(%q, %d) = %q of %d tokens", text, limit, tail, n)
	}
	if Count(text) <= limit && (head != text || tail != text) {
		t.Errorf("all of %q fits %d: Prefix = %q, Suffix = %q", text, limit, head, tail)
	}
	starts := []int{len(text)}
	for i := range text {
		starts = append(starts, i)
	}
	if !slices.Contains(starts, len(head)) || !slices.Contains(starts, len(text)-len(tail)) {
		t.Errorf("%q is cut within a character: Prefix = %q, Suffix = %q", text, head, tail)
	}
}

func TestCuts(t *testing.T) {
	for _, text := range slices.Concat(tricky, invalid, long(30), long(300)) {
		for _, limit := range []int{math.MinInt, -1, 0, 1, 2, 3, 4, 5, 7, 9, 13, 20, 33, 64, 150, math.MaxInt} {
			checkCuts(t, text, limit)
		}
	}
}

// One more piece must not fit, and a long piece is to be made use of.
func TestCutsAreNotShort(t *testing.T) {
	source := strings.Repeat("The quick brown fox isn't done; 12345 files / 3 errors.\n\n\tif x == nil {\n", 5)
	for limit := range 100 {
		head := Prefix(source, limit)
		if next := head + source[len(head):][:pieceLen(source[len(head):])]; Count(next) <= limit {
			t.Errorf("limit %d: %q would fit", limit, next)
		}
		// What comes before the suffix is at least a piece of it.
		tail := Suffix(source, limit)
		rest := pieces(source[:len(source)-len(tail)])
		if next := rest[len(rest)-1] + tail; Count(next) <= limit {
			t.Errorf("limit %d: %q would fit", limit, next)
		}
	}
	for _, text := range long(2000) {
		for _, limit := range []int{10, 14, 100} {
			head, tail := Prefix(text, limit), Suffix(text, limit)
			if Count(text) > limit && (Count(head) < limit-8 || Count(tail) < limit-8) {
				t.Errorf("%.20q: limit %d gives %d and %d tokens", text, limit, Count(head), Count(tail))
			}
		}
	}
	if n := Count(Suffix(strings.Repeat("漢", 4000)+" x", 101)); n < 99 {
		t.Errorf("%d of 101 tokens", n)
	}
}

func TestCutExamples(t *testing.T) {
	for _, c := range []struct {
		text       string
		limit      int
		head, tail string
	}{
		{"one two three four", 2, "one two", " three four"},
		{"\t \u20031", 2, "\t ", "\u20031"},                                         // white space that makes 3 tokens as one piece
		{strings.Repeat("a", 100) + "'semail", 2, strings.Repeat("a", 16), "email"}, // 'semail is a piece of 3
		{"one antidisestablishmentarianism", 3, "one", ""},
		{"a  b", 2, "a ", "  b"},
		{"\xffa b\xff", 1, "\xffa", "\xff"},
	} {
		if head, tail := Prefix(c.text, c.limit), Suffix(c.text, c.limit); head != c.head || tail != c.tail {
			t.Errorf("%q to %d: %q and %q, want %q and %q", c.text, c.limit, head, tail, c.head, c.tail)
		}
	}
	if s := Prefix(strings.Repeat("👍🏽", 100), 50); !utf8.ValidString(s) || s == "" {
		t.Errorf("cut to %q", s)
	}
}
