package screen

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"cortext/cmd/internal/listing"
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

// TestSteady: what a title is drawn with has the same width in every terminal. With x/ansi,
// which places the rest of the line, a soft hyphen has no column and the vowels of Korean
// syllables in parts have one; terminals see it the other way round.
func TestSteady(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"soft hyphens", "Donau\u00addampf\u00adschiff", "Donaudampfschiff"},
		{"Korean in parts", "\u1112\u1161\u11ab\u1100\u1173\u11af \u1111\u1161", "한글 파"},
		{"Korean, whole", "한글", "한글"},
		{"a whole syllable and an end", "하\u11ab", "한"},
		{"a syllable with an end, and another end", "한\u11ab", "한\u11ab"},
		{"parts that are no syllable", "\u1161\u11ab\u1112", "\u1161\u11ab\u1112"},
		{"a family", "👨\u200d👩\u200d👧\ufe0f 👍🏽", "👨👩👧 👍"},
		{"letters that are joined", "न\u200dक", "न\u200dक"},
	} {
		if got := clean(c.text); got != c.want {
			t.Errorf("%s: %q becomes %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// TestWindowTitle: the window keeps its title: the picker could not put it back.
func TestWindowTitle(t *testing.T) {
	drive(t, options(conversations()), 80, 24, func(d *driver) {
		if title := d.m.View().WindowTitle; title != "" {
			t.Errorf("the title becomes %q", title)
		}
	})
}

// TestCursorShape: the cursor keeps the shape that the user has given it.
func TestCursorShape(t *testing.T) {
	var out bytes.Buffer
	m := newModel(t.Context(), options(conversations()))
	p := tea.NewProgram(m, tea.WithInput(nil), tea.WithOutput(&out), tea.WithWindowSize(80, 24), tea.WithoutSignalHandler())
	go func() {
		for _, key := range []rune{'l', tea.KeyF1, tea.KeyEscape, tea.KeyTab, tea.KeyTab} {
			p.Send(tea.KeyPressMsg{Code: key})
		}
		p.Quit()
	}()
	if _, err := p.Run(); err != nil {
		t.Fatal(err)
	}
	m.work.wait()
	if !strings.Contains(out.String(), ansi.ShowCursor) || regexp.MustCompile(`\x1b\[\d* q`).MatchString(out.String()) {
		t.Errorf("it draws %q", out.String())
	}
}

// TestSentence: a sentence that is too long shows the first words found, and that it is cut.
func TestSentence(t *testing.T) {
	look := rowLook{}
	for _, c := range []struct{ text, word, want string }{
		{"the words are near", "near", "the words are near"},
		{strings.Repeat("all of the ", 9) + "router specs", "router", "…the all of the router specs"},
		{strings.Repeat("検索", 30) + "の結果を見る", "結果", "…索検索検索検索の結果を見る"},
	} {
		at := strings.Index(c.text, c.word)
		text, marks := look.around(picker.Hit{Sentence: c.text, Marks: [][2]int{{at, at + len(c.word)}}}, 50)
		if marked := text[marks[0][0]:marks[0][1]]; text != c.want || marked != c.word {
			t.Errorf("%q marked in %q, want %q in %q", marked, text, c.word, c.want)
		}
	}
}

// TestHelpFits: a small screen shows every key, also the last ones.
func TestHelpFits(t *testing.T) {
	o := options(conversations())
	o.Actions = []picker.Action{{Key: 'e', Name: "title"}, {Key: 't', Name: "tag"}, {Key: 'x', Name: "archive"}, {Key: 'd', Name: "remove"}}
	o.Undo = func(context.Context) (string, error) { return "", nil }
	o.Prompts = func(context.Context, listing.Row) ([]picker.Prompt, error) { return nil, nil }
	o.Everywhere = func(context.Context) (picker.Rows, error) { return o.Rows, nil }
	drive(t, o, 60, 20, func(d *driver) {
		d.press("?")
		for _, want := range []string{"e t x d", "title, tag, archive, remove", "leave with exit code 130"} {
			if text := d.m.View().Content; !strings.Contains(text, want) {
				t.Errorf("%q is not shown:\n%s", want, text)
			}
		}
	})
}
