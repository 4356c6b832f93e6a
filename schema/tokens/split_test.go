package tokens

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func pieces(text string) []string {
	var pieces []string
	for text != "" {
		n := pieceLen(text)
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

func TestPieces(t *testing.T) {
	// Checked by hand, so that the pattern is not the only reference.
	for text, want := range map[string]string{
		"":                  "",
		"Hello world":       "Hello| world",
		"camelCase HTTPReq": "camel|Case| HTTPReq",
		"漢字ABC":             "漢字|ABC",
		"ABC漢字def":          "ABC漢字def",
		"it's IT'S it'ſ":    "it's| IT'S| it'ſ",
		"we'lly it'x":       "we'll|y| it|'x",
		"\u0301ABC":         "\u0301|ABC",
		"\u0301abc":         "\u0301abc",
		"!\u0301":           "!\u0301",
		"\u0301's":          "\u0301's",
		"12345":             "123|45",
		"--flag ==\n/\nx":   "--|flag| ==\n/\n|x",
		"a  \n  \n  b":      "a|  \n  \n| | b",
		"a  \t1":            "a|  |\t|1",
		"a  \t":             "a|  \t",
		"a\u0085\u00a0b":    "a|\u0085|\u00a0b",
		"a\u180eb \u200bB":  "a|\u180eb| \u200b|B",
		"\n \n":             "\n \n",
		"\tx\t\ty":          "\tx|\t|\ty",
		"\r\n\r\nx":         "\r\n\r\n|x",
		"$x $ x\u00a0":      "$x| $| x|\u00a0",
		"①②③④⅓x":            "①②③|④⅓|x",
	} {
		if got := strings.Join(pieces(text), "|"); got != want {
			t.Errorf("%q splits into %q, want %q", text, got, want)
		}
	}
	for _, text := range slices.Concat(tricky, long(300)) {
		if got, want := pieces(text), referencePieces(t, text); !slices.Equal(got, want) {
			t.Errorf("%q splits into\n%q, want\n%q", text, got, want)
		}
	}
}

func TestClasses(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue // has no UTF-8
		}
		var want uint8
		if unicode.In(r, unicode.Lu, unicode.Lt, unicode.Lm, unicode.Lo, unicode.M) {
			want |= upper
		}
		if unicode.In(r, unicode.Ll, unicode.Lm, unicode.Lo, unicode.M) {
			want |= lower
		}
		if unicode.Is(unicode.N, r) {
			want |= number
		}
		if unicode.Is(unicode.White_Space, r) {
			want |= space
		}
		if r == '\r' || r == '\n' {
			want |= newline
		}
		if !unicode.In(r, unicode.White_Space, unicode.L, unicode.N) {
			want |= other
		}
		if newer(r) {
			continue // covered by TestCodePoints
		}
		s := string(r)
		if c, n := classAt(s, 0); c != want || n != len(s) {
			t.Errorf("%U is of class %b in %d bytes, want %b in %d", r, c, n, want, len(s))
		}
	}
	if c, n := classAt("a", 1); c != 0 || n != 0 {
		t.Errorf("the end is of class %b in %d bytes", c, n)
	}
}

// TestCodePoints compares every code point, in texts that distinguish the classes, with
// the counts of tiktoken itself (testdata/codepoints.js).
func TestCodePoints(t *testing.T) {
	if raceDetector {
		t.Skip("NOT RUN with -race (scripts/coverage.sh runs it): takes too long")
	}
	golden, err := os.ReadFile("testdata/codepoints.golden")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(string(golden))
	last := rune(unicode.MaxRune)
	if testing.Short() {
		last = 0x3ffff // all assigned code points, except tags and variations
	}
	for first := rune(0); first <= last; first += 0x1000 {
		sum := fnv.New32a()
		for r := first; r < first+0x1000; r++ {
			if r >= 0xd800 && r < 0xe000 {
				continue // has no UTF-8
			}
			c := string(r)
			for _, text := range [...]string{c, c + "\r\n\r\n//", "a" + c, "1" + c, c + c, c + "The", " " + c + "'s", c + "1234"} {
				sum.Write([]byte{byte(Count(text))})
			}
		}
		if len(want) < 2 || want[0] != fmt.Sprintf("%x", first) {
			t.Fatalf("the golden file lacks %x", first)
		}
		if got := fmt.Sprintf("%x", sum.Sum32()); got != want[1] {
			t.Errorf("the counts of %U to %U are not those of tiktoken", first, first+0xfff)
		}
		want = want[2:]
	}
}
