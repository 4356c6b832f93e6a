package resume

import (
	"strings"

	"cortext/resume/excerpt"
	"cortext/schema/clip"
)

// prunedTools includes the end of the history, with only both ends of the tool
// outputs in all but the last messages.
type prunedTools struct{ *builder }

// keptWhole is how many messages at the end keep their tool outputs in full: an agent
// is likely to need what it read last.
const keptWhole = 6

// Limits on earlier outputs: lines and bytes kept at each end.
const (
	previewLines = 10
	previewBytes = 400
)

func (b prunedTools) choose(hd head, budget int) (choice, bool) {
	r := b.read(b.first, len(b.Messages), len(b.Messages)-keptWhole)
	return b.assemble(hd, budget, r, func(room int) ([]leadSection, []excerpt.Chosen) {
		return nil, r.ChooseEnd(room, excerpt.WholeOutputs)
	})
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
	from, to = len(clip.Head(output, from)), len(output)-len(clip.Tail(output, len(output)-to))
	if from >= to {
		return nil
	}
	return []excerpt.Span{{From: from, To: to}}
}
