package notes

import "testing"

// TestOneLine checks what is left of white space, and of what a terminal would interpret.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		" ":                            "",
		"a":                            "a",
		"a b c":                        "a b c",
		" a":                           "a",
		"a ":                           "a",
		"a  b":                         "a b",
		"\ta\r\n\n b\u00a0\u2028c\x7f": "a b c",
		"\x1b[1mbold\x1b[0m  text":     "bold text",
		"\u200b a \u200b b\u202e":      "a b",
		"é ü":                          "é ü",
		"a\xffb":                       "a\ufffdb",
		"a\U000f0020b":                 "ab",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { oneLine("one line of output: it needs no change") }); n > 0 {
		t.Errorf("%v allocations for a line that needs no change", n)
	}
}
