package notes

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// addCall records a call.
func (a *adder) addCall(t schema.Tool) {
	k := schema.KindOf(t.Name)
	if !a.Turn.Farewell {
		a.addChoice(t)
		a.Turn.ToolQuestion = cmp.Or(a.Turn.ToolQuestion, openQuestion(t))
	}
	a.Turn.Todos.apply(t)
	a.addRefusal(t)
	var script script
	result := reported(t)
	if k == schema.ShellTool {
		script = commandOf(t)
		result = commandOutcome(t, script)
	}
	if result == Refused {
		a.interrupt()
	}
	switch k {
	case schema.ShellTool:
		a.addCommand(t, script, result)
	case schema.AskTool, schema.ApproveTool, schema.LookupTool: // it is not an error to look for something that does not exist
	case schema.WriteTool, schema.EditTool, schema.PatchTool:
		a.addWrite(k, t, result)
	case schema.ReadTool:
		if result == OK {
			a.addReads(t.Input)
		}
	default:
		a.addResult("tool "+schema.ToolName(t.Name), oneLine(t.Name), t, result)
	}
}

// stringMember returns, as one line, the first of the named members of input that is a
// string, or "" if there is none.
func stringMember(input schema.Raw, names ...string) string {
	for _, name := range names {
		if s := strings.TrimSpace(leadingString(rawjson.Get(input, name))); s != "" {
			return safePath(s)
		}
	}
	return ""
}

// safePath returns a path as it was written, without what a terminal would interpret.
func safePath(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || invisible(r) || r == '\u2028' || r == '\u2029' }) {
		s = oneLine(s)
	}
	return limit(s)
}

// leadingString decodes the beginning of a JSON string, up to endBytes.
func leadingString(raw []byte) string {
	if len(raw) <= endBytes {
		return rawjson.String(raw)
	}
	// A string cut within an escape does not decode.
	for end := endBytes; end > endBytes-len(`\u0000`); end-- {
		if s, err := rawjson.Unquote(append(slices.Clone(raw[:end]), '"')); err == nil {
			return strings.ToValidUTF8(s, "")
		}
	}
	return ""
}
