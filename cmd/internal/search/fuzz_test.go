package search

import (
	"slices"
	"testing"

	"cortext/cmd/internal/search/needle"
	"cortext/schema/jsonl"
)

// FuzzLine checks that wherever decoding a line finds a term, the needle finds a place in
// its bytes.
func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":"a t\u0061sk, T\u00e4sk"}`), "task", false)
	f.Add([]byte(`{"role":"user","content":"src\/main.go \"x\" \ud83d\udc4d"}`), "src/main", true)
	f.Add([]byte("{\"role\":\"user\",\"content\":\"Ta\u017fk tas\u212a GRÖSSE\"}"), "größe", false)
	f.Add([]byte("{\"role\":\"user\",\"content\":\"Cafe\u0301 \\u1112\\u1161\\u11ab\"}"), "café 한", false)
	f.Fuzz(func(t *testing.T, line []byte, words string, regexps bool) {
		parse := Parse
		if regexps {
			parse = func(s string) (*Query, error) { return ParseRegexps([]string{s}) }
		}
		q, err := parse(words)
		if err != nil {
			return
		}
		for i, c := range line {
			if c == '\n' {
				line[i] = ' '
			}
		}
		text := append([]byte("{}\n"), line...)
		text = append(text, '\n')
		jsonl.Split(jsonl.Line{Text: line, Terminated: true}, func(rec jsonl.Record, err error) bool {
			if err != nil {
				return true
			}
			for _, parse := range []func([]byte) (record, []passage, error){parseMessage, parseTool} {
				f, passages, err := parse(rec.Raw)
				if err != nil || !q.match(&f, passages) {
					continue
				}
				for i, term := range q.terms {
					possible := func(n *needle.Needle) bool { return n.Next(text, 0) >= 0 }
					if f.terms>>i&1 != 0 && !slices.ContainsFunc(term.needles, possible) {
						t.Errorf("%q is in %q, but not found", words, line)
					}
				}
				for _, p := range passages {
					for _, m := range q.sentence(p.text).Matches {
						if m[0] >= m[1] {
							t.Errorf("an empty match in %q", p.text)
						}
					}
				}
			}
			return true
		})
	})
}
