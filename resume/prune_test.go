package resume

import (
	"fmt"
	"strings"
	"testing"

	"cortext/schema"
)

func TestPruneOutput(t *testing.T) {
	line := strings.Repeat("x", 300) + "\n"
	for _, c := range []struct{ name, output, want string }{
		{"Read", strings.Repeat("a\n", 20), strings.Repeat("a\n", 20)},
		{"Read", strings.Repeat("a\n", 21), "[file: 21 lines]\n" + strings.Repeat("a\n", 10) + "[… 1 lines left out …]\n" + strings.Repeat("a\n", 10)},
		{"read_file", strings.Repeat("a\n", 21) + "b", "[file: 22 lines]\n" + strings.Repeat("a\n", 10) + "[… 2 lines left out …]\n" + strings.Repeat("a\n", 9) + "b"},
		{"read", strings.Repeat("y", 3000), "[file: 3000 bytes]\n" + strings.Repeat("y", 1000) + "…\n…" + strings.Repeat("y", 1000)},
		{"NotebookRead", strings.Repeat(line, 30), "[file: 30 lines]\n" + strings.Repeat(line, 4)[:1000] + "…\n[… 10 lines left out …]\n…" + strings.Repeat(line, 4)[4*301-1000:]},
		{"Bash", strings.Repeat("z", 1000), strings.Repeat("z", 1000)},
		{"run_shell_command", strings.Repeat("z", 1001), "[output: 1001 bytes]\n" + strings.Repeat("z", 400) + "\n…\n" + strings.Repeat("z", 400)},
		{"codesearch", strings.Repeat("a\n", 500), "[search: 500 lines]\n" + strings.Repeat("a\n", 300) + "…"},
		{"grep_search", strings.Repeat("a\n", 500) + "b", "[search: 501 lines]\n" + strings.Repeat("a\n", 300) + "…"},
		{"Task", strings.Repeat("日", 500), "[output: 1500 bytes]\n" + strings.Repeat("日", 200) + "…"},
		{"", "short", "short"},
	} {
		if got := pruneOutput(c.name, c.output); got != c.want {
			t.Errorf("%s of %d bytes:\n%.200q, not\n%.200q", c.name, len(c.output), got, c.want)
		}
	}
	for _, name := range []string{"Read", "Bash", "Grep", "other"} {
		for _, output := range []string{strings.Repeat("y", 1<<20), strings.Repeat("y\n", 1<<19), strings.Repeat(line, 1<<12)} {
			if got := pruneOutput(name, output); len(got) > 2*previewBytes+100 {
				t.Errorf("%s: %d bytes are kept", name, len(got))
			}
		}
	}
}

// TestPrunedCounts: what is said to be left out is what was left out, in the text and
// beside it, and of two calls of a message the one that was cut is not whole.
func TestPrunedCounts(t *testing.T) {
	s, h, o := long(60)
	h.Tools = map[string]schema.Tool{}
	for i := 1; i < len(h.Messages); i += 2 {
		m := &h.Messages[i]
		for k, output := range []string{strings.Repeat(fmt.Sprintf("line of file %d\n", i), 120), "short"} {
			id := fmt.Sprintf("c%d-%d", i, k)
			m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: id, Name: "Read"})
			h.Tools[id] = schema.Tool{ID: id, MessageID: m.ID, Name: "Read", Input: schema.Raw(`{"file_path":"a"}`), Output: output}
		}
	}
	o.Budget, o.Strategy = 5000, PrunedTools
	p := mustBuild(t, s, h, o)
	if p.Strategy != PrunedTools || len(p.LeftOut) == 0 || p.LeftOut[0].Tokens == 0 || !strings.Contains(p.Text, fmt.Sprintf("messages: %d (about %d tokens)", p.LeftOut[0].Count, p.LeftOut[0].Tokens)) {
		t.Errorf("%s: %+v in\n%s", p.Strategy, p.LeftOut, p.Text)
	}
	cut, whole := 0, 0
	for i, part := range p.Parts {
		if part.Message == 0 || part.Message > 120-keptWhole || !strings.HasPrefix(part.What, "tool Read") {
			continue
		}
		if second := p.Parts[i-1].What == part.What && p.Parts[i-1].Message == part.Message; second != part.Whole {
			t.Errorf("%+v", part)
		}
		if cut++; part.Whole {
			whole++
		}
	}
	if cut == 0 || whole == 0 {
		t.Errorf("%d cut, %d whole", cut, whole)
	}
}
