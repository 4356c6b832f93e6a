package screen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// key handles a key.
func (m *model) key(key tea.KeyPressMsg) tea.Cmd {
	m.notice = notice{}
	stroke := key.Keystroke()
	switch stroke {
	case "ctrl+c":
		return m.leave(picker.Choice{Kind: picker.Interrupted})
	case "ctrl+z":
		return tea.Suspend
	}
	switch m.mode {
	case choosing:
		return m.menu.key(m, key)
	case naming:
		return m.nameKey(key)
	case confirming:
		m.mode = browsing
		if strings.EqualFold(key.Text, "y") {
			return m.confirmed()
		}
		return nil
	case helping:
		m.mode = browsing
		return nil
	}
	if m.list.key(stroke) || m.inList && m.list.letter(stroke) {
		return nil
	}
	switch stroke {
	case "enter", "kpenter":
		return m.resume(m.chosen(), "")
	case "tab", "shift+tab":
		m.inList = !m.inList
		return nil
	case "esc":
		return m.back()
	case "ctrl+o":
		m.preview.toggle(m.layout())
		return nil
	case "ctrl+a":
		return m.allWorkspaces()
	case "f1":
		m.mode = helping
		return nil
	}
	mod := key.Mod &^ (tea.ModCapsLock | tea.ModNumLock | tea.ModScrollLock)
	if mod == tea.ModAlt {
		if cmd, ok := m.command(letterOf(key)); ok {
			return cmd
		}
	}
	if letter := []rune(key.Text); len(letter) == 1 && mod&^tea.ModShift == 0 &&
		(m.inList || m.line().empty() && (letter[0] == '/' || letter[0] == '?')) {
		cmd, _ := m.command(letter[0])
		return cmd
	}
	if !m.inList {
		return m.typed(func(l *line) bool { return l.edit(key) })
	}
	return nil
}

// letterOf returns the letter of a key. If the terminal reports it, this is the letter in
// the same place on a US keyboard.
func letterOf(key tea.KeyPressMsg) rune {
	if key.BaseCode != 0 {
		return unicode.ToLower(key.BaseCode)
	}
	return unicode.ToLower(key.Code)
}

func (m *model) paste(text string) tea.Cmd {
	insert := func(l *line) bool { l.insert(text); return true }
	switch m.mode {
	case naming:
		insert(&m.topic)
	case browsing:
		m.inList = false
		return m.typed(insert)
	}
	return nil
}

// back goes back one step: it leaves the search, then clears the words, then leaves the list.
func (m *model) back() tea.Cmd {
	switch {
	case m.search.on:
		return m.search.leave(&m.contents)
	case !m.words.empty():
		m.words = line{}
		return m.filter()
	case m.inList:
		m.inList = false
		return nil
	}
	return m.leave(picker.Choice{})
}

// command runs the command for a letter, and reports whether there is one.
func (m *model) command(letter rune) (tea.Cmd, bool) {
	switch letter {
	case 'a':
		if row := m.chosen(); row != nil && len(m.o.Agents) > 0 {
			of := cloned(*row)
			m.menu = menu{
				title: "Resume " + clean(row.Title) + " in which agent?", items: m.o.Agents, cursor: max(slices.Index(m.o.Agents, row.LastAgent()), 0),
				pick: func(m *model, agent string) tea.Cmd { return m.resume(&of, agent) },
			}
			m.mode = choosing
		}
	case 'n':
		if len(m.o.Types) > 0 {
			m.menu = menu{title: "A new conversation of which type?", items: m.o.Types, pick: name}
			m.mode = choosing
		}
	case 'f':
		if m.o.Prompts == nil {
			return nil, false
		}
		return m.fork(), true
	case 'u':
		if m.o.Undo == nil {
			return nil, false
		}
		return m.work.do(func() tea.Msg {
			said, err := m.o.Undo(m.ctx)
			return acted{said: said, err: err, more: -1}
		}), true
	case 'y':
		if row := m.chosen(); row != nil {
			m.notice.say("copied " + row.ID)
			return tea.SetClipboard(row.ID), true
		}
	case 'h':
		m.archived = !m.archived
		return m.replace(m.finder.index), true
	case '/':
		if m.o.Search == nil {
			m.notice.say("messages cannot be searched here")
			return nil, true
		}
		m.inList = false
		return m.search.enter(&m.contents), true
	case '?':
		m.mode = helping
	case 'q':
		return m.leave(picker.Choice{}), true
	default:
		return m.act(letter)
	}
	return nil, true
}

// act starts the action for a letter, and reports whether there is one.
func (m *model) act(letter rune) (tea.Cmd, bool) {
	i := slices.IndexFunc(m.o.Actions, func(a picker.Action) bool { return a.Key == letter })
	if i < 0 {
		return nil, false
	}
	a, row, why := m.o.Actions[i], m.chosen(), m.readOnly()
	switch {
	case why != "":
		m.notice.fail(fmt.Errorf("%s: %s", a.Name, why))
	case row == nil:
	case a.Input != "":
		m.pending, m.about, m.topic, m.mode = a, cloned(*row), line{}, naming
		if a.Begin != nil {
			m.topic = newLine(a.Begin(*row))
		}
		if m.refused.id == row.ID && m.refused.action.Key == a.Key {
			m.topic = newLine(m.refused.action.Text)
		}
	case a.Ask != "":
		m.pending, m.about, m.mode = a, cloned(*row), confirming
	default:
		return m.carryOut(a, cloned(*row)), true
	}
	return nil, true
}

// confirmed runs the action that was asked about, if the cursor is still on its conversation:
// the list may have changed since the question, and the user answers what is on the screen.
func (m *model) confirmed() tea.Cmd {
	if row := m.chosen(); row == nil || row.ID != m.about.ID {
		m.notice.fail(fmt.Errorf("%s: the list changed meanwhile, so nothing was done", m.pending.Name))
		return nil
	}
	return m.carryOut(m.pending, m.about)
}

// allWorkspaces switches between this workspace and all workspaces.
func (m *model) allWorkspaces() tea.Cmd {
	switch {
	case m.o.Everywhere == nil:
		m.notice.say("all workspaces cannot be listed")
		return nil
	case m.everywhere:
		m.everywhere = false
		return m.replace(m.home)
	}
	return m.loadEverywhere()
}

// fork reads the prompts of the conversation at the cursor, to ask where the fork ends.
func (m *model) fork() tea.Cmd {
	row := m.chosen()
	if !m.exists(row) {
		return nil
	}
	m.busy++
	of := cloned(*row)
	return m.work.do(func() tea.Msg {
		prompts, err := m.o.Prompts(m.ctx, of)
		return prompted{of, prompts, err}
	})
}

// askPoint asks where a fork ends. It lists the last prompt first.
func (m *model) askPoint(row listing.Row, prompts []picker.Prompt) {
	items, at := []string{"nowhere: copy all of it"}, []int{0}
	for _, p := range slices.Backward(prompts) {
		items, at = append(items, fmt.Sprintf("%d  %s", p.Number, p.Text)), append(at, p.Number)
	}
	m.menu = menu{title: "End the fork before which prompt of " + clean(row.Title) + "?", items: items, pick: func(m *model, item string) tea.Cmd {
		return m.leave(picker.Choice{Kind: picker.Fork, Row: row, At: at[slices.Index(items, item)]})
	}}
	m.mode = choosing
}
