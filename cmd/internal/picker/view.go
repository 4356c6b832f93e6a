package picker

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// View draws the screen. It makes only the rows that are visible.
func (m *model) View() tea.View {
	v := tea.View{AltScreen: true, MouseMode: tea.MouseModeCellMotion, WindowTitle: "cortext"}
	if m.width == 0 || m.height == 0 {
		return v
	}
	if m.width < MinWidth || m.height < MinHeight {
		v.Content = m.ruler.fit(fmt.Sprintf("too small: %d×%d needed", MinWidth, MinHeight), m.width)
		return v
	}
	l := m.layout()
	top, cursor := m.top()
	lines := append([]string{top}, m.middle(l)...)
	if text := m.statusLine(); text != "" {
		look := plain
		switch {
		case m.failed:
			look = bad
		case m.mode == confirming:
			look = strong
		}
		lines = append(lines, look.of(m.ruler.fit(" "+clean(text), m.width)))
	}
	v.Content = strings.Join(append(lines, m.bottom(l)), "\n")
	switch {
	case m.mode == naming:
		_, at := m.topic.view(m.ruler, m.width-4)
		v.Cursor = tea.NewCursor(2+at, 2)
	case m.mode == browsing && !m.inList:
		v.Cursor = tea.NewCursor(cursor, 0)
	}
	return v
}

// middle draws what is between the words and the keys.
func (m *model) middle(l layout) []string {
	var lines []string
	switch {
	case m.mode == helping:
		lines = m.help(l.width)
	case m.mode == choosing:
		lines = m.menu.view(m.ruler, l)
	case m.mode == naming:
		text, _ := m.topic.view(m.ruler, m.width-4)
		lines = []string{" " + strong.of("The topic of the new "+clean(m.choice.Type)+":"), "  " + text}
	case l.preview == instead:
		lines = m.about(l.width, l.height)
	default:
		lines = m.listLines(l)
		switch l.preview {
		case below:
			lines = fill(lines, l.listHeight)
			lines = append(append(lines, faint.of(strings.Repeat("─", l.width))), m.about(l.width, l.height-l.listHeight-1)...)
		case beside:
			side := fill(m.about(l.width-l.listWidth-2, l.height), l.height)
			lines = fill(lines, l.height)
			for i := range lines {
				lines[i] = lines[i] + strings.Repeat(" ", max(l.listWidth-m.ruler.width(lines[i]), 0)) + faint.of("│") + " " + side[i]
			}
		}
	}
	return fill(lines, l.height)
}

// fill cuts or extends a list of lines.
func fill(lines []string, height int) []string {
	if len(lines) > height {
		return lines[:height]
	}
	return append(lines, make([]string, height-len(lines))...)
}

// top draws the words and how many conversations they match.
func (m *model) top() (line string, cursor int) {
	count := m.count()
	prompt := "› "
	if m.said.on {
		prompt = "/ "
	}
	width := m.width - 2 - m.ruler.width(count) - 2
	text, at := m.line().view(m.ruler, width)
	look, hint := accent, ""
	if m.inList {
		look = faint
	}
	if m.line().empty() && !m.inList {
		hint = "type to filter"
		if m.said.on {
			hint = "words that were said"
		}
	}
	if hint != "" {
		text = faint.of(m.ruler.fit(hint, width))
	} else {
		text = m.ruler.fit(text, width)
	}
	return look.of(prompt) + text + "  " + faint.of(count), 2 + at
}

// count says how many conversations are listed, of how many, and how many are hidden.
func (m *model) count() string {
	shown, all := m.list.count(), len(m.finder.listed)
	more := ""
	if m.busy > 0 || m.said.busy || !m.answer.whole && !m.said.on {
		more = "…"
	}
	if m.width < 70 {
		return fmt.Sprintf("%d/%d%s", shown, all, more)
	}
	text := thousands(shown) + " of " + thousands(all) + more
	if m.everywhere {
		text += " everywhere"
	}
	if m.answer.hidden > 0 && !m.said.on {
		text += ", " + thousands(m.answer.hidden) + " hidden"
	}
	return text
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// itemHeight returns how many lines an item takes below the one before it, or at the top.
func (m *model) itemHeight(headings bool) func(item int, top bool) int {
	return func(item int, top bool) int {
		n := 1
		if m.said.on {
			n = 2
		} else if headings && (top || m.newDay(item)) {
			n = 2
		}
		return n
	}
}

// newDay reports whether an item is of another day than the one before it.
func (m *model) newDay(item int) bool {
	now := m.o.Now()
	return item == 0 || heading(m.list.at(m.rows, item).LastActive, now) != heading(m.list.at(m.rows, item-1).LastActive, now)
}

// listLines draws the list.
func (m *model) listLines(l layout) []string {
	if len(m.list.items) == 0 {
		return m.nothing(l)
	}
	headings := l.headings && !m.said.on
	m.list.fit(l.listHeight, m.itemHeight(headings))
	look := rowLook{ruler: m.ruler, width: l.listWidth, tags: l.tags, dated: headings, chosen: m.chosenStyle(), words: m.answer.query.words, now: m.o.Now()}
	if m.said.on {
		look.words = nil
	}
	var lines []string
	for i := m.list.top; i < len(m.list.items) && len(lines) < l.listHeight; i++ {
		row := m.list.at(m.rows, i)
		if headings && (i == m.list.top || m.newDay(i)) {
			lines = append(lines, " "+strong.and(faint).of(heading(row.LastActive, look.now)))
		}
		chosen := i == m.list.cursor
		lines = append(lines, look.line(&row, chosen, m.list.isGone(row.ID)))
		if at, ok := m.said.at[m.list.items[i]]; ok && m.said.on {
			lines = append(lines, look.sentence(m.said.hits[at], chosen))
		}
	}
	return fill(lines, l.listHeight)
}

// chosenStyle is the style of the chosen row. The ❯ before it is enough without colours.
func (m *model) chosenStyle() style {
	switch {
	case !m.known:
		return plain
	case m.dark:
		return onDark
	}
	return onLight
}

// nothing says why the list is empty, and what to do.
func (m *model) nothing(l layout) []string {
	var text []string
	switch {
	case m.said.on && m.said.words.empty():
		text = []string{"Type words that were said. esc goes back."}
	case m.said.on && m.said.busy:
		text = []string{"Searching…"}
	case m.said.on:
		text = []string{"Nothing like that was said."}
	case m.rows.Len() == 0 && m.busy > 0:
		text = []string{"Looking for conversations…"}
	case m.rows.Len() == 0:
		text = []string{"No conversations yet. n begins one."}
		if !m.inList {
			text = []string{"No conversations yet. Alt+n begins one."}
		}
	case !m.answer.whole:
		text = []string{"Looking further…"}
	case m.words.empty():
		text = []string{"Every conversation is hidden."}
	default:
		text = []string{"Nothing matches."}
		if m.o.Search != nil {
			text = append(text, "Alt+/ searches what was said.")
		}
	}
	if n := m.answer.hidden; n > 0 && !m.said.on {
		text = append(text, fmt.Sprintf("%s hidden: Alt+h shows them.", thousands(n)))
	}
	lines := []string{""}
	for _, s := range text {
		lines = append(lines, "  "+m.ruler.fit(s, l.listWidth-2))
	}
	return lines
}

// itemAt returns the item that is drawn at a place.
func (m *model) itemAt(x, y int) (item int, ok bool) {
	l := m.layout()
	if l.preview == instead || x >= l.listWidth || y < 1 || y > l.listHeight {
		return 0, false
	}
	headings := l.headings && !m.said.on
	at := 1
	for i := m.list.top; i < len(m.list.items); i++ {
		at += m.itemHeight(headings)(i, i == m.list.top)
		if y < at {
			return i, true
		}
	}
	return 0, false
}

// view draws the menu.
func (n *menu) view(u ruler, l layout) []string {
	lines := []string{" " + strong.of(u.fit(n.title, l.width-1))}
	from := max(0, min(n.cursor-l.height+3, len(n.items)-l.height+1))
	for i := from; i < len(n.items); i++ {
		if i == n.cursor {
			lines = append(lines, accent.of("❯ ")+strong.of(u.fit(clean(n.items[i]), l.width-2)))
		} else {
			lines = append(lines, "  "+u.fit(clean(n.items[i]), l.width-2))
		}
	}
	return lines
}
