package picker

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A hint names a key in the last line. Hints that do not fit are left out, from the least
// important.
type hint struct {
	key, does string
	rank      int // 0 is the most important
	off       bool
}

// hints returns the hints for what the keys do now.
func (m *model) hints() []hint {
	switch m.mode {
	case choosing:
		return []hint{{"enter", "choose", 0, false}, {"↑↓", "move", 2, false}, {"esc", "back", 1, false}}
	case naming:
		return []hint{{"enter", "begin", 0, false}, {"esc", "back", 1, false}}
	case confirming:
		return []hint{{"y", "yes", 0, false}, {"any other key", "no", 1, false}}
	case helping:
		return []hint{{"any key", "back", 0, false}}
	}
	esc := "leave"
	switch {
	case m.said.on:
		esc = "list"
	case !m.words.empty():
		esc = "clear"
	case m.inList:
		esc = "words"
	}
	prefix := "alt+"
	if m.inList {
		prefix = ""
	}
	all := []hint{{"enter", "resume", 0, false}}
	add := func(on bool, key, does string, rank int) {
		if on {
			all = append(all, hint{key, does, rank, false})
		}
	}
	add(len(m.o.Agents) > 0, prefix+"a", "agent", 4)
	add(len(m.o.Types) > 0, prefix+"n", "new", 5)
	for i, a := range m.o.Actions {
		all = append(all, hint{prefix + string(a.Key), a.Name, 8 + i, m.o.ReadOnly != ""})
	}
	add(true, prefix+"y", "copy id", 7)
	slash := "/"
	if !m.inList && !m.words.empty() {
		slash = "alt+/"
	}
	add(m.o.Search != nil && !m.said.on, slash, "said", 6)
	add(m.preview.shown != nil || m.width < wide, "^o", "preview", 6)
	help := "?"
	if !m.inList && !m.line().empty() {
		help = "f1"
	}
	add(true, help, "keys", 3)
	add(true, "esc", esc, 2)
	return all
}

// bottom draws the keys.
func (m *model) bottom() string {
	all := m.hints()
	width := func() int {
		n := 1
		for _, h := range all {
			n += ansi.StringWidth(h.key) + 1 + ansi.StringWidth(h.does) + 2
		}
		return n - 2
	}
	for width() > m.width && len(all) > 1 {
		least := 0
		for i, h := range all {
			if h.rank >= all[least].rank {
				least = i
			}
		}
		all = append(all[:least:least], all[least+1:]...)
	}
	parts := make([]string, len(all))
	for i, h := range all {
		if h.off {
			parts[i] = faint.of(h.key + " " + h.does)
			continue
		}
		parts[i] = strong.of(h.key) + " " + faint.of(h.does)
	}
	return " " + strings.Join(parts, "  ")
}

// help lists the keys.
func (m *model) help(width int) []string {
	rows := [][2]string{
		{"letters", "filter the list; words may come in any order"},
		{"↑ ↓ ^p ^n, wheel", "move; PgUp PgDn Home End"},
		{"enter, double click", "resume"},
		{"tab", "to the list, where letters are commands; Alt+letter works in both"},
		{"a", "resume in another agent"},
		{"n", "new conversation"},
		{"y", "copy the id"},
		{"h", "show what is hidden, or hide it"},
		{"/", "search what was said"},
		{"^o", "preview"},
		{"^a", "all workspaces"},
		{"esc", "one step back; q leaves from the list"},
		{"^c", "leave, exit code 130"},
	}
	for _, a := range m.o.Actions {
		rows = append(rows, [2]string{string(a.Key), a.Name})
	}
	lines := []string{" " + strong.of("Keys")}
	for _, r := range rows {
		lines = append(lines, "  "+accent.of(fit(r[0], 20))+fit(r[1], width-22))
	}
	return lines
}
