package screen

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"cortext/cmd/internal/picker"
)

// A menu offers words to choose from.
type menu struct {
	title  string
	items  []string
	cursor int
	pick   func(m *model, item string) tea.Cmd
}

// key handles a key: arrows and the first letters of items move, Enter chooses.
func (n *menu) key(m *model, key tea.KeyPressMsg) tea.Cmd {
	page := max(m.layout().height-1, 1)
	switch stroke := key.Keystroke(); stroke {
	case "up", "ctrl+p", "shift+tab", "left":
		n.cursor = (n.cursor + len(n.items) - 1) % len(n.items)
	case "down", "ctrl+n", "tab", "right":
		n.cursor = (n.cursor + 1) % len(n.items)
	case "pgup":
		n.cursor = max(n.cursor-page, 0)
	case "pgdown":
		n.cursor = min(n.cursor+page, len(n.items)-1)
	case "home":
		n.cursor = 0
	case "end":
		n.cursor = len(n.items) - 1
	case "enter":
		m.mode = browsing
		return n.pick(m, n.items[n.cursor])
	case "esc":
		m.mode = browsing
	default:
		for i := range n.items {
			at := (n.cursor + 1 + i) % len(n.items)
			if key.Text != "" && strings.HasPrefix(n.items[at], strings.ToLower(key.Text)) {
				n.cursor = at
				break
			}
		}
	}
	return nil
}

// name asks for the topic of a new conversation of a type. It offers the words that no
// conversation matches.
func name(m *model, kind string) tea.Cmd {
	m.choice.Type, m.pending, m.topic, m.mode = kind, picker.Action{}, line{}, naming
	if m.list.count() == 0 {
		m.topic = newLine(m.line().String())
	}
	return nil
}

// entered runs the action that asked for a text.
func (m *model) entered() tea.Cmd {
	a := m.pending
	if a.Text = strings.TrimSpace(m.topic.String()); a.Text == "" {
		return nil
	}
	m.mode = browsing
	return m.carryOut(a, m.about)
}

// nameKey handles a key while the user types a topic or the text of an action.
func (m *model) nameKey(key tea.KeyPressMsg) tea.Cmd {
	switch key.Keystroke() {
	case "esc":
		m.mode = browsing
	case "enter":
		if m.pending.Input != "" {
			return m.entered()
		}
		if topic := strings.Join(strings.Fields(m.topic.String()), " "); topic != "" {
			return m.leave(picker.Choice{Kind: picker.New, Type: m.choice.Type, Topic: topic})
		}
		m.notice.say("a conversation needs a topic")
	default:
		m.topic.edit(key)
	}
	return nil
}
