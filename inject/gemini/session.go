package gemini

import (
	"slices"
	"strings"

	"cortext/inject"
)

// isOurs reports whether a user's turn is nothing but a payload of cortext. It
// recognizes a payload by its id, which a launch derives from the text and an import
// keeps, or by its shape.
func isOurs(r record, s spoken, o inject.Options) bool {
	texts := s.texts()
	if len(texts) == 0 || len(texts) != len(s.items) {
		return false
	}
	if inject.MayBePayload(r.ID) {
		for _, p := range parts(r.Content) {
			if p.isText && inject.IsPayload(r.ID, p.text) {
				return true
			}
		}
	}
	ours := false
	for _, t := range texts {
		rest, ok := o.Stripped(t)
		if ours = ours || ok; !ok && t != "" || strings.TrimSpace(rest) != "" && ok {
			return false
		}
	}
	return ours
}

// typed returns the first text of a user's turn as typed. For a slash command, that
// is the displayed text, since the content is the expansion (FACTS.md, "Slash
// commands"). For other turns, the displayed text may be abridged.
func typed(r record, s spoken, o inject.Options) string {
	if line, ok := commandLine(r, s, o); ok {
		return line
	}
	for _, t := range s.texts() {
		t, _ = o.Stripped(t)
		if strings.TrimSpace(t) != "" {
			return asTyped(r, t)
		}
	}
	return ""
}

// asTyped returns a text of a user's turn as typed. In a turn that names a file, the
// program puts a space before every other "@" (FACTS.md, "Slash commands"), but
// displays the turn as it was.
func asTyped(r record, text string) string {
	if line := shown(r.Display); line != text && blankless(line) == blankless(text) {
		return line
	}
	return text
}

func blankless(s string) string { return strings.Join(strings.Fields(s), "") }

// commandLine returns the slash command that the user typed for a turn, if any. A
// payload that such a command delivered does not count as typed.
func commandLine(r record, s spoken, o inject.Options) (string, bool) {
	if r.Display == nil {
		return "", false
	}
	line := shown(r.Display)
	if !strings.HasPrefix(line, "/") || line == strings.Join(s.texts(), "") {
		return "", false
	}
	for _, t := range s.texts() {
		if _, ok := o.Stripped(t); ok {
			return "", false
		}
	}
	return line, true
}

// lastReply returns the text of the model's last message.
func (x *index) lastReply() (string, error) {
	for _, u := range slices.Backward(x.units) {
		if u.kind == modelUnit && u.kept() {
			m, err := x.file.merged(u)
			if err != nil {
				return "", err
			}
			s := modelSays(m.Content)
			return strings.Join(s.texts(), "\n\n"), nil
		}
	}
	return "", nil
}
