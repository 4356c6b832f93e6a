package resume

import (
	"strings"
	"unicode/utf8"

	"cortext/resume/excerpt"
)

// keptWhole is how many messages at the end keep their tool outputs in full: an agent
// is likely to need what it read last.
const keptWhole = 6

// Limits on earlier outputs: lines and bytes kept at each end.
const (
	previewLines = 10
	previewBytes = 400
)

// prunedTools includes the end of the history, with only both ends of the tool
// outputs in all but the last messages.
func (b *builder) prunedTools(hd head, budget, last int) (choice, []LeftOut, bool) {
	first := b.first(last)
	r := b.read(first, len(b.h.messages), len(b.h.messages)-keptWhole)
	return b.assemble(hd, budget, func(room, _ int) ([]section, []excerpt.Chosen) {
		return nil, r.Choose(excerpt.Options{Tokens: room, Recent: true, Outputs: true})
	}, r)
}

// middleOf returns the part of an output between its ends, or none if it is short.
func middleOf(output string) []excerpt.Span {
	from, to := 0, len(output)
	for range previewLines {
		n := strings.IndexByte(output[from:], '\n') + 1
		if n == 0 {
			n = len(output) - from
		}
		from += min(n, previewBytes-from)
	}
	for range previewLines {
		at := strings.LastIndexByte(output[:max(to-1, 0)], '\n') + 1
		to = max(at, len(output)-previewBytes)
	}
	from, to = len(before(output, from)), len(output)-len(after(output, len(output)-to))
	if from >= to {
		return nil
	}
	return []excerpt.Span{{From: from, To: to}}
}

// countLines counts the lines of text. The last may lack its line end.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// before and after return at most n bytes from an end of s, in whole characters.
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
