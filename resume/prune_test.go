package resume

import (
	"strings"
	"testing"
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
