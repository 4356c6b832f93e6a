package schema_test

import (
	"testing"

	"cortext/schema"
)

func TestWithoutEscapes(t *testing.T) {
	for s, want := range map[string]string{
		"plain [2m a[0] \\x1b[1m":                            "plain [2m a[0] \\x1b[1m",
		"\x1b[2mCompacted\x1b[22m\n\x1b[2m\x1b[22m\n> *x*":   "Compacted\n\n> *x*",
		"\x1b[38;2;1;2;3mrgb\x1b[0m \x1b[4:3mwave\x1b[m":     "rgb wave",
		"\x1b[?25l\x1b[2K\x1b[1;1Htop\x1b[ q":                "top",
		"\x1b]0;a title\x07x":                                "x",
		"\x1b]8;;https://a.b/c\x1b\\link\x1b]8;;\x1b\\ rest": "link rest",
		"\x1b]0;never ended\nnext line":                      "\nnext line",
		"\x1bPq#0;2\x1b\\after \x1b(B\x1bM\x1b7é\x1b=":       "after é",
		"cut \x1b[31": "cut ",
		"cut \x1b":    "cut ",
		"\x1b\nnext":  "\nnext",
	} {
		if got := schema.WithoutEscapes(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
