package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// called records a call of message m.
func (s *State) called(t schema.Tool, m *schema.Message) {
	k := schema.KindOf(t.Name)
	if !s.Fold.Closed {
		s.chose(t, m)
		s.Fold.Unanswered = cmp.Or(s.Fold.Unanswered, asked(t))
	}
	s.Fold.Todos.apply(t)
	s.refused(t, m)
	result := Outcome(t)
	s.interrupt(result == Refused)
	switch k {
	case schema.ShellTool:
		s.ran(t, result, m)
	case schema.AskTool, schema.ApproveTool, schema.LookupTool: // looking for something that does not exist is no error
	case schema.WriteTool, schema.EditTool, schema.PatchTool:
		s.changed(k, t, result, m)
	case schema.ReadTool:
		if result == OK {
			s.saw(t.Input)
		}
	default:
		s.result("tool "+schema.ToolName(t.Name), oneLine(t.Name), t, result, m)
	}
}

// text returns, as one line, the first of the named members of input that is a
// string, or "" if there is none.
func text(input schema.Raw, names ...string) string {
	for _, name := range names {
		if s := strings.TrimSpace(leading(rawjson.Get(input, name))); s != "" {
			return path(s)
		}
	}
	return ""
}

// path returns a path as it was written, without what a terminal would interpret.
func path(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || invisible(r) || r == '\u2028' || r == '\u2029' }) {
		s = oneLine(s)
	}
	return limit(s)
}

// leading decodes the beginning of a JSON string, up to endBytes.
func leading(raw []byte) string {
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
