package clip

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHeadAndTail(t *testing.T) {
	for _, tc := range []struct {
		s          string
		n          int
		head, tail string
	}{
		{"", 3, "", ""},
		{"abc", 0, "", ""},
		{"abc", -1, "", ""},
		{"abc", 2, "ab", "bc"},
		{"abc", 3, "abc", "abc"},
		{"abc", 9, "abc", "abc"},
		{"日本", 2, "", ""},
		{"日本", 3, "日", "本"},
		{"日本", 5, "日", "本"},
	} {
		if got := Head(tc.s, tc.n); got != tc.head {
			t.Errorf("Head(%q, %d) = %q", tc.s, tc.n, got)
		}
		if got := Tail(tc.s, tc.n); got != tc.tail {
			t.Errorf("Tail(%q, %d) = %q", tc.s, tc.n, got)
		}
	}
}

func TestEnds(t *testing.T) {
	for s, want := range map[string]string{
		"":                    "",
		"12345678":            "12345678",
		"123456789":           "1234\n…\n6789",
		"日本語日本語":              "日\n…\n語",
		"\xff234567\xff9\xff": "234\n…\n79",
	} {
		if got := Ends(s, 4); got != want {
			t.Errorf("Ends(%q, 4) = %q, %q expected", s, got, want)
		}
	}
	if long := Ends(strings.Repeat("x", 100), 10); Ends(long, 10) != long {
		t.Errorf("the ends of %q are not itself", long)
	}
}

func TestCharacters(t *testing.T) {
	for _, tc := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"日本語", 3, "日本語"},
		{"日本語日", 3, "日本…"},
		{"ab", 1, "…"},
	} {
		if got := Characters(tc.s, tc.n); got != tc.want || utf8.RuneCountInString(got) > tc.n {
			t.Errorf("Characters(%q, %d) = %q", tc.s, tc.n, got)
		}
	}
}
