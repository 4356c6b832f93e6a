package resume

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"
)

// keptWhole is how many messages at the end keep the outputs of their calls as
// they are (seed 001, "Pruned Tools").
const keptWhole = 6

// pruned returns the history with the outputs of all but the last messages cut by
// the kind of their tool.
func (h *history) pruned() *history {
	out := *h
	out.tools = maps.Clone(h.tools)
	for i := range max(len(h.messages)-keptWhole, 0) {
		m := &h.messages[i]
		for _, p := range parts(m, h.extra[m.ID]) {
			if t, ok := h.tools[p.call]; ok && p.call != "" {
				t.Output = pruneOutput(t.Name, t.Output)
				out.tools[p.call] = t
			}
		}
	}
	return &out
}

// The rules of seed 001 per kind of tool.
const (
	previewLines  = 10 // of a file, at each end
	commandBytes  = 1000
	commandShown  = 400 // bytes at each end
	searchBytes   = 800
	searchedShown = 600
)

// pruneOutput cuts the output of a call by the kind of its tool, as the three
// agents name them.
func pruneOutput(name, output string) string {
	switch strings.ToLower(name) {
	case "read", "read_file", "read_many_files", "notebookread", "webfetch", "web_fetch":
		lines := strings.SplitAfter(output, "\n")
		if len(lines) <= 2*previewLines {
			return output
		}
		return fmt.Sprintf("[file: %d lines]\n%s[… %d lines left out …]\n%s", len(lines),
			strings.Join(lines[:previewLines], ""), len(lines)-2*previewLines, strings.Join(lines[len(lines)-previewLines:], ""))
	case "bash", "run_shell_command", "execute_bash", "shell", "bashoutput":
		if len(output) <= commandBytes {
			return output
		}
		return fmt.Sprintf("[output: %d bytes]\n%s\n…\n%s", len(output), before(output, commandShown), after(output, commandShown))
	case "grep", "glob", "search", "grep_search", "search_file_content", "ls", "list", "list_directory", "websearch", "google_web_search":
		if len(output) <= searchBytes {
			return output
		}
		return fmt.Sprintf("[search: %d lines]\n%s…", strings.Count(output, "\n")+1, before(output, searchedShown))
	}
	if len(output) <= searchBytes {
		return output
	}
	return fmt.Sprintf("[output: %d bytes]\n%s…", len(output), before(output, searchedShown))
}

// before and after return at most n bytes of an end of s, whole characters.
func before(s string, n int) string {
	for n = min(n, len(s)); n > 0 && n < len(s) && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n]
}

func after(s string, n int) string {
	at := max(len(s)-n, 0)
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// prunedTools tells the longest tail that fits once the outputs of tools are cut.
func (b *builder) prunedTools(hd head, budget, last int) (choice, []LeftOut, bool) {
	p := *b
	p.h, p.full = b.h.pruned(), b.h
	t := p.choose(hd, budget, last)
	return t, p.leftOut(t.tail), t.start < len(b.h.messages)
}

// cutOutputs counts the outputs from a message on that were pruned.
func (b *builder) cutOutputs(start int) (n int) {
	if b.full == nil {
		return 0
	}
	for i := start; i < len(b.h.messages); i++ {
		m := &b.h.messages[i]
		for _, p := range parts(m, b.h.extra[m.ID]) {
			if p.call != "" && b.h.tools[p.call].Output != b.full.tools[p.call].Output {
				n++
			}
		}
	}
	return n
}
