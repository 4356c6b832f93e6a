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
	out.tools, out.uncut = maps.Clone(h.tools), h.tools
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

// The rules of seed 001 per kind of tool. A line may be as long as a file: what is
// kept of a file is bounded in bytes as well.
const (
	previewLines  = 10   // of a file, at each end
	previewBytes  = 1000 // at each end
	commandBytes  = 1000
	commandShown  = 400 // bytes at each end
	searchBytes   = 800
	searchedShown = 600
)

// pruneOutput cuts the output of a call by the kind of its tool.
func pruneOutput(name, output string) string {
	switch outputOf(name) {
	case "file":
		return pruneFile(output)
	case "command":
		if len(output) <= commandBytes {
			return output
		}
		return fmt.Sprintf("[output: %d bytes]\n%s\n…\n%s", len(output), before(output, commandShown), after(output, commandShown))
	case "search":
		if len(output) <= searchBytes {
			return output
		}
		return fmt.Sprintf("[search: %d lines]\n%s…", countLines(output), before(output, searchedShown))
	}
	if len(output) <= searchBytes {
		return output
	}
	return fmt.Sprintf("[output: %d bytes]\n%s…", len(output), before(output, searchedShown))
}

// outputOf says what a tool gives back: a file, the output of a command or what a
// search found. It knows the tools of Claude Code, OpenCode and Gemini CLI, as they
// are spelled and without capitals and underscores.
func outputOf(name string) string {
	switch strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(before(name, longestName))) {
	case "read", "readfile", "readmanyfiles", "notebookread", "webfetch", "readmcpresourcetool", "getinternaldocs", "skill", "activateskill":
		return "file"
	case "bash", "bashoutput", "shell", "executebash", "runshellcommand", "taskoutput", "agentoutputtool", "monitor":
		return "command"
	case "grep", "glob", "ls", "list", "lsp", "search", "codesearch", "toolsearch", "grepsearch", "searchfilecontent", "listdirectory",
		"websearch", "googlewebsearch", "tasklist", "todoread", "listmcpresourcestool":
		return "search"
	}
	return ""
}

// pruneFile keeps the first and the last lines of a file.
func pruneFile(text string) string {
	n := countLines(text)
	if n <= 2*previewLines {
		if len(text) <= 2*previewBytes {
			return text
		}
		return fmt.Sprintf("[file: %d bytes]\n%s…\n…%s", len(text), before(text, previewBytes), after(text, previewBytes))
	}
	end, start := 0, len(strings.TrimSuffix(text, "\n"))
	for i := range previewLines {
		end += strings.IndexByte(text[end:], '\n') + 1
		if start = strings.LastIndexByte(text[:start], '\n'); i == previewLines-1 {
			start++
		}
	}
	head, tail := text[:end], text[start:]
	if len(head) > previewBytes {
		head = before(head, previewBytes) + "…\n"
	}
	if len(tail) > previewBytes {
		tail = "…" + after(tail, previewBytes)
	}
	return fmt.Sprintf("[file: %d lines]\n%s[… %d lines left out …]\n%s", n, head, n-2*previewLines, tail)
}

// countLines counts the lines of text, of which the last may lack its end.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
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
	p.h = b.h.pruned()
	t := p.choose(hd, budget, last)
	message, calls := 0, []bool(nil)
	for i := range t.parts {
		part := &t.parts[i]
		if part.Message != message {
			message, calls = part.Message, p.h.cutIn(part.Message-b.earlier-1)
		}
		if strings.HasPrefix(part.What, strings.TrimSpace(toolHeading)+" ") && len(calls) > 0 {
			part.Whole, calls = !calls[0], calls[1:]
		}
	}
	return t, p.leftOut(t.tail), t.start < len(b.h.messages)
}

// cutOutputs counts the outputs from a message on that were pruned.
func (b *builder) cutOutputs(start int) (n int) {
	for i := start; i < len(b.h.messages); i++ {
		for _, cut := range b.h.cutIn(i) {
			if cut {
				n++
			}
		}
	}
	return n
}

// cutIn reports of each call of a message whether its output was pruned.
func (h *history) cutIn(i int) (calls []bool) {
	if h.uncut == nil {
		return nil
	}
	m := &h.messages[i]
	for _, p := range parts(m, h.extra[m.ID]) {
		if p.call != "" {
			calls = append(calls, h.tools[p.call].Output != h.uncut[p.call].Output)
		}
	}
	return calls
}
