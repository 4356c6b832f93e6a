package screen

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
	"cortext/schema"
)

// fakeRows are conversations, newest first.
type fakeRows []listing.Row

func (r fakeRows) Len() int              { return len(r) }
func (r fakeRows) Row(i int) listing.Row { return r[i] }
func (r fakeRows) Select(f listing.Filter) (at []int) {
	for i := range r {
		if f.Selects(&r[i]) {
			at = append(at, i)
		}
	}
	return at
}

func (r fakeRows) ByID(id string) (int, bool) {
	i := slices.IndexFunc(r, func(row listing.Row) bool { return schema.SameConversation(row.ID, id) })
	return i, i >= 0
}

func clock() time.Time { return time.Date(2026, 11, 25, 15, 30, 0, 0, time.FixedZone("CET", 3600)) }

func ago(d time.Duration) time.Time { return clock().Add(-d) }

// conversations returns a typical list.
func conversations() fakeRows {
	const day = 24 * time.Hour
	rows := fakeRows{
		{Title: "Fix the login retry after three failures", Type: "debug", Agent: "claude", Status: "active", Messages: 44, LastActive: ago(88 * time.Minute), Tags: []string{"auth", "urgent"},
			Model: "claude-opus-4-5", Summary: "The retry lost its state whenever the server answered with 503. We wrote a failing test first, then moved the counter out of the loop. Open: the same path on Windows."},
		{Title: "Login page: remember me", Type: "feature", Agent: "gemini", Status: "paused", Messages: 12, LastActive: ago(6 * time.Hour), Summary: "A cookie of thirty days."},
		{Title: "Release notes for 2.4", Type: "chat", Agent: "claude", Status: "completed", Messages: 9, LastActive: ago(20 * time.Hour)},
		{Title: "日本語の検索 breaks the login form", Type: "debug", Agent: "opencode", Status: "completed", Messages: 7, LastActive: ago(6 * day), Tags: []string{"日本"}},
		{Title: "Straßenkarte für Zürich", Type: "learn", Agent: "gemini", Status: "paused", Messages: 123456, LastActive: ago(6*day + time.Hour)},
		{Title: "שלום עולם: מסך הכניסה", Type: "brainstorm", Agent: "claude", Status: "paused", Messages: 3, LastActive: ago(9 * day)},
		{Title: "👩‍👩‍👧 family emoji and é̂ marks", Type: "chat", Agent: "claude", Status: "paused", Messages: 31, LastActive: ago(40 * day)},
		{Title: "evil \x1b[31mred\x1b[0m \u202egnitirw\nsecond line \x9b2J", Type: "plan\x1b[2J", Agent: "gem\x07ini", Status: "paused", Messages: 5, LastActive: ago(41 * day), Tags: []string{"\x1b]0;owned\x07"}, Summary: "\x1b[2Jgone"},
		{Title: "Database migration to PostgreSQL 17, with a title that is far too long for any column of any list on any screen that people have on their desks, wide as it may be, and then some more of it", Type: "projectmanage", Agent: "claude", Status: "paused", Messages: 260, LastActive: ago(80 * day)},
		{Title: "Payment service", Type: "refactor", Agent: "claude", Status: "newer", Messages: 1, LastActive: ago(400 * day), Description: "Split the payment service in two, please"},
		{Title: "Old login ideas", Type: "plan", Agent: "claude", Status: "paused", Archived: true, Messages: 4, LastActive: ago(500 * day)},
	}
	for i := range rows {
		rows[i].Agents = rows[i].Agent
		rows[i].ID = fmt.Sprintf("01kce3r1f5j9a3d6f0h4k8n2%02d", i)
		rows[i].Path = "conversations/" + rows[i].LastActive.Format("2006-01-02/1504") + "-" + fmt.Sprintf("%s-%d", "topic", i)
	}
	return rows
}

func options(rows picker.Rows) picker.Options {
	return picker.Options{
		Now: clock, Rows: rows, Filter: listing.Filter{All: true}, Agents: []string{"claude", "opencode", "gemini"}, Types: []string{"brainstorm", "debug", "plan"},
		Preview: func(_ context.Context, row listing.Row) (picker.Preview, error) {
			return picker.Preview{
				Plan:     []picker.Step{{Text: "write a failing test", Done: true}, {Text: "move the counter", Done: true}, {Text: "the same path on Windows"}},
				Exchange: []picker.Line{{Who: "you", Text: "does it still lose the state when two writers append?"}, {Who: row.Agent, Text: "No. Both go through the lock now; the test with twenty writers passes 500 times in a row."}},
				Files:    []picker.File{{Mark: "M", Path: "internal/login/retry.go"}, {Mark: "A", Path: "internal/login/retry_test.go"}},
				Since:    []string{"2 commits", "· login: wait longer"},
				Branches: 1,
			}, nil
		},
		Search: func(_ context.Context, words string, found func(picker.Hit)) error {
			text := "we said that the " + words + " must not wait for the server"
			at := strings.Index(text, words)
			for _, id := range []string{conversations()[1].ID, conversations()[3].ID} {
				found(picker.Hit{ID: id, Message: 17, Sentence: text, Marks: [][2]int{{at, at + len(words)}}, Count: 3})
			}
			return nil
		},
	}
}

// A driver runs a model without a terminal: it carries out every command before the next
// message. It runs in a [synctest] bubble, so that waiting takes no time.
type driver struct {
	t    *testing.T
	m    *model
	left bool
	msgs []tea.Msg // other messages that commands gave
}

// drive runs a test with a model of a size.
func drive(t *testing.T, o picker.Options, width, height int, run func(d *driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := newModel(t.Context(), o)
		m.width, m.height = width, height
		d := &driver{t: t, m: m}
		d.run(m.Init())
		run(d)
		m.work.wait()
	})
}

func (d *driver) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			d.run(c)
		}
	case tea.QuitMsg:
		d.left = true
	case reload: // once a second: tests send it themselves
	default:
		d.msgs = append(d.msgs, msg)
		d.send(msg)
	}
}

func (d *driver) send(msg tea.Msg) { d.run(d.m.update(msg)) }

// reload lists other conversations.
func (d *driver) reload(rows fakeRows) {
	before := d.m.o.Reload
	d.m.o.Reload = func(context.Context, []string) (picker.Rows, error) { return rows, nil }
	d.run(d.m.reload())
	d.m.o.Reload = before
}

// press presses keys: names as in [tea.Key], or text that is typed.
func (d *driver) press(keys ...string) {
	for _, k := range keys {
		if special, ok := specials[k]; ok {
			d.send(tea.KeyPressMsg(special))
			continue
		}
		if rest, ok := strings.CutPrefix(k, "alt+"); ok {
			d.send(tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModAlt})
			continue
		}
		if rest, ok := strings.CutPrefix(k, "ctrl+"); ok {
			d.send(tea.KeyPressMsg{Code: []rune(rest)[0], Mod: tea.ModCtrl})
			continue
		}
		for _, r := range k {
			d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
}

var specials = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace}, "f1": {Code: tea.KeyF1},
}

func (d *driver) titles() (titles []string) {
	for i := range d.m.list.items {
		titles = append(titles, d.m.list.at(d.m.rows, i).Title)
	}
	return titles
}

// TestKeys: what each key does, and what the picker returns.
func TestKeys(t *testing.T) {
	rows := conversations()
	for _, c := range []struct {
		name string
		keys []string
		want picker.Choice
		left bool
	}{
		{"enter resumes the newest", []string{"enter"}, picker.Choice{Kind: picker.Resume, Row: rows[0]}, true},
		{"arrows", []string{"down", "down", "up", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[1]}, true},
		{"ctrl+n and ctrl+p", []string{"ctrl+n", "ctrl+n", "ctrl+p", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[1]}, true},
		{"end, home", []string{"end", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[9]}, true},
		{"above the first", []string{"up", "pgup", "home", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[0]}, true},
		{"below the last", []string{"end", "down", "pgdown", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[9]}, true},
		{"typing filters", []string{"payment", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[9]}, true},
		{"words in any order", []string{"form login", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[3]}, true},
		{"letters are words first", []string{"q"}, picker.Choice{}, false},
		{"letters are commands in the list", []string{"tab", "q"}, picker.Choice{}, true},
		{"j and k in the list", []string{"tab", "j", "j", "k", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[1]}, true},
		{"agent", []string{"alt+a", "down", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[0], Agent: "opencode"}, true},
		{"agent by its letter", []string{"tab", "a", "g", "enter"}, picker.Choice{Kind: picker.Resume, Row: rows[0], Agent: "gemini"}, true},
		{"no agent after all", []string{"alt+a", "esc"}, picker.Choice{}, false},
		{"new", []string{"alt+n", "d", "enter", "API design", "enter"}, picker.Choice{Kind: picker.New, Type: "debug", Topic: "API design"}, true},
		{"new without a topic", []string{"alt+n", "enter", " ", "enter"}, picker.Choice{Type: "brainstorm"}, false},
		{"new, about words that match nothing", []string{"xyzzy", "alt+n", "d", "enter", "enter"}, picker.Choice{Kind: picker.New, Type: "debug", Topic: "xyzzy"}, true},
		{"new, after words that match", []string{"login", "alt+n", "enter", "enter"}, picker.Choice{Type: "brainstorm"}, false},
		{"ctrl+c", []string{"ctrl+c"}, picker.Choice{Kind: picker.Interrupted}, true},
		{"ctrl+c in a menu", []string{"alt+a", "ctrl+c"}, picker.Choice{Kind: picker.Interrupted}, true},
		{"esc goes back one step", []string{"tab", "login", "esc"}, picker.Choice{}, false},
		{"esc leaves at last", []string{"login", "esc", "esc"}, picker.Choice{}, true},
		{"nothing to resume", []string{"qqqqq", "enter"}, picker.Choice{}, false},
	} {
		drive(t, options(rows), 80, 24, func(d *driver) {
			d.press(c.keys...)
			if d.left != c.left || !reflect.DeepEqual(d.m.choice, c.want) {
				t.Errorf("%s: left %t with %+v, want %t, %+v", c.name, d.left, d.m.choice, c.left, c.want)
			}
		})
	}
}

// TestOtherKeyboards: locks do not matter, and with another script's letters the place of
// the key counts, if the terminal reports it.
func TestOtherKeyboards(t *testing.T) {
	for _, key := range []tea.KeyPressMsg{
		{Code: 'a', Mod: tea.ModAlt | tea.ModNumLock | tea.ModCapsLock},
		{Code: 'ф', BaseCode: 'a', Mod: tea.ModAlt},
	} {
		drive(t, options(conversations()), 80, 24, func(d *driver) {
			d.send(key)
			if d.m.mode != choosing {
				t.Errorf("%+v opens no menu", key)
			}
		})
	}
}

// TestHidden: archived conversations are counted, and shown on demand.
func TestHidden(t *testing.T) {
	drive(t, options(conversations()), 80, 24, func(d *driver) {
		d.press("login")
		if d.m.answer.hidden != 1 || len(d.m.list.items) != 3 {
			t.Errorf("%d hidden of %q", d.m.answer.hidden, d.titles())
		}
		d.press("alt+h")
		if d.m.answer.hidden != 0 || len(d.m.list.items) != 4 {
			t.Errorf("with all: %d hidden of %q", d.m.answer.hidden, d.titles())
		}
	})
}

// TestArchived: once the conversation at the cursor is archived, the cursor is on the next.
func TestArchived(t *testing.T) {
	rows := conversations()
	drive(t, options(rows), 80, 24, func(d *driver) {
		d.press("down", "down", "down")
		next := d.m.list.at(d.m.rows, 4).ID
		changed := slices.Clone(rows)
		changed[3].Archived = true
		d.reload(changed)
		if got := d.m.chosen(); got.ID != next || d.m.list.cursor != 3 {
			t.Errorf("the cursor %d is on %q", d.m.list.cursor, got.Title)
		}
	})
}

// TestReload: when the list changes, the cursor stays on its conversation. One that is
// gone stays visible until the cursor leaves it, and cannot be resumed.
func TestReload(t *testing.T) {
	rows := conversations()
	drive(t, options(rows), 80, 24, func(d *driver) {
		d.press("down", "down", "down")
		grown := slices.Clone(rows)
		grown[3].Messages, grown[3].LastActive = 8, clock()
		newer := grown[3]
		grown = slices.Insert(slices.Delete(grown, 3, 4), 0, newer)
		d.reload(grown)
		if got := d.m.chosen(); got.ID != rows[3].ID || got.Messages != 8 || d.m.list.cursor != 0 {
			t.Fatalf("after it has grown, the cursor %d is on %q", d.m.list.cursor, got.Title)
		}
		d.press("down", "down")
		gone := slices.Delete(slices.Clone(grown), 2, 3)
		d.reload(gone)
		if got := d.m.chosen(); got.ID != grown[2].ID || !d.m.list.isGone(got.ID) || len(d.m.list.items) != 10 {
			t.Fatalf("after it is gone, the cursor is on %q of %q", got.Title, d.titles())
		}
		d.press("enter")
		if d.left || d.m.notice.text != picker.ErrGone.Error() {
			t.Errorf("what is gone is resumed: %q", d.m.notice.text)
		}
		d.press("down")
		if got := d.m.chosen(); got.ID != grown[3].ID || len(d.m.list.items) != 9 {
			t.Errorf("then the cursor goes to %q of %q", got.Title, d.titles())
		}
		d.reload(grown)
		d.press("up", "enter")
		if !d.left || d.m.choice.Row.ID != grown[2].ID {
			t.Errorf("what has come back is not resumed: %q", d.m.notice.text)
		}
	})
}

// TestReloadKeepsPlace: a changed list does not jump: the row of the cursor stays where it is
// on the screen, unless the list shows its beginning.
func TestReloadKeepsPlace(t *testing.T) {
	rows := many(200)
	row := func(m *model) int {
		for y, line := range strings.Split(m.View().Content, "\n") {
			if strings.Contains(line, "❯") {
				return y
			}
		}
		return -1
	}
	drive(t, options(rows), 60, 20, func(d *driver) {
		for range 60 {
			d.press("down")
		}
		for range 5 {
			d.m.View()
			d.press("up")
		}
		before, chosen := row(d.m), d.m.chosen().ID
		d.reload(append(conversations()[:3:3], rows...))
		if got := row(d.m); got != before || d.m.chosen().ID != chosen {
			t.Errorf("the cursor moves from line %d to %d", before, got)
		}
	})
	drive(t, options(rows), 60, 20, func(d *driver) {
		d.press("down")
		d.m.View()
		chosen := d.m.chosen().ID
		d.reload(append(conversations()[:3:3], rows...))
		if text := d.m.View().Content; !strings.Contains(text, "Fix the login retry after three failures") || d.m.chosen().ID != chosen {
			t.Errorf("new conversations are not seen at the beginning:\n%s", text)
		}
	})
}

// TestExists: a conversation that vanished since the list was read is noticed at Enter, or
// when its preview is read.
func TestExists(t *testing.T) {
	o := options(conversations())
	o.Exists = func(listing.Row) bool { return false }
	drive(t, o, 80, 24, func(d *driver) {
		d.press("enter")
		if d.left || d.m.notice.text != picker.ErrGone.Error() {
			t.Errorf("%q", d.m.notice.text)
		}
	})
	o.Exists = nil
	o.Preview = func(context.Context, listing.Row) (picker.Preview, error) {
		return picker.Preview{}, fmt.Errorf("reading: %w", picker.ErrGone)
	}
	drive(t, o, 120, 24, func(d *driver) {
		if !d.m.list.isGone(conversations()[0].ID) {
			t.Error("the preview does not notice")
		}
	})
}

// TestPreviewRests: conversations that the cursor only passes are not read, and none is
// read twice.
func TestPreviewRests(t *testing.T) {
	o := options(conversations())
	var read []string
	o.Preview = func(_ context.Context, row listing.Row) (picker.Preview, error) {
		read = append(read, row.Title)
		return picker.Preview{}, nil
	}
	drive(t, o, 120, 24, func(d *driver) {
		var waiting []tea.Cmd
		for range 4 {
			waiting = append(waiting, d.m.update(tea.KeyPressMsg{Code: tea.KeyDown}))
		}
		for _, cmd := range waiting {
			d.run(cmd)
		}
		d.press("home", "down", "down", "down", "down")
		if want := []string{conversations()[0].Title, conversations()[4].Title, conversations()[1].Title, conversations()[2].Title, conversations()[3].Title}; !slices.Equal(read, want) {
			t.Errorf("read %q, want %q", read, want)
		}
	})
}

// TestSearch: / searches what was said; its hits take the place of the list.
func TestSearch(t *testing.T) {
	drive(t, options(conversations()), 80, 24, func(d *driver) {
		d.press("/", "retry")
		if len(d.m.list.items) != 2 || d.m.search.busy {
			t.Fatalf("found %q", d.titles())
		}
		d.press("down", "enter")
		if !d.left || d.m.choice.Row.ID != conversations()[3].ID {
			t.Errorf("chose %+v", d.m.choice)
		}
	})
	drive(t, options(conversations()), 80, 24, func(d *driver) {
		d.press("login", "alt+/", "esc")
		if d.m.search.on || d.m.words.String() != "login" || len(d.m.list.items) != 3 {
			t.Errorf("back from the search: %q", d.titles())
		}
		if d.press("ctrl+u", "/", " "); !strings.Contains(d.m.View().Content, "Type words") {
			t.Errorf("blanks are taken for words:\n%s", d.m.View().Content)
		}
	})
}

// TestActionWithText: an action that needs a text asks for it; without one nothing is done.
func TestActionWithText(t *testing.T) {
	var done []string
	o := options(conversations())
	o.Actions = []picker.Action{{Key: 't', Name: "tag", Input: "Tags:"}}
	o.Act = func(_ context.Context, a picker.Action, row listing.Row) (string, error) {
		done = append(done, a.Text+" "+row.ID)
		return "tagged", nil
	}
	drive(t, o, 80, 24, func(d *driver) {
		d.press("alt+t", "esc", "alt+t", "enter", "w", "x", "ctrl+a", "v", "home", "u", "end", "y", "enter")
		if want := "uvwxy " + conversations()[0].ID; len(done) != 1 || done[0] != want {
			t.Errorf("done %q, want %q", done, want)
		}
		if d.m.mode != browsing {
			t.Errorf("the mode is %v afterwards", d.m.mode)
		}
	})
}

// TestActions: an action asks first if it says so, and does nothing on a read-only disk.
func TestActions(t *testing.T) {
	var done []string
	o := options(conversations())
	o.Actions = []picker.Action{{Key: 'x', Name: "archive"}, {Key: 'd', Name: "remove", Ask: "Remove it?"}}
	o.Act = func(_ context.Context, a picker.Action, row listing.Row) (string, error) {
		done = append(done, a.Name+" "+row.ID)
		return a.Name + "d", nil
	}
	id := conversations()[0].ID
	for _, c := range []struct {
		keys     []string
		readOnly string
		want     string
	}{
		{[]string{"alt+x"}, "", "[archive " + id + "]"},
		{[]string{"tab", "x"}, "", "[archive " + id + "]"},
		{[]string{"tab", "d", "n"}, "", "[]"},
		{[]string{"tab", "d", "enter"}, "", "[]"},
		{[]string{"tab", "d", "y"}, "", "[remove " + id + "]"},
		{[]string{"tab", "x"}, "the disk is read-only", "[]"},
	} {
		done = nil
		o.ReadOnly = func(listing.Row) string { return c.readOnly }
		drive(t, o, 80, 24, func(d *driver) {
			d.press(c.keys...)
			if fmt.Sprint(done) != c.want {
				t.Errorf("%q: %v, want %s", c.keys, done, c.want)
			}
		})
	}
}

// placed returns conversations as those of a workspace in a list of several.
func placed(rows fakeRows, workspace string) fakeRows {
	for i := range rows {
		rows[i].Workspace = workspace
	}
	return rows
}

// TestEverywhere: Ctrl+A lists the conversations of all workspaces, and again those of this
// one; changes of this one do not show meanwhile.
func TestEverywhere(t *testing.T) {
	o := options(conversations())
	o.Everywhere = func(context.Context) (picker.Rows, error) { return placed(many(50), "/srv/shop"), nil }
	drive(t, o, 80, 24, func(d *driver) {
		d.press("ctrl+a")
		d.reload(conversations()[:2])
		if !strings.Contains(screen(d.m), "45 of 45 everywhere, 5 hidden") {
			t.Errorf("everywhere:\n%s", screen(d.m))
		}
		d.press("ctrl+a")
		if got := len(d.m.list.items); got != 10 {
			t.Errorf("back here are %d", got)
		}
		d.press("ctrl+a", "home", "enter")
		if d.m.choice.Row.Workspace != "/srv/shop" || d.m.choice.Row.ID != many(2)[1].ID {
			t.Errorf("chose %+v", d.m.choice)
		}
	})
}

// TestPaste: pasted text filters, without its line breaks.
func TestPaste(t *testing.T) {
	drive(t, options(conversations()), 80, 24, func(d *driver) {
		d.send(tea.PasteMsg{Content: "login\nform\x1b"})
		if d.m.words.String() != "login form" || len(d.m.list.items) != 1 {
			t.Errorf("%q finds %q", d.m.words.String(), d.titles())
		}
	})
}
