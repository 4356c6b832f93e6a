package screen

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// TestFork: f asks before which prompt the copy ends, the last one first.
func TestFork(t *testing.T) {
	for _, c := range []struct {
		keys []string
		kind picker.Kind
		at   int
	}{
		{[]string{"alt+f", "enter"}, picker.Fork, 0},
		{[]string{"alt+f", "down", "enter"}, picker.Fork, 7},
		{[]string{"tab", "f", "end", "enter"}, picker.Fork, 1},
		{[]string{"alt+f", "3", "enter"}, picker.Fork, 3},
		{[]string{"alt+f", "esc", "esc"}, picker.Left, 0},
	} {
		o := options(conversations())
		o.Prompts = func(context.Context, listing.Row) ([]picker.Prompt, error) {
			return []picker.Prompt{{Number: 1, Text: "Fix it"}, {Number: 3, Text: "Fix it"}, {Number: 7, Text: "And the \x1b[2J tests?"}}, nil
		}
		drive(t, o, 80, 24, func(d *driver) {
			d.press(c.keys...)
			if got := d.m.choice; got.Kind != c.kind || got.At != c.at || c.kind == picker.Fork && got.Row.ID != conversations()[0].ID {
				t.Errorf("%q: %+v", c.keys, got)
			}
		})
	}
	o := options(conversations())
	o.Prompts = func(context.Context, listing.Row) ([]picker.Prompt, error) { return nil, errors.New("cannot be read") }
	drive(t, o, 80, 24, func(d *driver) {
		d.press("alt+f")
		if d.m.mode != browsing || d.m.notice.text != "cannot be read" || d.m.busy != 0 {
			t.Errorf("mode %d, %q, busy %d", d.m.mode, d.m.notice.text, d.m.busy)
		}
	})
}

// TestUndo checks that u, which is offered after an action, undoes it and names it, or says
// why it cannot.
func TestUndo(t *testing.T) {
	o := options(conversations())
	left := []string{"removed"}
	o.Undo = func(context.Context) (string, error) {
		if len(left) == 0 {
			return "", errors.New("nothing to undo")
		}
		left = nil
		return "back again", nil
	}
	o.Actions = []picker.Action{{Key: 'x', Name: "archive"}}
	o.Act = func(context.Context, picker.Action, listing.Row) (string, error) { return "archived", nil }
	drive(t, o, 200, 60, func(d *driver) {
		offered := func(want bool) {
			t.Helper()
			if text := d.m.View().Content; strings.Contains(ansi.Strip(text), " u undo ") != want {
				t.Errorf("it is offered: %t\n%s", !want, text)
			}
		}
		offered(false)
		d.press("alt+x")
		offered(true)
		d.press("alt+u")
		offered(false)
		if d.m.notice.text != "back again" || d.m.notice.failed {
			t.Errorf("%q", d.m.notice.text)
		}
		d.press("tab", "u")
		if d.m.notice.text != "nothing to undo" || !d.m.notice.failed {
			t.Errorf("%q", d.m.notice.text)
		}
	})
}
