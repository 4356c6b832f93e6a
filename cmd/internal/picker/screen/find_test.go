package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/cmd/internal/listing"
)

// whole returns the whole answer to a query.
func whole(f *finder, text string) answer {
	a, rest := f.find(newQuery(text))
	if rest != nil {
		a, _ = rest()
		f.keep(a)
	}
	return a
}

// foundIn returns the positions that a query finds, best first.
func foundIn(rows fakeRows, query string) string {
	f := newFinder(newIndex(rows), listing.Filter{All: true})
	return strings.Trim(fmt.Sprint(whole(f, query).shown), "[]")
}

// TestFind: which conversations words match, best first.
func TestFind(t *testing.T) {
	rows := conversations()
	for _, c := range []struct{ why, query, want string }{
		{"nothing typed: all but the archived ones", "", "0 1 2 3 4 5 6 7 8 9"},
		{"word of titles, newest first", "login", "0 1 3"},
		{"capitals", "LOGIN", "0 1 3"},
		{"words in any order", "form login", "3"},
		{"one word of title, one of the type", "login feature", "1"},
		{"type", "brainstorm", "5"},
		{"agent", "opencode", "3"},
		{"tag", "urgent", "0"},
		{"tag in another script", "日本", "3"},
		{"folder", "topic-7", "7"},
		{"day", "2026-11-16", "5"},
		{"summary", "cookie", "1"},
		{"letters left out of a title", "pstgrs", "8"},
		{"beginnings of words", "relnot", "2"},
		{"letters left out of a summary", "cookies thrty", ""},
		{"letters left out of a summary", "cookie dys", "1"},
		{"letters that are far apart", "fixfailures", ""},
		{"letters from within a word", "ogn", ""},
		{"Unicode", "STRASSENKARTE", "4"},
		{"Unicode, without marks", "zurich", "4"},
		{"Unicode, marks of their own", "Zu\u0308rich", "4"},
		{"a mark only", "\u0308", "0 1 2 3 4 5 6 7 8 9"},
		{"Unicode, capitals", "ZÜRICH", "4"},
		{"right to left", "עולם", "5"},
		{"control characters in titles", "evil second", "7"},
		{"not all words", "page qqq", ""},
		{"nothing like it", "qqq", ""},
		{"one letter, newest first", "z", "4"},
		{"one letter of another script", "語", "3"},
		{"spaces", "  ", "0 1 2 3 4 5 6 7 8 9"},
		{"id", rows[4].ID, "4"},
		{"beginning of an id", "01kce3r1f", "0 1 2 3 4 5 6 7 8 9"},
	} {
		if got := foundIn(rows, c.query); got != c.want {
			t.Errorf("%s: %q finds %q, want %q", c.why, c.query, got, c.want)
		}
	}
}

// TestRepeatedWords: a word that is typed again changes nothing.
func TestRepeatedWords(t *testing.T) {
	if q := newQuery("login Form LOGIN login form"); !slices.Equal(q.words, []string{"login", "form"}) {
		t.Errorf("the words are %q", q.words)
	}
}

// TestRank: a word at the beginning of a word of the title comes first, then one in the
// title, the other fields, the summary, then scattered letters; among equals, the newest.
func TestRank(t *testing.T) {
	rows := fakeRows{
		{Title: "Logs are in need of care"},
		{Title: "x", Summary: "they need a login"},
		{Title: "x", Tags: []string{"login"}},
		{Title: "relogin"},
		{Title: "the login"},
		{Title: "login"},
	}
	if got := foundIn(rows, "login"); got != "4 5 3 2 1 0" {
		t.Errorf("order %q", got)
	}
}

// TestNarrowed: typing letter by letter, deleting and typing again find what typing all at
// once finds.
func TestNarrowed(t *testing.T) {
	rows := many(6_000)
	x := newIndex(rows)
	narrowed := newFinder(x, listing.Filter{All: true})
	for _, typed := range []string{"parser windows", "prsr", "日本語", "login retry 99", "fix the x", "pfx", rows[77].ID} {
		var texts []string
		for i := range typed {
			texts = append(texts, typed[:i])
		}
		texts = append(texts, typed)
		back := slices.Clone(texts)
		slices.Reverse(back)
		scratch := map[string]answer{}
		for _, text := range texts {
			scratch[text] = whole(newFinder(x, listing.Filter{All: true}), text)
		}
		for _, text := range append(append(texts, back...), texts...) {
			got, want := whole(narrowed, text), scratch[text]
			if !slices.Equal(got.shown, want.shown) || got.hidden != want.hidden || !slices.IsSorted(got.matched) || !got.whole {
				t.Fatalf("%q finds %d conversations and %d hidden, from scratch %d and %d", text, len(got.shown), got.hidden, len(want.shown), want.hidden)
			}
		}
	}
}

// TestFirstPart checks that the newest matches appear, in their final order, before all
// conversations have been examined.
func TestFirstPart(t *testing.T) {
	f := newFinder(newIndex(many(10_000)), listing.Filter{All: true})
	first, rest := f.find(newQuery("parser windows"))
	if rest == nil || first.whole || len(first.shown) == 0 || slices.Max(first.shown) > f.listed[atOnce] {
		t.Fatalf("first %d conversations, whole %t", len(first.shown), first.whole)
	}
	all, current := rest()
	newest := slices.DeleteFunc(slices.Clone(all.shown), func(at int) bool { return at >= f.listed[atOnce] })
	if !current || !slices.Equal(newest, first.shown) {
		t.Errorf("current %t, the first part is not in order", current)
	}
}

// TestStops: looking further ends when a newer key came.
func TestStops(t *testing.T) {
	f := newFinder(newIndex(many(10_000)), listing.Filter{All: true})
	_, old := f.find(newQuery("parser"))
	_, rest := f.find(newQuery("parser w"))
	if _, current := old(); current {
		t.Error("the answer to an older query counts")
	}
	if _, current := rest(); !current {
		t.Error("the answer to the newest query does not count")
	}
}

// FuzzScattered: what a word matches, its beginning matches too, and the mask of the text
// has its letters. Narrowing relies on both.
func FuzzScattered(f *testing.F) {
	f.Add("cnfg", "the config loader")
	f.Add("語本", "日本語 日本")
	f.Add("ab", "a bab ab")
	f.Fuzz(func(t *testing.T, word, text string) {
		word, text = strings.ToLower(word), strings.ToLower(text)
		if word == "" || !utf8.ValidString(word+text) || !scattered(text, word, span) {
			return
		}
		for i := range word {
			if i > 0 && !scattered(text, word[:i], span) {
				t.Errorf("%q matches %q, but its beginning %q does not", word, text, word[:i])
			}
		}
		if maskOf(text)&maskOf(word) != maskOf(word) {
			t.Errorf("%q matches %q, but the mask does not", word, text)
		}
	})
}
