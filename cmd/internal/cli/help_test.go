package cli

import (
	"strings"
	"testing"
)

// TestReflow: help keeps its lines if the screen is wide enough, and has no line wider than
// the screen otherwise, apart from indented ones and long words.
func TestReflow(t *testing.T) {
	const text = "Prints a text of several lines, and\nthen some.\n\n  cortext an example that is indented, and long\n\nThe end, which-is-one-long-word-that-no-narrow-screen-can-hold."
	for _, width := range []int{-2, 0, 63, 200} {
		if got := reflow(text, width, "  "); got != text {
			t.Errorf("at %d:\n%s", width, got)
		}
	}
	const want = `Prints a text of
  several lines, and
  then some.

  cortext an example that is indented, and long

  The end,
  which-is-one-long-word-that-no-narrow-screen-can-hold.`
	if got := reflow(text, 20, "  "); got != want {
		t.Errorf("got:\n%s", got)
	}
	if got := strings.Join(strings.Fields(reflow(text, 1, "")), " "); got != strings.Join(strings.Fields(text), " ") {
		t.Errorf("words are lost: %s", got)
	}
}
