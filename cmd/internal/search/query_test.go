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
