package tokens

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkCut verifies what Prefix promises for text and limit.
func checkCut(t *testing.T, text string, limit int) {
	t.Helper()
	head := Prefix(text, limit)
	if !strings.HasPrefix(text, head) {
		t.Fatalf("Prefix(%q, %d) = %q", text, limit, head)
	}
	if n := Count(head); n > max(limit, 0) {
		t.Errorf("Prefix(%q, %d) = %q of %d tokens", text, limit, head, n)
	}
	if Count(text) <= limit && head != text {
		t.Errorf("all of %q fits %d: Prefix = %q", text, limit, head)
	}
	starts := []int{len(text)}
	for i := range text {
		starts = append(starts, i)
	}
	if !slices.Contains(starts, len(head)) {
		t.Errorf("%q is cut within a character: Prefix = %q", text, head)
	}
}

func TestCuts(t *testing.T) {
	for _, text := range slices.Concat(tricky, invalid, long(30), long(300)) {
		for _, limit := range []int{math.MinInt, -1, 0, 1, 2, 3, 4, 5, 7, 9, 13, 20, 33, 64, 150, math.MaxInt} {
			checkCut(t, text, limit)
		}
	}
}

// One more piece must not fit, and a long piece must be used in part.
func TestCutsAreNotShort(t *testing.T) {
	source := strings.Repeat("The quick brown fox isn't done; 12345 files / 3 errors.\n\n\tif x == nil {\n", 5)
	for limit := range 100 {
		head := Prefix(source, limit)
		if next := head + source[len(head):][:pieceLen(source[len(head):])]; Count(next) <= limit {
			t.Errorf("limit %d: %q would fit", limit, next)
		}
	}
	for _, text := range long(2000) {
		for _, limit := range []int{10, 14, 100} {
			if head := Prefix(text, limit); Count(text) > limit && Count(head) < limit-8 {
				t.Errorf("%.20q: limit %d gives %d tokens", text, limit, Count(head))
			}
		}
	}
}

func TestCutExamples(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		head  string
	}{
		{"one two three four", 2, "one two"},
		{"\t \u20031", 2, "\t "}, // white space that makes 3 tokens as one piece
		{strings.Repeat("a", 100) + "'semail", 2, strings.Repeat("a", 16)},
		{"one antidisestablishmentarianism", 3, "one"},
		{"a  b", 2, "a "},
		{"\xffa b\xff", 1, "\xffa"},
	} {
		if head := Prefix(c.text, c.limit); head != c.head {
			t.Errorf("%q to %d: %q, want %q", c.text, c.limit, head, c.head)
		}
	}
	if s := Prefix(strings.Repeat("👍🏽", 100), 50); !utf8.ValidString(s) || s == "" {
		t.Errorf("cut to %q", s)
	}
}
