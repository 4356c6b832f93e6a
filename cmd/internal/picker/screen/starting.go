package screen

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/picker"
)

// A starting picker waits for the conversations, which are read while the terminal is
// prepared. What the user typed meanwhile is for the list, except the keys that leave.
type starting struct {
	ready  chan loaded
	early  []tea.Msg // messages that came before the list
	at     progress
	width  int
	choice picker.Choice
	err    error // of the loader
}

// Messages to a starting picker.
type (
	loaded struct {
		list *model
		err  error
	}
	progress struct{ done, of int }
)

// load reads the conversations.
func (s *starting) load(ctx context.Context, load picker.Loader, tell func(progress)) {
	o, err := load(ctx, func(done, of int) { tell(progress{done, of}) })
	if err != nil {
		s.ready <- loaded{err: err}
		return
	}
	s.ready <- loaded{list: newModel(ctx, o)}
}

// Init waits for the conversations.
func (s *starting) Init() tea.Cmd { return func() tea.Msg { return <-s.ready } }

// Update goes on with the list as soon as it is there.
func (s *starting) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case loaded:
		if s.err = msg.err; msg.err != nil {
			return s, tea.Quit
		}
		cmds := []tea.Cmd{msg.list.Init()}
		for _, early := range s.early {
			cmds = append(cmds, msg.list.update(early))
		}
		return msg.list, tea.Batch(cmds...)
	case progress:
		s.at = msg
		return s, nil
	case tea.KeyPressMsg:
		switch msg.Keystroke() {
		case "ctrl+c":
			s.choice.Kind = picker.Interrupted
			return s, tea.Quit
		case "ctrl+z":
			return s, tea.Suspend
		case "esc":
			return s, tea.Quit
		}
	case tea.WindowSizeMsg:
		s.width = msg.Width
	}
	s.early = append(s.early, msg)
	return s, nil
}

// View shows the progress of reading, if it takes long.
func (s *starting) View() tea.View {
	v := emptyView()
	if s.at.of > 0 {
		v.Content = ruler(0).fit(fmt.Sprintf(" Checking conversations: %s of %s", thousands(s.at.done), thousands(s.at.of)), s.width)
	}
	return v
}
