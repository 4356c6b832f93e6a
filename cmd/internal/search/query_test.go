package search

import "testing"

// TestSmartCase: case matters if a word has an upper-case letter. In a regular expression, the letter
// after a backslash is not one.
func TestSmartCase(t *testing.T) {
	for _, c := range []struct {
		parse      func([]string) (*Query, error)
		word, text string
		want       bool
	}{
		{ParseArguments, `main.cs`, `src\Main.cs`, true},
		{ParseArguments, `src\main`, `src\Main.cs`, true},
		{ParseArguments, `Main.cs`, `src\main.cs`, false},
		{ParseArguments, `src\Main`, `src\main.cs`, false},
		{ParseArguments, `src\Main`, `src\Main.cs`, true},
		{ParseRegexps, `\Smain`, `src\Main.cs`, true},
		{ParseRegexps, `\SMain`, `src\main.cs`, false},
	} {
		q, err := c.parse([]string{c.word})
		if err != nil {
			t.Fatal(err)
		}
		if got := q.in(c.text) != 0; got != c.want {
			t.Errorf("%s is found in %s: %t", c.word, c.text, got)
		}
	}
}

// TestSpellings: letters with marks are found whether they are composed or decomposed.
func TestSpellings(t *testing.T) {
	const composed, decomposed, other = "d\u00e9j\u00e0 vu", "de\u0301ja\u0300 vu", "de\u0300j\u00e0 vu"
	for _, typed := range []string{composed, decomposed} {
		for text, want := range map[string]bool{composed: true, decomposed: true, other: false} {
			q, err := Parse(`"` + typed + `"`)
			if err != nil {
				t.Fatal(err)
			}
			if got := q.in(text) != 0; got != want {
				t.Errorf("%+q is found in %+q: %t", typed, text, got)
			}
		}
	}
}
