package screen

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestLine: what each key does to a line. | is the cursor.
func TestLine(t *testing.T) {
	key := func(code rune, mod tea.KeyMod) tea.KeyPressMsg { return tea.KeyPressMsg{Code: code, Mod: mod} }
	for _, c := range []struct {
		name string
		keys []tea.KeyPressMsg
		want string
	}{
		{"typed", []tea.KeyPressMsg{{Code: 'é', Text: "é"}}, "login formé|"},
		{"left, typed", []tea.KeyPressMsg{key(tea.KeyLeft, 0), {Code: 'x', Text: "x"}}, "login forx|m"},
		{"word left", []tea.KeyPressMsg{key(tea.KeyLeft, tea.ModCtrl)}, "login |form"},
		{"two words left, one right", []tea.KeyPressMsg{key(tea.KeyLeft, tea.ModAlt), key(tea.KeyLeft, tea.ModAlt), key(tea.KeyRight, tea.ModAlt)}, "login| form"},
		{"backspace", []tea.KeyPressMsg{key(tea.KeyBackspace, 0)}, "login for|"},
		{"delete", []tea.KeyPressMsg{key(tea.KeyLeft, 0), key(tea.KeyDelete, 0)}, "login for|"},
		{"delete at the end", []tea.KeyPressMsg{key(tea.KeyDelete, 0)}, "login form|"},
		{"word deleted", []tea.KeyPressMsg{key('w', tea.ModCtrl)}, "login |"},
		{"all deleted", []tea.KeyPressMsg{key('u', tea.ModCtrl), key(tea.KeyBackspace, 0), key(tea.KeyLeft, 0)}, "|"},
		{"rest deleted", []tea.KeyPressMsg{key('b', tea.ModCtrl), key('b', tea.ModCtrl), key('k', tea.ModCtrl), key('e', tea.ModCtrl)}, "login fo|"},
		{"home, typed", []tea.KeyPressMsg{key(tea.KeyHome, 0), {Code: 'x', Text: "x"}}, "x|login form"},
		{"ctrl+a, end", []tea.KeyPressMsg{key('a', tea.ModCtrl), key(tea.KeyDelete, 0), key(tea.KeyEnd, 0)}, "ogin form|"},
		{"not a letter", []tea.KeyPressMsg{key(tea.KeyF5, 0), {Code: 'x', Text: "x", Mod: tea.ModAlt}}, "login form|"},
	} {
		l := newLine("login form")
		for _, k := range c.keys {
			l.edit(k)
		}
		if got := string(l.text[:l.at]) + "|" + string(l.text[l.at:]); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLineEnds: a line takes only so much text, wherever it is inserted.
func TestLineEnds(t *testing.T) {
	l := newLine("login")
	l.at = 0
	l.insert(strings.Repeat("日本 ", 1_000_000))
	if len(l.text) != longestLine || l.at != longestLine-5 || !strings.HasSuffix(l.String(), "login") {
		t.Errorf("the line has %d characters and the cursor is at %d", len(l.text), l.at)
	}
	l.insert("x")
	if len(l.text) != longestLine {
		t.Errorf("a full line takes another character: %d", len(l.text))
	}
	title := strings.Repeat("t", 2*longestLine) // one that is already there stays whole
	if l = newLine(title); l.String() != title {
		t.Errorf("of a long title %d characters stay", len(l.text))
	}
	l.insert("x")
}

// TestLineView: the cursor stays visible in a narrow line, also between wide characters.
func TestLineView(t *testing.T) {
	for _, text := range []string{"", "short", "a line that is longer than the screen", "日本語の検索は長い行です"} {
		l := newLine(text)
		for l.at = len(l.text); l.at >= 0; l.at-- {
			shown, cursor := l.view(0, 10)
			if w := ruler(0).width(shown); w > 10 || cursor < 0 || cursor >= 10 || cursor > w {
				t.Errorf("%q at %d: %q of %d columns, cursor at %d", text, l.at, shown, w, cursor)
			}
			if l.at == 0 {
				break
			}
		}
	}
}
