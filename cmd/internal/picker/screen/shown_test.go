package screen

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/picker"
)

// TestFills: a screen that grows shows more conversations above the last one.
func TestFills(t *testing.T) {
	drive(t, options(many(30)), 60, 20, func(d *driver) {
		d.press("end")
		d.m.View()
		d.send(tea.WindowSizeMsg{Width: 60, Height: 40})
		if text := d.m.View().Content; d.m.list.top > 0 {
			t.Errorf("the screen is not filled:\n%s", text)
		}
	})
}

// TestNoHints: the keys of actions on a conversation are not offered if there is none.
func TestNoHints(t *testing.T) {
	o := options(conversations())
	o.Actions = []picker.Action{{Key: 'x', Name: "archive"}}
	drive(t, o, 200, 60, func(d *driver) {
		if text := d.m.View().Content; !strings.Contains(text, "archive") {
			t.Errorf("archive is not offered:\n%s", text)
		}
		d.press("nothing like this")
		if text := d.m.View().Content; strings.Contains(text, "archive") {
			t.Errorf("archive is offered for nothing:\n%s", text)
		}
	})
}

// TestCopy: y copies the id by the terminal.
func TestCopy(t *testing.T) {
	drive(t, options(conversations()), 80, 24, func(d *driver) {
		d.press("down", "alt+y")
		if n := len(d.msgs); n == 0 || fmt.Sprint(d.msgs[n-1]) != conversations()[1].ID {
			t.Errorf("messages %v", d.msgs)
		}
	})
}
