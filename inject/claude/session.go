package claude

import (
	"maps"
	"slices"

	"cortext/inject"
	"cortext/schema"
)

// This file extracts the properties of the session as a whole.

// describe takes properties of the session from a record.
func (x *index) describe(r record) {
	if r.Session != "" {
		x.session[r.Session]++
	}
	if r.Version != "" {
		x.t.Version = r.Version
	}
	if r.Cwd != "" && x.t.WorkingDir == "" {
		x.t.WorkingDir = r.Cwd
	}
	if r.Branch != "" && r.Branch != "HEAD" && x.t.Branch == "" {
		x.t.Branch = r.Branch
	}
	if r.Permission != "" {
		x.t.Permission = r.Permission
	}
	if r.Type == "custom-title" && r.CustomTitle != "" {
		x.t.Title = r.CustomTitle
	}
}

// isOurs reports whether a user line is nothing but a payload of cortext. It recognizes
// a payload by its id, which a launch derives from the text and a fork keeps, or by its
// shape.
func isOurs(o inject.Options, r record, text string) bool {
	return inject.IsPayload(r.UUID, text) || o.IsPayload(text)
}

// addPrompt records a prompt if it is one of our commands.
func addPrompt(t *inject.Transcript, r record, s, id string) {
	line, ok := typed(s)
	if !ok {
		line = s
	}
	t.Prompted(line, inject.Command{PromptID: r.Prompt, Message: id, Time: schema.Time(r.Timestamp).Time()})
}

// nativeID returns the session's id: the one in the file's name, base, else the one that
// most lines have. lines counts the lines with each id.
func nativeID(base string, lines map[string]int) string {
	if lines[base] > 0 || len(lines) == 0 {
		return base
	}
	best := ""
	for _, id := range slices.Sorted(maps.Keys(lines)) {
		if best == "" || lines[id] > lines[best] {
			best = id
		}
	}
	return best
}

// lastReply returns the text of the model's last message.
func (x *index) lastReply() (string, error) {
	for _, u := range slices.Backward(x.main.units) {
		if u.kind != assistantUnit {
			continue
		}
		var m inject.MessageBuilder
		for _, at := range u.lines {
			r, err := x.read(&x.line, at)
			if err != nil {
				return "", err
			}
			for _, text := range texts(r) {
				m.AddText(text)
			}
		}
		m.Finish()
		return m.Content, nil
	}
	return "", nil
}

// promptOf returns the text that started a sub-agent.
func (x *index) promptOf(g *group) string {
	if len(g.units) == 0 || len(g.units[0].lines) == 0 {
		return ""
	}
	r, err := x.read(&x.line, g.units[0].lines[0])
	if list := texts(r); err == nil && len(list) > 0 {
		return list[0]
	}
	return ""
}

// texts returns the texts of a record's message.
func texts(r record) (list []string) {
	for _, b := range blocks(r.message().content) {
		if b.Type == "text" {
			list = append(list, b.Text())
		}
	}
	return list
}
