package claude

import (
	"slices"
	"strings"
	"time"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/rawjson"
)

// Properties of the session as a whole.

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

// isOurs reports whether a user line is nothing but a payload of cortext. It goes by
// the id, which a launch derives from the text and a fork keeps, or by the shape.
func (x *index) isOurs(r record, text string) bool {
	if len(r.UUID) == 36 && r.UUID[14] == '8' && r.UUID == inject.PayloadID(text) {
		return true
	}
	if x.o.Strip == nil {
		return false
	}
	rest, ok := x.o.Strip(text)
	return ok && strings.TrimSpace(rest) == ""
}

// prompt records the session's first command, and which prompts are commands of ours.
func (x *index) prompt(r record, s, id string) {
	line, ok := typed(s)
	if !ok {
		line = s
	}
	x.t.Prompted(line, inject.Command{PromptID: r.Prompt, Message: id, Time: schema.Time(r.Timestamp).Time()})
}

// nativeID returns the session's id: the one in the file's name, else the one that
// most lines have.
func (x *index) nativeID(base string) string {
	if x.session[base] > 0 || len(x.session) == 0 {
		return base
	}
	best := ""
	for _, id := range sortedKeys(x.session) {
		if best == "" || x.session[id] > x.session[best] {
			best = id
		}
	}
	return best
}

// said returns the text of the model's last message.
func (x *index) said() (string, error) {
	for _, u := range slices.Backward(x.main.units) {
		if u.kind != assistantUnit {
			continue
		}
		c := content{x: x, m: &schema.Message{}, batch: &inject.Batch{}, unit: u}
		for _, at := range u.lines {
			r, err := x.read(at)
			if err != nil {
				return "", err
			}
			for _, b := range blocks(rawjson.Get(r.Message, "content")) {
				if b.Type == "text" {
					c.addText(b.Text())
				}
			}
		}
		return strings.Join(c.texts, "\n\n"), nil
	}
	return "", nil
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// promptOf returns the text that started a sub-agent.
func (x *index) promptOf(g *group) string {
	if len(g.units) == 0 || len(g.units[0].lines) == 0 {
		return ""
	}
	r, err := x.read(g.units[0].lines[0])
	if err != nil {
		return ""
	}
	for _, b := range blocks(rawjson.Get(r.Message, "content")) {
		if b.Type == "text" {
			return b.Text()
		}
	}
	return ""
}

// span returns the times of the first and the last message.
func (x *index) span() (first, last time.Time) {
	for _, u := range x.main.units {
		at := schema.Time(u.stamp).Time()
		if at.IsZero() {
			continue
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}
