package picker

import (
	"strings"
)

// A hint names a key in the last line. Hints that do not fit are left out, from the least
// important.
type hint struct {
	key, does string
	rank      int  // 0 is the most important
	letter    bool // a command, which needs Alt while words are typed
	off       bool
}

// hints returns the hints for what the keys do now.
func (m *model) hints(l layout) (all []hint) {
	add := func(on bool, h hint) {
		if on {
			all = append(all, h)
		}
	}
	switch m.mode {
	case choosing:
		return []hint{{key: "enter", does: "choose"}, {key: "↑↓", does: "move", rank: 2}, {key: "esc", does: "back", rank: 1}}
	case naming:
		return []hint{{key: "enter", does: "begin"}, {key: "esc", does: "back", rank: 1}}
	case confirming:
		return []hint{{key: "y", does: "yes"}, {key: "any other key", does: "no", rank: 1}}
	case helping:
		return []hint{{key: "any key", does: "back"}}
	}
	typing := !m.inList && !m.line().empty() // then / and ? are words
	add(len(m.list.items) > 0, hint{key: "enter", does: "resume"})
	add(len(m.o.Agents) > 0 && len(m.list.items) > 0, hint{key: "a", does: "agent", rank: 4, letter: true})
	add(len(m.o.Types) > 0, hint{key: "n", does: "new", rank: 5, letter: true})
	for i, a := range m.o.Actions {
		add(true, hint{key: string(a.Key), does: a.Name, rank: 8 + i, letter: true, off: m.o.ReadOnly != ""})
	}
	add(m.answer.hidden > 0 && !m.said.on, hint{key: "h", does: "hidden", rank: 20, letter: true})
	add(len(m.list.items) > 0, hint{key: "y", does: "copy id", rank: 21, letter: true})
	add(m.o.Search != nil && !m.said.on, hint{key: "/", does: "said", rank: 7, letter: typing})
	switch {
	case l.preview == instead:
		add(true, hint{key: "^o", does: "list", rank: 3})
	case l.preview == nowhere:
		add(true, hint{key: "^o", does: "preview", rank: 3})
	}
	add(m.o.Everywhere != nil, hint{key: "^a", does: map[bool]string{false: "all workspaces", true: "this workspace"}[m.everywhere], rank: 22})
	add(!typing, hint{key: "?", does: "keys", rank: 2})
	add(typing, hint{key: "f1", does: "keys", rank: 2})
	switch {
	case m.said.on:
		add(true, hint{key: "esc", does: "list", rank: 1})
	case !m.words.empty():
		add(true, hint{key: "esc", does: "clear", rank: 1})
	case m.inList:
		add(true, hint{key: "esc", does: "words", rank: 1})
	default:
		add(true, hint{key: "esc", does: "leave", rank: 1})
	}
	return all
}

// bottom draws the keys.
func (m *model) bottom(l layout) string {
	all := m.hints(l)
	line := m.hintLine(all)
	for m.ruler.width(line) > m.width && len(all) > 1 {
		least := 0
		for i, h := range all {
			if h.rank >= all[least].rank {
				least = i
			}
		}
		all = append(all[:least:least], all[least+1:]...)
		line = m.hintLine(all)
	}
	return line
}

// hintLine draws hints. Letters that need Alt stand together.
func (m *model) hintLine(all []hint) string {
	var sb strings.Builder
	sb.WriteString(" ")
	alt := false
	for i, h := range all {
		needs := h.letter && !m.inList
		switch {
		case i == 0:
		case alt && needs:
			sb.WriteString(" ")
		default:
			sb.WriteString("  ")
		}
		if needs && !alt {
			sb.WriteString(faint.of("alt: "))
		}
		alt = needs
		look := strong
		if h.off {
			look = faint
		}
		sb.WriteString(look.of(h.key) + faint.of(" "+h.does))
	}
	return sb.String()
}

// help lists the keys.
func (m *model) help(width int) []string {
	lines := []string{" " + strong.of("Keys") + faint.of(m.ruler.fit("  letters are commands with Alt, or in the list", width-5))}
	add := func(on bool, key, does string) {
		if on {
			lines = append(lines, "  "+accent.of(m.ruler.fit(key, 18))+" "+m.ruler.fit(does, width-21))
		}
	}
	add(true, "words", "filter, in any order")
	add(true, "↑ ↓ ^p ^n wheel", "move; PgUp PgDn Home End")
	add(true, "enter", "resume; so does a double click")
	add(true, "tab", "to the list and back")
	add(len(m.o.Agents) > 0, "a", "resume in another agent")
	add(len(m.o.Types) > 0, "n", "begin a conversation")
	for _, a := range m.o.Actions {
		add(true, string(a.Key), a.Name)
	}
	add(true, "y", "copy the id")
	add(true, "h", "show what is hidden, or hide it")
	add(m.o.Search != nil, "/", "search what was said")
	add(true, "^o", "show or hide the preview")
	add(m.o.Everywhere != nil, "^a", "all workspaces, or this one")
	add(true, "esc", "one step back; q in the list leaves")
	add(true, "^c", "leave with exit code 130")
	return lines
}
