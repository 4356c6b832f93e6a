package screen

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// screen returns what a terminal shows of the model, without trailing spaces.
func screen(m *model) string {
	e := vt.NewEmulator(m.width, m.height)
	defer e.Close()
	v := m.View()
	fmt.Fprint(e, strings.ReplaceAll(v.Content, "\n", "\r\n"))
	lines := strings.Split(e.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	text := strings.Join(lines, "\n")
	if v.Cursor != nil {
		text += fmt.Sprintf("\n[cursor at %d, %d]", v.Cursor.X, v.Cursor.Y)
	}
	return text + "\n"
}

// TestScreens compares every state, at three sizes, with testdata.
func TestScreens(t *testing.T) {
	states := []struct {
		name string
		edit func(*picker.Options)
		do   func(*driver)
	}{
		{"list", nil, nil},
		{"focus", nil, func(d *driver) { d.press("tab", "j") }},
		{"words", nil, func(d *driver) { d.press("login") }},
		{"preview", nil, func(d *driver) { d.press("ctrl+o") }},
		{"scrolled", nil, func(d *driver) { d.press("end") }},
		{"empty", func(o *picker.Options) { o.Rows = fakeRows(nil) }, nil},
		{"nothing", nil, func(d *driver) { d.press("old ideas") }},
		{"vanished", nil, func(d *driver) {
			d.press("down")
			d.reload(append(conversations()[:1:1], conversations()[2:]...))
			d.press("enter")
		}},
		{"readonly", func(o *picker.Options) {
			o.Actions, o.ReadOnly = []picker.Action{{Key: 'x', Name: "archive"}, {Key: 'd', Name: "remove"}}, func(listing.Row) string { return "the disk is read-only" }
		}, nil},
		{"asking", func(o *picker.Options) {
			o.Actions = []picker.Action{{Key: 'd', Name: "remove", Ask: "Remove it? git keeps what is committed."}}
		}, func(d *driver) { d.press("alt+d") }},
		{"error", nil, func(d *driver) { d.send(reloaded{err: errors.New("the list cannot be read: permission denied")}) }},
		{"loading", nil, func(d *driver) { d.m.busy++ }},
		{"looking", func(o *picker.Options) { o.Rows = fakeRows(nil) }, func(d *driver) { d.m.busy++ }},
		{"help", nil, func(d *driver) { d.press("?") }},
		{"agents", nil, func(d *driver) { d.press("alt+a") }},
		{"topic", nil, func(d *driver) { d.press("alt+n", "down", "enter", "API de") }},
		{"search", nil, func(d *driver) { d.press("/", "retry", "down") }},
		{"searching", nil, func(d *driver) { d.press("/") }},
		{"hostile", nil, func(d *driver) { d.press("evil") }},
		{"wide", nil, func(d *driver) { d.press("日本") }},
		{"everywhere", func(o *picker.Options) {
			o.Everywhere = func(context.Context) (picker.Rows, error) {
				return placed(conversations(), "/srv/a-rather-long-name/shop"), nil
			}
		}, func(d *driver) { d.press("ctrl+a") }},
		{"fork", func(o *picker.Options) {
			o.Undo = func(context.Context) (string, error) { return "", nil }
			o.Prompts = func(context.Context, listing.Row) ([]picker.Prompt, error) {
				return []picker.Prompt{{Number: 1, Text: "Fix the login retry"}, {Number: 3, Text: "Is it \x1b[2J the same on Windows?"}, {Number: 12, Text: strings.Repeat("long ", 90)}}, nil
			}
		}, func(d *driver) { d.press("alt+f", "down") }},
		{"gone", func(o *picker.Options) {
			o.Preview = func(context.Context, listing.Row) (picker.Preview, error) { return picker.Preview{}, picker.ErrGone }
		}, nil},
	}
	for _, size := range [][2]int{{60, 20}, {80, 24}, {200, 60}} {
		for _, s := range states {
			name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				o := options(conversations())
				if s.edit != nil {
					s.edit(&o)
				}
				drive(t, o, size[0], size[1], func(d *driver) {
					d.send(tea.ModeReportMsg{Mode: ansi.ModeUnicodeCore, Value: ansi.ModeReset}) // as the emulator counts columns
					if s.do != nil {
						s.do(d)
					}
					golden(t, name, screen(d.m))
				})
			})
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("%s: %v, it shows\n%s\nwant\n%s", name, err, got, want)
	}
}

// TestEveryLineFits: at any size and with any text, the screen has as many lines as the
// terminal, none wider than it, and no control characters but colours.
func TestEveryLineFits(t *testing.T) {
	for width := picker.MinWidth; width < 220; width += 7 {
		for height := picker.MinHeight; height < 60; height += 9 {
			drive(t, options(conversations()), width, height, func(d *driver) {
				for _, keys := range [][]string{nil, {"login"}, {"ctrl+o"}, {"esc", "evil"}, {"ctrl+o"}, {"esc", "?"}, {"esc", "alt+a"}, {"esc", "/", "evil"}, {"esc", "esc", "end"}} {
					d.press(keys...)
					checkFits(t, d.m)
				}
			})
		}
	}
}

func checkFits(t *testing.T, m *model) {
	t.Helper()
	lines := strings.Split(m.View().Content, "\n")
	if len(lines) != m.height {
		t.Errorf("%dx%d: %d lines", m.width, m.height, len(lines))
	}
	for _, line := range lines {
		if w := m.ruler.width(line); w > m.width {
			t.Errorf("%dx%d: %d columns in %q", m.width, m.height, w, line)
		}
		for _, r := range ansi.Strip(line) {
			if r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 {
				t.Errorf("%dx%d: %q in %q", m.width, m.height, r, line)
			}
		}
		for _, part := range strings.Split(line, "\x1b")[1:] {
			if end := strings.IndexFunc(part, func(r rune) bool { return r != '[' && r != ';' && (r < '0' || r > '9') }); end < 0 || part[end] != 'm' {
				t.Errorf("%dx%d: not a colour: %q", m.width, m.height, part)
			}
		}
	}
}

// TestLongError: the reason of an error is shown, although the names of files come first.
func TestLongError(t *testing.T) {
	err := fmt.Errorf("write %q: no space left on device", strings.Repeat("conversations/", 8)+"session.json")
	for _, size := range [][2]int{{40, 8}, {60, 20}, {80, 18}, {80, 24}, {200, 60}} {
		drive(t, options(conversations()), size[0], size[1], func(d *driver) {
			for _, keys := range [][]string{nil, {"ctrl+o"}, {"?"}} {
				d.press(keys...)
				d.send(reloaded{err: err})
				checkFits(t, d.m)
				if text := screen(d.m); size[1] > picker.MinHeight && !strings.Contains(text, "no space left on device") {
					t.Errorf("%v, %q: it does not say why:\n%s", size, keys, text)
				}
			}
		})
	}
}

// TestTooSmall: one line says so, and keys still work.
func TestTooSmall(t *testing.T) {
	for _, size := range [][2]int{{39, 24}, {80, 7}, {5, 2}} {
		drive(t, options(conversations()), size[0], size[1], func(d *driver) {
			if text := d.m.View().Content; strings.Contains(text, "\n") || !strings.HasPrefix("too small: 40×8 needed", strings.TrimRight(text, "… ")) {
				t.Errorf("%v: %q", size, text)
			}
			d.press("pgdown", "pgup", "alt+a", "pgdown", "c", "pgup", "pgup", "g", "pgdown", "pgdown")
			if n := d.m.menu; d.m.mode != choosing || n.cursor != len(n.items)-1 {
				t.Errorf("%v: after PgDn, the cursor is at %d of %q", size, n.cursor, n.items)
			}
		})
	}
}

// TestChosenRow: the chosen row has a mark without colours, and a background once it is
// known whether the screen is dark.
func TestChosenRow(t *testing.T) {
	drive(t, options(conversations()), 80, 24, func(d *driver) {
		for _, c := range []struct {
			background color.Color
			want       style
		}{{nil, accent}, {color.Black, onDark}, {color.White, onLight}} {
			if c.background != nil {
				d.send(tea.BackgroundColorMsg{Color: c.background})
			}
			if text := d.m.View().Content; !strings.Contains(text, "\x1b["+string(c.want)) || strings.Count(text, "❯") != 1 {
				t.Errorf("%v: %q is not in %q", c.background, c.want, text)
			}
		}
	})
}
