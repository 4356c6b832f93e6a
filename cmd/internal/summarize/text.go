package summarize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"cortext/resume/summary"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/schema/rawjson"
)

// maxCall is how many characters of a call's input, and of its output, a model gets.
const maxCall = 200

// Text renders a range for a model: each message as its role and text, each call on its
// own line. The result fits in most bytes: the middle of the longest messages is left out
// and, if that is not enough, the middle of the whole. A mark shows where.
func Text(h schema.History, r summary.Range, most int) string {
	var parts []string
	for i := max(r.Start, 0); i < min(r.End, len(h.Messages)); i++ {
		parts = append(parts, messageText(h, &h.Messages[i]))
	}
	const joint = "\n\n"
	longest := longestPart(parts, most-len(parts)*len(joint))
	for i := range parts {
		parts[i] = withoutMiddle(parts[i], longest)
	}
	return withoutMiddle(strings.Join(parts, joint), most)
}

// longestPart returns the length to which the longest of parts must be cut so that all
// together have at most total bytes, but not less than the length of a call.
func longestPart(parts []string, total int) int {
	longest, sum := 0, 0
	for _, p := range parts {
		longest, sum = max(longest, len(p)), sum+len(p)
	}
	if sum <= total {
		return longest
	}
	low, high := 3*maxCall, max(longest, 3*maxCall)
	for low < high {
		mid := (low + high + 1) / 2
		sum := 0
		for _, p := range parts {
			sum += min(len(p), mid)
		}
		if sum <= total {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// withoutMiddle returns s with its middle left out and marked, so that it has at most
// the given number of bytes.
func withoutMiddle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const mark = "\n[… %d bytes left out …]\n"
	room := max(most-len(fmt.Sprintf(mark, len(s))), 0)
	head, tail := clip.Head(s, room-room/2), clip.Tail(s, room/2)
	if out := head + fmt.Sprintf(mark, len(s)-len(head)-len(tail)) + tail; len(out) <= most {
		return out
	}
	return ""
}

func messageText(h schema.History, m *schema.Message) string {
	var b strings.Builder
	switch m.Role {
	case schema.User, schema.Assistant, schema.System:
		b.WriteString(string(m.Role))
	default:
		b.WriteString("unknown")
	}
	b.WriteString(": ")
	if m.Sealed != "" {
		return b.String() + "[sealed]"
	}
	b.WriteString(strings.TrimSpace(rawjson.Text(m.Content)))
	for i := range m.Attachments {
		fmt.Fprintf(&b, "\n[attachment %s]", first(oneLine(m.Attachments[i].MediaType+" "+m.Attachments[i].Name)))
	}
	for _, c := range h.Calls(m) {
		b.WriteString("\n" + callText(&c))
	}
	return b.String()
}

// callText describes a call on one line.
func callText(c *schema.Tool) string {
	name := first(oneLine(c.Name))
	if c.Sealed != "" {
		return "[tool " + name + " sealed]"
	}
	outcome := "no result"
	switch {
	case c.Failed():
		outcome = "failed"
	case c.Success != nil:
		outcome = "ok"
	}
	if c.ExitCode != nil && *c.ExitCode != 0 {
		outcome += fmt.Sprintf(", exit code %d", *c.ExitCode)
	}
	text := "[tool " + name + " " + outcome
	if input := first(oneLine(compact(c.Input))); input != "" {
		text += ": " + input
	}
	output := c.Output
	if c.Error != "" && !strings.Contains(output, c.Error) {
		output = c.Error + " " + output
	}
	if output = first(oneLine(output[:min(len(output), 64*maxCall)])); output != "" {
		text += " … " + output
	}
	return text + "]"
}

// compact returns JSON without whitespace between its parts.
func compact(raw schema.Raw) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// first returns the first characters of s.
func first(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxCall {
			return s[:i] + "…"
		}
	}
	return s
}

// oneLine returns s on one line, with invalid UTF-8 replaced.
func oneLine(s string) string { return strings.Join(strings.Fields(rawjson.Text(s)), " ") }
