package cli

import (
	"bytes"
	"strings"
	"testing"

	"cortext/resume"
)

// TestPartsFit: the table of a payload's parts fits narrow terminals and splits no word.
func TestPartsFit(t *testing.T) {
	parts := []resume.Part{
		{What: "command", Tokens: 350, Whole: true, Why: "the conversation began with it"},
		{What: "assistant 2026-11-27 19:08", Message: 2, Tokens: 33, Whole: true, Why: "everything fits"},
	}
	for width := 50; width < 120; width += 5 {
		var out bytes.Buffer
		screen{out: &out}.printParts(parts, width)
		for _, line := range strings.Split(out.String(), "\n") {
			if got := textWidth(line); got > width {
				t.Errorf("width %d: a line is %d wide: %q", width, got, line)
			}
		}
		if text := strings.Join(strings.Fields(out.String()), " "); !strings.Contains(text, "350 command the conversation began") {
			t.Errorf("width %d:\n%s", width, out.String())
		}
	}
}

// TestHeadFits: the line of a conversation that a search found says once that it is cut.
func TestHeadFits(t *testing.T) {
	for _, title := range []string{"API design", strings.Repeat("全文検索", 20), strings.Repeat("long ", 20)} {
		for width := 1; width < 90; width++ {
			title, rest := fitHead(title, "plan, claude, 1 day ago, 2025-11-22/1030-plan-x-abcd", width)
			if line := title + rest; textWidth(line) > width || strings.Count(line, "…") > 1 || strings.TrimSpace(rest) == "…" {
				t.Errorf("width %d: %q", width, line)
			}
		}
	}
	if title, rest := fitHead("API design", "plan", 0); title+rest != "API design  plan" {
		t.Errorf("without a limit: %q", title+rest)
	}
}
