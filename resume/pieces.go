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

// withoutEnvelope strips what an agent adds to an output. Gemini CLI repeats the command
// and lists what there was none of. Claude Code reminds its model of rules behind each file
// that it reads, and tells it to wait after a refusal.
func withoutEnvelope(output string) string {
	if rest, ok := strings.CutPrefix(output, refusal); ok {
		return strings.TrimPrefix(rest, refused)
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

// What Claude Code 2.1 says of a call that the user refused, before what the user said or
// instead of it, and at the end of each file that it reads.
const (
	refusal  = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). "
	refused  = "STOP what you are doing and wait for the user to tell you how to proceed."
	reminder = "\n\n<system-reminder>\nWhenever you read a file, "
)

// longestKey is how many bytes of the line that says what went wrong are always included.
const longestKey = 120

// complaint finds the line in the output of a failed call that says what went wrong.
func complaint(t *schema.Tool, output string) excerpt.Span {
	line := digest.Complaint(*t)
	from := strings.LastIndex(output, line) // an output may begin with the command again
	if line == "" || from < 0 {
		return excerpt.Span{}
	}
	return excerpt.Span{From: from, To: from + min(len(line), longestKey)}
}

// again reports whether an agent can get the output of a call again: it can read files and
// search, but what a command said may be different the next time.
func again(t *schema.Tool) bool {
	k := schema.KindOf(t.Name)
	return k == schema.ReadTool || k == schema.LookupTool
}
