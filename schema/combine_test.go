package schema

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCombineRedacted(t *testing.T) {
	for _, test := range []struct{ a, b, want string }{
		{"same", "same", "same"},
		{"the key is [redacted: x].", "the key is abc.", "the key is [redacted: x]."},
		{"[redacted: x] and bob", "amy and [redacted: x]", "[redacted: x] and [redacted: x]"},
		{"a [redacted: x]", "[redacted: y]", "[redacted: y]"},
		{"[redacted: x]", "all", "[redacted: x]"},
		{"keys one[redacted: x] here", "keys [redacted: y]two here", "keys [redacted: y][redacted: x] here"},
		{"see [1] and [redacted: x]", "see [redacted: y] and [2]", "see [redacted: y] and [redacted: x]"},
		{"a [redacted: x] b", "a one and [redacted: y] b", "a [redacted: x] b"},
		{"one", "two", ""},
		{"one [redacted: x]", "two [redacted: x]", ""},
	} {
		for _, sides := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			got, ok := CombineRedacted(sides[0], sides[1])
			if ok != (test.want != "") || ok && got != test.want {
				t.Errorf("%q and %q: %q, %t, want %q", sides[0], sides[1], got, ok, test.want)
			}
		}
	}
}

// TestCombineRandom: whatever two clones redact in a text, what they combine has nothing of
// either, all else, and does not depend on the order.
func TestCombineRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the key of this and that, a [b] é user\nsaid: to be")
	for range 3000 {
		var text, a, b, want []string
		for i := range 1 + r.IntN(30) {
			word := words[r.IntN(len(words))]
			inA, inB := r.IntN(6) == 0, r.IntN(6) == 0
			if inA || inB {
				word = "secret" + strings.Repeat("!", i) // each once
			}
			pick := func(redacted bool) string {
				if redacted {
					return "[redacted: by-user]"
				}
				return word
			}
			text, a, b, want = append(text, word), append(a, pick(inA)), append(b, pick(inB)), append(want, pick(inA || inB))
		}
		x, y := strings.Join(a, " "), strings.Join(b, " ")
		got, ok := CombineRedacted(x, y)
		other, _ := CombineRedacted(y, x)
		if !ok || got != strings.Join(want, " ") || got != other {
			t.Fatalf("%q\n%q\n%q\ngive %t\n%q\n%q", strings.Join(text, " "), x, y, ok, got, other)
		}
	}
}

// TestHasRedacted: a version that redacts as much as another, under whatever name, has nothing of it.
func TestHasRedacted(t *testing.T) {
	for _, c := range []struct {
		text, other string
		want        bool
	}{
		{"the key is x1", "the key is [redacted: key]", true},
		{"the key is [redacted: key]", "the key is x1", false},
		{"the key is [redacted: a]", "the key is [redacted: b]", false},
		{"the key is [redacted: a]1", "the key is [redacted: b]", true},
		{"the [redacted: a]", "the key is [redacted: b]", false},
		{"x1 and [redacted: a]", "[redacted: b] and x2", true},
		{"the key is x1", "the key is x1", false},
		{"something else", "the key is [redacted: key]", false},
	} {
		if got := HasRedacted(c.text, c.other); got != c.want {
			t.Errorf("%q, beside %q: %t", c.text, c.other, got)
		}
	}
}
