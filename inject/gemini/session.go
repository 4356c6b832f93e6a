package gemini

import (
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema"
)

// isOurs reports whether a user's turn is nothing but a payload that cortext put
// there: by its id, which a launch makes of its text and an import keeps, or by
// its shape.
func (x *index) isOurs(r record, s spoken) bool {
	texts := s.texts()
	if len(texts) == 0 || len(texts) != len(s.items) {
		return false
	}
	if len(r.ID) == 36 && r.ID[14] == '8' {
		for _, p := range parts(r.Content) {
			if p.isText && r.ID == inject.PayloadID(p.text) {
				return true
			}
		}
	}
	if x.o.Strip == nil {
		return false
	}
	ours := false
	for _, t := range texts {
		rest, ok := x.o.Strip(t)
		if ours = ours || ok; !ok && t != "" || strings.TrimSpace(rest) != "" && ok {
			return false
		}
	}
	return ours
}

// typed is the first text of a user's turn as it was typed. The line of a slash
// command is what is shown of it, its content is the expansion (FACTS.md, "Slash
// commands"); what is shown of another turn may be a short form of it.
func typed(r record, s spoken, strip func(string) (string, bool)) string {
	if line, ok := commandLine(r, s, strip); ok {
		return line
	}
	for _, t := range s.texts() {
		if strip != nil {
			if rest, ok := strip(t); ok {
				t = rest
			}
		}
		if strings.TrimSpace(t) != "" {
			return asTyped(r, t)
		}
	}
	return ""
}

// asTyped is a text of a user's turn as it was typed: in a turn that names a file
// the program puts a space before each other "@" (FACTS.md, "Slash commands"), and it shows
// the turn as it was.
func asTyped(r record, text string) string {
	if line := shown(r.Display); line != text && blankless(line) == blankless(text) {
		return line
	}
	return text
}

func blankless(s string) string { return strings.Join(strings.Fields(s), "") }

// commandLine is the slash command that a turn was typed as, if it was. A payload
// that came by such a command is none that the user typed.
func commandLine(r record, s spoken, strip func(string) (string, bool)) (string, bool) {
	if r.Display == nil {
		return "", false
	}
	line := shown(r.Display)
	if !strings.HasPrefix(line, "/") || line == strings.Join(s.texts(), "") {
		return "", false
	}
	for _, t := range s.texts() {
		if strip == nil {
			break
		}
		if _, ok := strip(t); ok {
			return "", false
		}
	}
	return line, true
}

// prompt notes what the prompts say about the session: its first command, and
// which prompts are commands of ours.
func (x *index) prompt(line string, u *unit) {
	x.t.Prompted(line, inject.Command{PromptID: u.id, Message: u.id, Time: schema.Time(u.stamp).Time()})
}

// said is the text of the last message from the model.
func (x *index) said() (string, error) {
	for _, u := range slices.Backward(x.units) {
		if u.kind == modelUnit && u.kept() {
			m, err := x.merged(u)
			if err != nil {
				return "", err
			}
			s := modelSays(m.Content)
			return strings.Join(s.texts(), "\n\n"), nil
		}
	}
	return "", nil
}
