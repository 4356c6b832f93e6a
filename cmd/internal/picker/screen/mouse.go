package screen

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// A wheel message moves the cursor.
type wheel struct{ by int }

// A wheelLater message asks for a wheelDue message after some time. wheelDue applies what the
// wheel moved in between.
type (
	wheelLater struct{ after time.Duration }
	wheelDue   struct{}
)

// wheelEvery is the interval between moves of the wheel, and doubleClick the maximum time
// between the clicks of a double click.
const (
	wheelEvery  = 16 * time.Millisecond
	doubleClick = 400 * time.Millisecond
)

// A flood combines wheel events: some terminals send hundreds per second, which would delay
// keys.
type flood struct {
	last time.Time
	sum  int
	due  bool // a wheelDue message will come
}

// linesPerNotch is how far one notch of the wheel moves.
const linesPerNotch = 1

// fold combines the wheel events of a frame into one message. Those that come before the list
// move nothing.
func (f *flood) fold(on tea.Model, msg tea.Msg) tea.Msg {
	m, listed := on.(*model)
	switch e := msg.(type) {
	case tea.MouseWheelMsg:
		switch e.Button {
		case tea.MouseWheelUp:
			f.sum -= linesPerNotch
		case tea.MouseWheelDown:
			f.sum += linesPerNotch
		}
	case wheelDue:
		f.due = false
	default:
		return msg
	}
	if !listed {
		f.sum = 0
		return nil
	}
	now := m.o.Now()
	wait := wheelEvery - now.Sub(f.last)
	switch {
	case f.sum == 0 || f.due:
		return nil
	case wait > 0 && wait <= wheelEvery: // more is possible if the clock was set back
		f.due = true
		return wheelLater{wait}
	}
	by := f.sum
	f.last, f.sum = now, 0
	return wheel{by}
}

// A click is the last mouse click on an item.
type click struct {
	at   time.Time
	item int
}

// clicked moves the cursor to the item under the mouse. A double click resumes it.
func (m *model) clicked(at tea.Mouse) tea.Cmd {
	m.notice = notice{}
	if m.mode != browsing || at.Button != tea.MouseLeft {
		return nil
	}
	item, ok := m.itemAt(at.X, at.Y)
	if !ok {
		return nil
	}
	now := m.o.Now()
	twice := item == m.click.item && item == m.list.cursor && now.Sub(m.click.at) < doubleClick
	m.list.moveTo(item)
	m.click = click{now, m.list.cursor}
	if twice {
		return m.resume(m.chosen(), "")
	}
	return nil
}
