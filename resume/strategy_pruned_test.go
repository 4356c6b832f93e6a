package resume

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cortext/schema"
)

// TestMiddle checks that both ends of an output stay, for many lines and for one long
// line.
func TestMiddle(t *testing.T) {
	for _, tc := range []struct{ output, first, last string }{
		{strings.Repeat("a\n", 20), "", ""},
		{"short", "", ""},
		{strings.Repeat("a\n", 10) + "b\n" + strings.Repeat("c\n", 10), strings.Repeat("a\n", 10), strings.Repeat("c\n", 10)},
		{strings.Repeat("日", 1000), strings.Repeat("日", previewBytes/3), strings.Repeat("日", previewBytes/3)},
		{"a\n" + strings.Repeat("y", 3000) + "\nb", "a\n" + strings.Repeat("y", previewBytes-2), strings.Repeat("y", previewBytes-2) + "\nb"},
	} {
		spans := middleOf(tc.output)
		if tc.first == "" {
			if spans != nil {
				t.Errorf("%.20q: %v", tc.output, spans)
			}
			continue
		}
		if len(spans) != 1 || tc.output[:spans[0].From] != tc.first || tc.output[spans[0].To:] != tc.last {
			t.Errorf("%.20q: %v", tc.output, spans)
		}
	}
}

// TestPruned checks that outputs before the last messages keep only their ends, and
// that the last ones are whole.
func TestPruned(t *testing.T) {
	s, h, o := long(60)
	h.Tools = map[string]schema.Tool{}
	for i := 1; i < len(h.Messages); i += 2 {
		m := &h.Messages[i]
		id := fmt.Sprint("c", i)
		m.ToolCalls = []schema.ToolCall{{ID: id, Name: "Read"}}
		h.Tools[id] = schema.Tool{ID: id, MessageID: m.ID, Name: "Read", Input: schema.Raw(`{"file_path":"a"}`), Output: strings.Repeat(fmt.Sprintf("line of file %d\n", i), 120)}
	}
	o.Budget, o.Strategy = 8000, PrunedTools
	p := mustBuild(t, s, h, o)
	if p.Strategy != PrunedTools || p.Tokens < o.Budget*9/10 {
		t.Fatalf("%s, %d tokens", p.Strategy, p.Tokens)
	}
	for i, want := range map[int]int{119: 120, 117: 120, 115: 120, 113: 20, 111: 20} {
		if n := strings.Count(p.Text, fmt.Sprintf("  line of file %d\n", i)); n != want {
			t.Errorf("%d lines of the output of message %d, not %d", n, i, want)
		}
	}
	if !slices.ContainsFunc(p.Parts, func(part Part) bool { return part.Message == 114 && part.What == "tool Read no result" && !part.Whole }) {
		t.Errorf("%+v", p.Parts)
	}
}
