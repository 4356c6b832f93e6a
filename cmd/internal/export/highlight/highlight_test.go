package highlight

import (
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	for _, c := range []struct{ language, code, want string }{
		{"go", "if x := f(\"a\", 42); x { // no", "k:if f:f s:\"a\" n:42 c:// no"},
		{"store/tx.py", "def f(x): # no\n  return '''a\nb'''", "k:def f:f c:# no k:return s:'''a\nb'''"},
		{"yaml", "name: x # c", "f:name c:# c"},
		{"json", `{"a": "b", "n": 1.5}`, `f:"a" s:"b" f:"n" n:1.5`},
		{"sql", "SELECT a FROM b -- c", "k:SELECT k:FROM c:-- c"},
		{"sh", "if cd x; then echo 'y'; fi", "k:if k:cd k:then k:echo s:'y' k:fi"},
		{"rust", "fn a(s: &'a str) -> Vec<u8> {}", "k:fn f:a t:Vec"},
	} {
		l, ok := Language(c.language)
		if !ok {
			t.Fatalf("%s is unknown", c.language)
		}
		var got []string
		for _, p := range l.Parts(c.code) {
			if p.Kind != Plain {
				got = append(got, string(p.Kind)+":"+p.Text)
			}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s %q: %s, want %s", c.language, c.code, s, c.want)
		}
	}
	if _, ok := Language("notes.unknown"); ok {
		t.Error("an unknown language has a lexer")
	}
}

// FuzzParts: no part of a text is lost, in any language.
func FuzzParts(f *testing.F) {
	f.Add("go", "a := `x\n\"\\")
	f.Add("html", "<!-- <b x=\"")
	f.Fuzz(func(t *testing.T, language, code string) {
		l, ok := Language(language)
		if !ok {
			return
		}
		var all strings.Builder
		for _, p := range l.Parts(code) {
			all.WriteString(p.Text)
		}
		if all.String() != code {
			t.Errorf("%q becomes %q", code, all.String())
		}
		var lines []string
		for _, parts := range l.Lines(code) {
			line := ""
			for _, p := range parts {
				line += p.Text
			}
			lines = append(lines, line)
		}
		if strings.Join(lines, "\n") != code {
			t.Errorf("the lines of %q are %q", code, lines)
		}
	})
}
