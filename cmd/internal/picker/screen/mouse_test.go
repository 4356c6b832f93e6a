package screen

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestMouse: a click moves the cursor, a second one soon after resumes.
func TestMouse(t *testing.T) {
	now := clock()
	o := options(conversations())
	o.Now = func() time.Time { return now }
	drive(t, o, 80, 24, func(d *driver) {
		click := func(y int) { d.send(tea.MouseClickMsg{X: 10, Y: y, Button: tea.MouseLeft}) }
		d.m.View()
		click(1) // a heading belongs to the row below it
		click(5)
		if d.left || d.m.list.cursor != 2 {
			t.Fatalf("a click moves to %d", d.m.list.cursor)
		}
		now = now.Add(doubleClick)
		click(5)
		if d.left {
			t.Fatal("a late second click resumes")
		}
		now = now.Add(doubleClick / 2)
		click(5)
		if !d.left || d.m.choice.Row.ID != conversations()[2].ID {
			t.Errorf("a double click chooses %+v", d.m.choice)
		}
		click(23)
	})
}

// TestWheelEnds: what a flood has left reaches the list without another event.
func TestWheelEnds(t *testing.T) {
	now := clock()
	o := options(conversations())
	o.Now = func() time.Time { return now }
	m := newModel(t.Context(), o)
	var f flood
	sum := 0
	turn := func(msg tea.Msg) {
		for msg != nil {
			switch folded := f.fold(m, msg).(type) {
			case wheel:
				sum += folded.by
				return
			case wheelLater:
				now = now.Add(folded.after)
				msg = wheelDue{}
			default:
				return
			}
		}
	}
	for range 3 {
		if msg, ok := f.fold(m, tea.MouseWheelMsg{Button: tea.MouseWheelDown}).(wheel); ok {
			sum += msg.by
		}
	}
	turn(wheelDue{})
	if sum != 3 {
		t.Errorf("three notches at once move by %d", sum)
	}
	now = now.Add(time.Second)
	sum = 0
	turn(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if sum != -1 {
		t.Errorf("a notch up later moves by %d", sum)
	}
}

// TestWheel: a flood of wheel events becomes one message a frame.
func TestWheel(t *testing.T) {
	now := clock()
	o := options(conversations())
	o.Now = func() time.Time { return now }
	m := newModel(t.Context(), o)
	var f flood
	var moves []int
	for i := range 100 {
		now = now.Add(time.Millisecond)
		button := tea.MouseWheelDown
		if i%4 == 3 {
			button = tea.MouseWheelUp
		}
		if w, ok := f.fold(m, tea.MouseWheelMsg{Button: button}).(wheel); ok {
			moves = append(moves, w.by)
		}
	}
	if len(moves) > 8 {
		t.Errorf("100 events in 100 ms become %v", moves)
	}
	if key := (tea.KeyPressMsg{Code: 'a'}); f.fold(m, key) != tea.Msg(key) {
		t.Error("keys do not pass")
	}
}
