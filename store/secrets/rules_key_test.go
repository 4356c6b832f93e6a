package secrets

import (
	"fmt"
	"strings"
	"testing"
)

// TestKeyInOtherDress covers private keys in the forms in which tools show them.
func TestKeyInOtherDress(t *testing.T) {
	m := newMaker(12)
	head, foot := "-----BEGIN RSA PRIVATE "+"KEY-----", "-----END RSA PRIVATE "+"KEY-----"
	lines := []string{m.of(b64, 64), m.of(b64, 64), m.of(b64, 64), m.of(b64, 22) + "=="}
	const mark = markerStart + "private-key]"

	numbered := ""
	for i, line := range append(append([]string{head}, lines...), foot) {
		numbered += fmt.Sprintf("%6d→%s\n", i+1, line)
	}
	indented := head + "\n    " + strings.Join(lines, "\n    ") + "\n    " + foot
	diff := "+" + head + "\n+" + strings.Join(lines, "\n+") + "\n+" + foot
	tests := []struct{ name, in, want string }{
		{"line numbers", numbered + "after", "     1→" + mark + "\nafter"},
		{"indented", "key: |\n    " + indented + "\n", "key: |\n    " + mark + "\n"},
		{"diff", diff + "\n", "+" + mark + "\n"},
		{"carriage returns", head + "\r\n" + strings.Join(lines, "\r\n") + "\r\n" + foot + "\r\n", mark + "\r\n"},
		{"two keys", indented + "\n\n" + indented + "\n", mark + "\n\n" + mark + "\n"},
		{
			"list of strings",
			`["` + head + `","` + strings.Join(lines, `","`) + `","` + foot + `"]`,
			`["` + head + `","` + strings.Repeat(mark+`","`, len(lines)) + foot + `"]`,
		},
		{
			"concatenation",
			`k := "` + head + `\n" +` + "\n\t\"" + strings.Join(lines, `\n" +`+"\n\t\"") + `\n" +` + "\n\t\"" + foot + `\n"`,
			`k := "` + head + `\n" +` + "\n\t\"" + strings.Repeat(mark+`\n" +`+"\n\t\"", len(lines)) + foot + `\n"`,
		},
		{"cut off", head + "\n" + lines[0] + "\n" + lines[1] + "\n[truncated]", mark + "\n[truncated]"},
		{"certificate in front", "-----BEGIN CERTIFICATE-----\n" + lines[0] + "\n-----END CERTIFICATE-----\n" + indented,
			"-----BEGIN CERTIFICATE-----\n" + lines[0] + "\n-----END CERTIFICATE-----\n" + mark},
	}
	for _, tt := range tests {
		for name, esc := range map[string]func(string) string{"plain": strings.Clone, "escaped": quoted} {
			if got, _ := redact(t, esc(tt.in)); got != esc(tt.want) {
				t.Errorf("%s, %s:\n got %q\nwant %q", tt.name, name, got, esc(tt.want))
			}
		}
	}
}
