package screen

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"cortext/cmd/internal/picker"
)

// A frame is one drawing of the model.
type frame struct {
	*model
	l layout
}

// emptyView returns a full screen with nothing on it.
func emptyView() tea.View { return tea.View{AltScreen: true, MouseMode: tea.MouseModeCellMotion} }

// View draws the screen. It formats only the visible rows.
func (m *model) View() tea.View {
	v := emptyView()
	if m.width == 0 || m.height == 0 {
		return v
	}
	if m.width < picker.MinWidth || m.height < picker.MinHeight {
		v.Content = m.ruler.fit(fmt.Sprintf("too small: %d×%d needed", picker.MinWidth, picker.MinHeight), m.width)
		return v
	}
	f := &frame{m, m.layout()}
	top, cursor := f.top()
	lines := append([]string{top}, f.middle()...)
	look := plain
	switch {
	case m.notice.failed:
		look = bad
	case m.mode == confirming:
		look = strong
	}
	for _, text := range m.status() {
		lines = append(lines, look.of(m.ruler.fit(" "+text, m.width)))
	}
	v.Content = strings.Join(append(lines, f.bottom()), "\n")
	switch {
	case m.mode == naming:
		_, at := m.topic.view(m.ruler, m.width-4)
		v.Cursor = cursorAt(2+at, 2)
	case m.mode == browsing && !m.inList:
		v.Cursor = cursorAt(cursor, 0)
	}
	return v
}

// asItIs leaves the terminal's cursor in its own shape: package tea sends no sequence for it. For
// the shapes that tea names it sends one, and does not restore the terminal's own when it ends.
const asItIs tea.CursorShape = -1

func cursorAt(x, y int) *tea.Cursor {
	return &tea.Cursor{Position: tea.Position{X: x, Y: y}, Shape: asItIs}
}

// middle draws the part between the words and the keys.
func (f *frame) middle() []string {
	var lines []string
	switch {
	case f.mode == helping:
		lines = f.help(f.l.width)
	case f.mode == choosing:
		lines = f.menu.view(f.ruler, f.l)
	case f.mode == naming:
		text, _ := f.topic.view(f.ruler, f.width-4)
		label := "The topic of the new " + clean(f.choice.Type) + " conversation:"
		if f.pending.Input != "" {
			label = f.pending.Input
		}
		lines = []string{" " + strong.of(label), "  " + text}
	case f.l.preview == instead:
		lines = f.about(f.l.width, f.l.height)
	default:
		lines = f.listLines()
		switch f.l.preview {
		case below:
			lines = fill(lines, f.l.listHeight)
			lines = append(append(lines, faint.of(strings.Repeat("─", f.l.width))), f.about(f.l.width, f.l.height-f.l.listHeight-1)...)
		case beside:
			side := fill(f.about(f.l.width-f.l.listWidth-3, f.l.height), f.l.height)
			lines = fill(lines, f.l.height)
			for i := range lines {
				lines[i] = lines[i] + strings.Repeat(" ", max(f.l.listWidth-f.ruler.width(lines[i]), 0)) + faint.of(" │ ") + side[i]
			}
		}
	}
	return fill(lines, f.l.height)
}

// fill cuts or extends a list of lines.
func fill(lines []string, height int) []string {
	if len(lines) > height {
		return lines[:height]
	}
	return append(lines, make([]string, height-len(lines))...)
}

// top draws the words and the number of conversations that match.
func (f *frame) top() (line string, cursor int) {
	count := f.count()
	prompt := "› "
	if f.search.on {
		prompt = "/ "
	}
	width := f.width - 2 - f.ruler.width(count) - 2
	text, at := f.line().view(f.ruler, width)
	look, hint := accent, ""
	if f.inList {
		look = faint
	}
	if f.line().empty() && !f.inList {
		hint = "type to filter"
		if f.search.on {
			hint = "words in messages"
		}
	}
	if hint != "" {
		text = faint.of(f.ruler.fit(hint, width))
	} else {
		text = f.ruler.fit(text, width)
	}
	return look.of(prompt) + text + "  " + faint.of(count), 2 + at
}

// count formats the numbers of listed, selected and hidden conversations.
func (f *frame) count() string {
	shown, all := f.list.count(), len(f.finder.listed)
	if f.answer.all {
		all = f.rows.Len()
	}
	more := ""
	if f.busy > 0 || f.search.busy || !f.answer.whole && !f.search.on {
		more = "…"
	}
	place := ""
	if f.everywhere {
		place = " everywhere"
	}
	if f.width < 70 {
		return fmt.Sprintf("%d/%d%s%s", shown, all, more, place)
	}
	text := thousands(shown) + " of " + thousands(all) + more + place
	if f.answer.hidden > 0 && !f.search.on {
		text += ", " + thousands(f.answer.hidden) + " hidden"
	}
	return text
}

// thousands formats a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// listLines draws the list.
func (f *frame) listLines() []string {
	if len(f.list.items) == 0 {
		return f.nothing()
	}
	headings := f.l.headings && !f.search.on
	f.list.fit(f.l.listHeight, f.itemHeight(headings))
	look := rowLook{ruler: f.ruler, width: f.l.listWidth, tags: f.l.tags, places: f.everywhere, dated: headings, chosen: f.chosenStyle(), words: f.answer.query.words, now: f.o.Now()}
	if f.search.on {
		look.words = nil
	}
	var lines []string
	for i := f.list.top; i < len(f.list.items) && len(lines) < f.l.listHeight; i++ {
		row := f.list.at(f.rows, i)
		if headings && (i == f.list.top || f.newDay(i)) {
			lines = append(lines, " "+strong.and(faint).of(heading(row.LastActive, look.now)))
		}
		chosen := i == f.list.cursor
		lines = append(lines, look.line(&row, chosen, f.list.isGone(row.ID)))
		if at, ok := f.search.at[f.list.items[i]]; ok && f.search.on {
			lines = append(lines, look.sentence(f.search.hits[at], chosen))
		}
	}
	return fill(lines, f.l.listHeight)
}

// chosenStyle is the style of the chosen row. Without colours, the ❯ in front is enough.
func (f *frame) chosenStyle() style {
	switch {
	case !f.known:
		return plain
	case f.dark:
		return onDark
	}
	return onLight
}

// nothing explains why the list is empty and what to do.
func (f *frame) nothing() []string {
	var text []string
	switch {
	case f.search.on && strings.TrimSpace(f.search.words.String()) == "":
		text = []string{"Type words to search messages for. esc goes back."}
	case f.search.on && f.search.busy:
		text = []string{"Searching…"}
	case f.search.on:
		text = []string{"No message has these words."}
	case f.rows.Len() == 0 && f.busy > 0:
		text = []string{"Looking for conversations…"}
	case f.rows.Len() == 0:
		text = []string{"No conversations yet. n starts one."}
		if !f.inList {
			text = []string{"No conversations yet. Alt+n starts one."}
		}
	case !f.answer.whole:
		text = []string{"Looking further…"}
	case f.words.empty():
		text = []string{"Every conversation is hidden."}
	default:
		text = []string{"Nothing matches."}
		if f.o.Search != nil {
			text = append(text, "Alt+/ searches the messages.")
		}
	}
	if n := f.answer.hidden; n > 0 && !f.search.on {
		text = append(text, fmt.Sprintf("%s hidden: Alt+h shows them.", thousands(n)))
	}
	lines := []string{""}
	for _, s := range text {
		lines = append(lines, "  "+f.ruler.fit(s, f.l.listWidth-2))
	}
	return lines
}

// itemAt returns the item drawn at a screen position.
func (m *model) itemAt(x, y int) (item int, ok bool) {
	l := m.layout()
	if l.preview == instead || x >= l.listWidth || y < 1 || y > l.listHeight {
		return 0, false
	}
	headings := l.headings && !m.search.on
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
