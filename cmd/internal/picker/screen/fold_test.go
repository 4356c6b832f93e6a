package screen

import (
	"fmt"
	"testing"
)

// TestFold: texts that differ only in case, marks or the kind of an apostrophe are folded alike.
func TestFold(t *testing.T) {
	for _, alike := range [][]string{
		{"Café menu", "cafe menu", "CAFE\u0301 MENU"}, {"Straße", "STRASSE", "STRAẞE"}, {"İstanbul", "ıstanbul", "ISTANBUL"},
		{"ΣΊΣΥΦΟΣ", "σισυφος", "σίσυφος"}, {"Ёлка", "елка"}, {"Łódź", "lodz"}, {"Việt Nam", "viet nam"}, {"O’Brien", "o'brien"}, {"\u212Aelvin", "kelvin"}, {"\xff", "\uFFFD"},
		{"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"}, {"\u304c", "\u304b\u3099"},
	} {
		for _, text := range alike {
			if got := fold(text); got != fold(alike[0]) {
				t.Errorf("%q becomes %q, but %q becomes %q", text, got, alike[0], fold(alike[0]))
			}
		}
	}
	if fold("йод") == fold("иод") || fold("が") == fold("か") {
		t.Error("letters of their own are folded")
	}
}

// TestMarks: the typed words are marked where the title has them, with their marks.
func TestMarks(t *testing.T) {
	for _, c := range []struct{ word, title, want string }{
		{"menu", "Café menu", "[menu]"},
		{"cafe", "Café menu", "[Café]"},
		{"cafe", "Cafe\u0301 menu", "[Cafe\u0301]"},
		{"karte", "Straßenkarte", "[karte]"},
		{"\u304c", "x \u304b\u3099", "[\u304b\u3099]"},
		{"strasse", "Straßenkarte", "[Straße]"},
		{"zrch", "für Zürich", "[Z r c h]"},
	} {
		marked := []string{}
		for _, r := range (&rowLook{words: []string{c.word}}).marks(c.title) {
			marked = append(marked, c.title[r[0]:r[1]])
		}
		if got := fmt.Sprint(marked); got != c.want {
			t.Errorf("%s in %q: %s, want %s", c.word, c.title, got, c.want)
		}
	}
}
