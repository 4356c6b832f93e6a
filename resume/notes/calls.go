package notes

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// addCall records a call of message m.
func (s *Notes) addCall(t schema.Tool, m *schema.Message) {
	k := schema.KindOf(t.Name)
	if !s.Turn.Farewell {
		s.addChoice(t, m)
		s.Turn.ToolQuestion = cmp.Or(s.Turn.ToolQuestion, openQuestion(t))
	}
	s.Turn.Todos.apply(t)
	s.addRefusal(t, m)
	result := Outcome(t)
	s.interrupt(result == Refused)
	switch k {
	case schema.ShellTool:
		s.addCommand(t, result, m)
	case schema.AskTool, schema.ApproveTool, schema.LookupTool: // looking for something that does not exist is no error
	case schema.WriteTool, schema.EditTool, schema.PatchTool:
		s.addWrite(k, t, result, m)
	case schema.ReadTool:
		if result == OK {
			s.addReads(t.Input)
		}
	default:
		s.addResult("tool "+schema.ToolName(t.Name), oneLine(t.Name), t, result, m)
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
