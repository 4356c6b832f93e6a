package notes

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode"
)

// TestPossible: a text that a list's regular expressions match is never held impossible.
func TestPossible(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, p := range patterns() {
		matched := 0
		for _, expr := range words()["/"+name] {
			re, err := syntax.Parse(expr, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			pattern := regexp.MustCompile(expr)
			for range 300 {
				text := matching(rng, re)
				if !pattern.MatchString(text) { // it takes no account of word boundaries
					continue
				}
				matched++
				if !p.possible(text) {
					t.Fatalf("%s: %q matches %s, but has none of %q", name, text, expr, p.needs)
				}
			}
		}
		if matched == 0 {
			t.Errorf("%s: nothing matched", name)
		}
	}
}

// matching returns a text that probably matches.
func matching(rng *rand.Rand, re *syntax.Regexp) string {
	var sb strings.Builder
	repeat := func(least, most int) string {
		for range least + rng.IntN(most-least+1) {
			sb.WriteString(matching(rng, re.Sub[0]))
		}
		return sb.String()
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			for n := rng.IntN(4); re.Flags&syntax.FoldCase != 0 && n > 0; n-- {
				r = unicode.SimpleFold(r)
			}
			sb.WriteRune(r)
		}
	case syntax.OpCharClass:
		at := 2 * rng.IntN(len(re.Rune)/2)
		sb.WriteRune(re.Rune[at] + rng.Int32N(min(re.Rune[at+1]-re.Rune[at], 90)+1))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		sb.WriteByte('a' + byte(rng.IntN(26)))
	case syntax.OpCapture:
		return matching(rng, re.Sub[0])
	case syntax.OpStar, syntax.OpQuest:
		return repeat(0, 1)
	case syntax.OpPlus:
		return repeat(1, 2)
	case syntax.OpRepeat:
		return repeat(re.Min, max(re.Min, min(re.Max, re.Min+2)))
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			sb.WriteString(matching(rng, sub))
		}
	case syntax.OpAlternate:
		return matching(rng, re.Sub[rng.IntN(len(re.Sub))])
	}
	return sb.String()
}
