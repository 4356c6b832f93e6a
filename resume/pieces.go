package resume

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"cortext/resume/digest"
	"cortext/resume/excerpt"
	"cortext/schema"
)

// What of a call is included first and last where there is no room for all of it.

// leastReplaced is how many bytes of a text that an edit replaced are included like all
// others.
const leastReplaced = 80

// replaced finds in the input of a call the texts that an edit took away: what it made
// of them says more. Within a text quotes are escaped, so that nothing in one looks
// like the name of a field.
func replaced(input string) (spans []excerpt.Span) {
	if !strings.Contains(input, `"old`) || len(input) > longestEdit {
		return nil
	}
	for _, at := range oldText().FindAllStringSubmatchIndex(input, -1) {
		if at[3]-at[2] > leastReplaced {
			spans = append(spans, excerpt.Span{From: at[2], To: at[3]})
		}
	}
	return spans
}

// longestEdit is the longest input, in bytes, in which replaced texts are looked for.
const longestEdit = 1 << 20

// oldText is the text that an edit replaces, as Claude Code and Gemini CLI, and OpenCode,
// name it.
var oldText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:old_string|oldString)":"((?:[^"\\]|\\.)*)`)
})

// envelope finds the lines that Gemini CLI puts around the output of a command and that
// say nothing: the command again, and what there was none of.
func envelope(output string) (spans []excerpt.Span) {
	if !strings.HasPrefix(output, "Command: ") {
		return nil
	}
	if i := strings.Index(output, "\nOutput: "); i >= 0 && strings.Contains(output[:i], "\nDirectory: ") {
		spans = append(spans, excerpt.Span{To: i + 1})
	}
	end := len(output)
	for end > 0 {
		from := strings.LastIndexByte(output[:end-1], '\n') + 1
		name, value, _ := strings.Cut(strings.TrimRight(output[from:end], "\n"), ": ")
		none := slices.Contains([]string{"Error", "Signal", "Background PIDs"}, name) && (value == "(none)" || value == "0") || name == "Exit Code" && value == "0" || name == "Process Group PGID"
		if !none || len(spans) > 0 && from < spans[0].To {
			break
		}
		end = from
	}
	if end < len(output) {
		spans = append(spans, excerpt.Span{From: end, To: len(output)})
	}
	return spans
}

// longestKey is how many bytes of the line that says what went wrong are always included.
const longestKey = 120

// complaint finds the line in the output of a failed call that says what went wrong.
func complaint(t *schema.Tool, output string) excerpt.Span {
	line := digest.Complaint(*t)
	from := strings.Index(output, line)
	if line == "" || from < 0 {
		return excerpt.Span{}
	}
	return excerpt.Span{From: from, To: from + min(len(line), longestKey)}
}
