package resume

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"cortext/resume/excerpt"
	"cortext/resume/notes"
	"cortext/schema"
)

// This file decides which parts of a call to include first and last if not all of it
// fits.

// leastReplaced is how many bytes of a text that an edit replaced rank like other
// text.
const leastReplaced = 80

// replacedSpans finds the texts that an edit removed in a call's input; the new text is
// more useful. Quotes within a text are escaped, so nothing in it looks like a field
// name.
func replacedSpans(input string) (spans []excerpt.Span) {
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

// longestEdit is the longest input, in bytes, that replaced searches.
const longestEdit = 1 << 20

// oldText matches the text that an edit replaces, under the field names of Claude
// Code and Gemini CLI, and of OpenCode.
var oldText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:old_string|oldString)":"((?:[^"\\]|\\.)*)`)
})

// withoutEnvelope strips the text that an agent adds to an output. Gemini CLI repeats
// the command and lists empty fields. Claude Code appends a reminder of rules to each
// file it reads, and an instruction to wait after a refusal.
func withoutEnvelope(output string) string {
	if rest, ok := strings.CutPrefix(output, refusal); ok {
		return strings.TrimPrefix(rest, refusalAdvice)
	}
	if i := strings.LastIndex(output, reminder); i >= 0 && strings.HasSuffix(output, "</system-reminder>\n") {
		output = output[:i+1]
	}
	if !strings.HasPrefix(output, "Command: ") {
		return output
	}
	if i := strings.Index(output, "\nOutput: "); i >= 0 && strings.Contains(output[:i], "\nDirectory: ") {
		output = output[i+1:]
	}
	for output != "" {
		from := strings.LastIndexByte(output[:len(output)-1], '\n') + 1
		name, value, _ := strings.Cut(strings.TrimRight(output[from:], "\n"), ": ")
		none := slices.Contains([]string{"Error", "Signal", "Background PIDs"}, name) && (value == "(none)" || value == "0") || name == "Exit Code" && value == "0" || name == "Process Group PGID"
		if !none {
			break
		}
		output = output[:from]
	}
	return output
}

// Claude Code 2.1 puts these before or instead of the user's words when the user
// refuses a call, and at the end of each file it reads.
const (
	refusal       = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	refusalAdvice = "STOP what you are doing and wait for the user to tell you how to proceed."
	reminder      = "\n\n<system-reminder>\nWhenever you read a file, "
)

// longestKey is how many bytes of the error line are always included.
const longestKey = 120

// errorLine finds the error line in the output of a failed call.
func errorLine(t *schema.Tool, output string) excerpt.Span {
	line := notes.ErrorLine(*t)
	from := strings.LastIndex(output, line) // an output may begin by repeating the command
	if line == "" || from < 0 {
		return excerpt.Span{}
	}
	return excerpt.Span{From: from, To: from + min(len(line), longestKey)}
}

// reproducible reports whether an agent can reproduce a call's output. It can read files and
// search again, but a command may print something else next time.
func reproducible(t *schema.Tool) bool {
	k := schema.KindOf(t.Name)
	return k == schema.ReadTool || k == schema.LookupTool
}
