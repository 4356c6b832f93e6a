package summarize

import (
	"errors"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		answer, want string
		err          error
	}{
		{" It was done.\n", "It was done.", nil},
		{"It was (mostly) \"done.\"", "It was (mostly) \"done.\"", nil},
		{"完成了。", "完成了。", nil},
		{"It was done. ✔️", "It was done. ✔️", nil},
		{"It was ✔️", "", ErrCut},
		{"**It was done.**", "**It was done.**", nil},
		{"<think>I'm sorry, what?</think>\n\nIt was done.", "It was done.", nil},
		{"The user said: I can't do this. It was done.", "The user said: I can't do this. It was done.", nil},
		{"\x1b[It was\r\ndone\u202e.", "[It was\ndone.", nil},
		{"\x00I'm sorry, but no.", "", ErrRefused},
		{"", "", ErrEmpty},
		{" \n\t", "", ErrEmpty},
		{"<think>It was done.</think> ", "", ErrEmpty},
		{"<think>It was done.", "", ErrCut},
		{"I can't help with that.", "", ErrRefused},
		{"I’m sorry, but I cannot do that", "", ErrRefused},
		{"*Sorry, no.*", "", ErrRefused},
		{"As an AI language model I won't.", "", ErrRefused},
		{"It was done. Then the", "", ErrCut},
		{"It was done,", "", ErrCut},
		{"It was done \xff", "", ErrCut},
		{"Done:\n- a\n- b", "", ErrCut},
		{strings.Repeat("ä", 500), "", ErrCut},
		{"I cannot " + strings.Repeat("ä", 500) + ".", "", ErrRefused},
	} {
		got, err := Check(c.answer)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%.60q: %q, %v; want %q, %v", c.answer, got, err, c.want, c.err)
		}
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("%.60q: a long error: %v", c.answer, err)
		}
	}
}

func TestCheckTitle(t *testing.T) {
	for _, c := range []struct {
		answer, want string
		err          error
	}{
		{"Retry the login on a timeout", "Retry the login on a timeout", nil},
		{" **Title:** \"Retry the login.\"\n\nIt says what was done.", "Retry the login", nil},
		{"**Title**: Retry the login", "Retry the login", nil},
		{"title: `retry.go`", "retry.go", nil},
		{"## «Die Anmeldung wiederholen»", "Die Anmeldung wiederholen", nil},
		{"ログインの再試行", "ログインの再試行", nil},
		{"To be continued ...", "To be continued ...", nil},
		{"<think>I'm sorry, what?</think>\n\nRetry", "Retry", nil},
		{"\x1b[Retry\u202e the\x00 login", "[Retry the login", nil},
		{"<think>Retry", "", ErrCut},
		{"I can't help with that.", "", ErrRefused},
		{"\"Sorry, no.\"", "", ErrRefused},
		{"", "", ErrEmpty},
		{"Title:", "", ErrEmpty},
		{"***\nRetry", "", ErrEmpty},
		{"...", "", ErrEmpty},
	} {
		got, err := CheckTitle(c.answer)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q: %q, %v; want %q, %v", c.answer, got, err, c.want, c.err)
		}
	}
}
