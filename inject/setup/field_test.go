package setup

import "testing"

func TestField(t *testing.T) {
	for _, c := range []struct{ front, want string }{
		{"", ""},
		{"title: x\n", ""},
		{"description: Plain: text # too\n", "Plain: text # too"},
		{"a: b\ndescription: \"a \\\"b\\\" \\\\c\"\nc: d\n", `a "b" \c`},
		{"description: 'it''s'\n", "it's"},
		{"description: |\n  two\n  lines\nother: x\n", "two lines"},
		{"description:\n\ta\n\nother: x\n", "a"},
		{"sub:\n  description: no\n", ""},
		{"description: \"\n", `"`},
	} {
		if got := Field(c.front, "description"); got != c.want {
			t.Errorf("%q has %q, not %q", c.front, got, c.want)
		}
	}
}
