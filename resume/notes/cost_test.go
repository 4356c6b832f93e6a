package notes

import (
	"strings"
	"testing"
)

// TestCost reads text designed to be slow: if each mark searched to the end of the
// text for its counterpart, it would take hours.
func TestCost(t *testing.T) {
	size := 2 << 20
	if testing.Short() {
		size = 1 << 18 // minutes
	}
	for _, unit := range []string{"„a ", "“", "«", "\"a", "[", "![", "<", "<a-b>", "<a-b></a-c>", "_a ", "**", "`a", "<a"} {
		text := strings.Repeat(unit, size/len(unit))
		if l := stripMarkup(text); len(l) > len(text) {
			t.Errorf("%q: %d bytes of %d", unit, len(l), len(text))
		}
		if got := dropBlocks(text); len(got) > len(text) {
			t.Errorf("%q: %d bytes of %d", unit, len(got), len(text))
		}
	}
	if got := dropBlocks("a<b-c>d</b-c>e<b-c>f<g>h</g><i-j k=\"l\">m</i-j>n</b-c"); got != "aef<g>h</g>n</b-c" {
		t.Errorf("%q", got)
	}
	if l := maskMarkup("„" + strings.Repeat("a? ", maxQuotation) + "“ „b?“"); !strings.Contains(l, "a?") || strings.Contains(l, "b?") {
		t.Errorf("%q", l)
	}
}
