package resume

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"cortext/resume/excerpt"
	"cortext/resume/notes"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/schema/rawjson"
)

// toolHeading begins the heading of a call.
const toolHeading = " tool "

// call renders one tool call.
func (h *history) call(p schema.Part, f form) item {
	t, known := h.Tools[p.Call]
	name := t.Name
	if name == "" {
		name = p.Name
	}
	it := item{tool: toolName(name), outcome: outcome(&t)}
	it.heading = toolHeading + it.tool + " " + it.outcome
	switch {
	case !known:
	case t.Sealed != "":
		it.texts = []excerpt.Text{{Kind: excerpt.Input, Text: sealed}}
	default:
		var out []string
		if output := rawjson.Text(t.Output); output != "" {
			out = append(out, output)
		}
		if t.Error != "" && !strings.Contains(t.Output, t.Error) {
			out = append(out, "error: "+rawjson.Text(t.Error))
		}
		for i := range t.Attachments {
			out = append(out, Reference(&t.Attachments[i]))
		}
		input := compact(t.Input)
		if f == inExcerpt {
			input = strings.Replace(input, `"replace_all":false,`, "", 1)
		}
		it.texts = []excerpt.Text{{Kind: excerpt.Input, Text: input, LowPriority: replacedSpans(input)}}
		if len(out) > 0 {
			text := strings.Join(out, "\n")
			if f == inExcerpt {
				text = withoutEnvelope(text)
			}
			if text != "" {
				it.texts = append(it.texts, excerpt.Text{Kind: excerpt.Output, Text: text, ErrorLine: errorLine(&t, text), Reproducible: reproducible(&t)})
			}
		}
	}
	return it
}

// longestName is the longest tool name, in bytes; longer names are cut.
const longestName = 200

// toolName formats a tool's name as one word, quoting it if it is not one.
func toolName(name string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.:/", r)
	}
	if len(name) > longestName {
		return strconv.Quote(oneLine(clip.Head(name, longestName)) + "…")
	}
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(oneLine(name))
	}
	return name
}

// outcome describes in a word or two how a call ended. If an agent reports success
// for a command that failed, the exit code shows the failure.
func outcome(t *schema.Tool) string {
	if t.Sealed != "" {
		return "sealed"
	}
	word := notes.Outcome(*t)
	switch {
	case t.ExitCode == nil || *t.ExitCode == 0 && t.Success != nil:
		return word
	case t.Success != nil && !*t.Success:
		return fmt.Sprintf("%s, exit code %d", word, *t.ExitCode)
	}
	return fmt.Sprintf("exit code %d", *t.ExitCode)
}

// compact returns the JSON value raw without space between its tokens, so that it
// fits on one line.
func compact(raw schema.Raw) string {
	if len(raw) == 0 {
		return "{}"
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return oneLine(string(raw))
	}
	return rawjson.Text(b.String())
}

// leastReplaced is the length in bytes up to which replaced text ranks like other text.
const leastReplaced = 80

// replacedSpans finds the texts that an edit removed in a call's input; the new text
// is more useful. Quotes within a text are escaped, so nothing in it looks like a
// field name.
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

// longestEdit is the longest input, in bytes, that replacedSpans searches.
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

// reproducible reports whether an agent can reproduce a call's output. It can read
// files and search again, but a command may print something else next time.
func reproducible(t *schema.Tool) bool {
	k := schema.KindOf(t.Name)
	return k == schema.ReadTool || k == schema.LookupTool
}
