package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"cortext/schema"
	"cortext/schema/rawjson"
)

// called takes in a call of the message m.
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
	case schema.AskTool, schema.ApproveTool, schema.LookupTool: // what is not there to look at is no error
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

// text returns the first of the named members of an input that is a string, as a
// line; "" if there is none.
func text(input schema.Raw, names ...string) string {
	for _, name := range names {
		if s := strings.TrimSpace(leading(rawjson.Get(input, name))); s != "" {
			return path(s)
		}
	}
	return ""
}

// path is a path as it was written, but for what a terminal would obey.
func path(s string) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || invisible(r) || r == '\u2028' || r == '\u2029' }) {
		s = oneLine(s)
	}
	return limit(s)
}

// leading decodes the beginning of a JSON string, up to endBytes of it.
func leading(raw []byte) string {
	if len(raw) <= endBytes {
		return rawjson.String(raw)
	}
	// What ends within an escape is no string.
	for end := endBytes; end > endBytes-len(`\u0000`); end-- {
		if s, err := rawjson.Unquote(append(slices.Clone(raw[:end]), '"')); err == nil {
			return strings.ToValidUTF8(s, "")
		}
	}
	return ""
}
