package tildes

import (
	"strings"
	"testing"
)

func TestLongest(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a": 0, "~": 1, "~~ ~~~ ~": 3, "a~~~~": 4, "~~~~\n~~": 4, "a~~b~~~": 3, "~\n~~": 2, "～～": 0} {
		if got := Longest(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
		if fence := strings.Repeat("~", Around(Longest(text))); len(fence) < Least || strings.Contains(text, fence) {
			t.Errorf("%q holds its fence %s", text, fence)
		}
	}
}
