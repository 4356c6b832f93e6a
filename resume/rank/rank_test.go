package rank

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/schema/tokens"
)

// words are what texts in tests are made of.
var words = []string{
	"the", "server", "answers", "cmd/serve/main.go", "parseHeader", "--dry-run", "ERR_1042", "~/.config/app.toml", "a.b.c", "x86_64", "12345abc", "well-known",
	"日本語", "é", "👩‍👩‍👧‍👦", "…", "~~~~", "\n", "\n\n", `\n`, "\t", ". ", ", ", "\xff", "\u2028", strings.Repeat("long", 60), strings.Repeat("p/", 40) + "q.go",
}

func some(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(4) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func sections(r *rand.Rand, n int) []Section {
	var all []Section
	for range n {
		s := Section{Heading: 1 + r.IntN(8)}
		switch kind := Kind(r.IntN(4)); kind {
		case Call:
			s.Parts = append(s.Parts, Part{Kind: Call, Text: strings.ReplaceAll(some(r, r.IntN(60)), "\n", " ")})
			if r.IntN(4) > 0 {
				s.Parts = append(s.Parts, Part{Kind: Result, Text: some(r, r.IntN(400))})
			}
		default:
			if r.IntN(8) > 0 {
				s.Parts = append(s.Parts, Part{Kind: kind, Text: some(r, r.IntN(100))})
			}
		}
		all = append(all, s)
	}
	return all
}

// TestNames compares with the definition that the measure of recall is built on.
func TestNames(t *testing.T) {
	run := regexp.MustCompile(`[A-Za-z_~./-][A-Za-z0-9_./~-]{4,}`)
	camel, digit, letter := regexp.MustCompile(`[a-z][A-Z]`), regexp.MustCompile(`[0-9]`), regexp.MustCompile(`[A-Za-z]`)
	check := func(s string) {
		t.Helper()
		var want, got []string
		for _, n := range run.FindAllString(s, -1) {
			n = strings.Trim(n, "./-~")
			if len(n) >= 5 && (strings.ContainsAny(n, "/_") || strings.Contains(n[1:len(n)-1], ".") || camel.MatchString(n) || digit.MatchString(n) && letter.MatchString(n)) {
				want = append(want, n)
			}
		}
		names(s, func(n string) { got = append(got, n) })
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", s, got, want)
		}
	}
	for _, s := range words {
		check(s)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		check(some(r, 8))
		b := make([]byte, r.IntN(30))
		for i := range b {
			b[i] = "aZ_~./-09 \n"[r.IntN(11)]
		}
		check(string(b))
	}
}

func TestWithin(t *testing.T) {
	var got []string
	within("~/src/cmd-serve/main.go", func(p string) { got = append(got, p) })
	for _, want := range []string{"~/src/cmd-serve/main.go", "src/cmd-serve/main.go", "serve/main.go", "main.go", "cmd-serve", "cmd-serve/main"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	if slices.Contains(got, "rve/main.go") || slices.Contains(got, "go") {
		t.Errorf("%q", got)
	}
	n := 0
	within(strings.Repeat("abcdef/", 10_000), func(string) { n++ })
	if n > 2*maxElements*maxElements {
		t.Errorf("%d parts of a name without end", n)
	}
}

// TestSplit: the segments are the text, none is longer than need be or cuts a
// character.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		s := strings.ToValidUTF8(some(r, r.IntN(200)), "?")
		at := 0
		for _, seg := range split(s, Kind(r.IntN(5))) {
			if seg.from != at || seg.to <= seg.from || !utf8.ValidString(s[seg.from:seg.to]) {
				t.Fatalf("%q from %d to %d after %d", s, seg.from, seg.to, at)
			}
			if i := strings.IndexByte(s[seg.from:seg.to], '\n'); i >= 0 && i != seg.to-seg.from-1 || seg.to-seg.from > speechBytes+longestCut+utf8.UTFMax {
				t.Errorf("segment %q", s[seg.from:seg.to])
			}
			at = seg.to
		}
		if at != len(s) {
			t.Errorf("%d of %d bytes", at, len(s))
		}
	}
}

// TestSplitInput: the line ends of a text in JSON end segments, each of them, and what
// is escaped is not cut.
func TestSplitInput(t *testing.T) {
	text := `{"content":"one\nthe second\nC:\\new and more\n"}`
	var got []string
	for _, s := range split(text, Call) {
		got = append(got, text[s.from:s.to])
	}
	if want := []string{`{"content":"one`, `\nthe second`, `\nC:\\new and more`, `\n"}`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// pieces wants what is told to be pieces of a section in their order.
func pieces(s Section, told string) error {
	var whole strings.Builder
	for _, p := range s.Parts {
		whole.WriteString(p.Text + "\n")
	}
	rest := whole.String()
	for _, p := range strings.Split(told, Gap) {
		p = strings.Trim(p, "\n")
		i := strings.Index(rest, p)
		if i < 0 {
			return fmt.Errorf("%q is not in %q", p, rest)
		}
		rest = rest[i+len(p):]
	}
	return nil
}

// TestChoose holds every choice to its bounds.
func TestChoose(t *testing.T) {
	rounds := uint64(200)
	if testing.Short() {
		rounds = 40
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 5))
		all := sections(r, r.IntN(40))
		h := Read(all)
		for range 3 {
			o := Options{Tokens: r.IntN(3000), Known: []string{some(r, 5)}}
			o.Recent = r.IntN(o.Tokens + 1)
			o.Older = r.IntN(o.Tokens + 1)
			told := h.Choose(o)
			if again := Read(all).Choose(o); !reflect.DeepEqual(told, again) {
				t.Fatalf("seed %d: another choice the second time", seed)
			}
			used, before := 0, 0
			for i, d := range told {
				if err := pieces(all[i], d.Text); err != nil {
					t.Fatalf("seed %d: section %d: %v", seed, i, err)
				}
				var whole strings.Builder
				for _, p := range all[i].Parts {
					if whole.WriteString(p.Text); p.Text != "" && !strings.HasSuffix(p.Text, "\n") {
						whole.WriteByte('\n')
					}
				}
				if d.Whole != (d.Text == whole.String()) {
					t.Fatalf("seed %d: section %d: whole is %t for %q of %q", seed, i, d.Whole, d.Text, whole.String())
				}
				if d.Text == "" {
					continue
				}
				if len(all[i].Parts) > 0 && all[i].Parts[0].Kind == Call && all[i].Parts[0].Text != "" && strings.HasPrefix(d.Text, Gap) && !strings.HasPrefix(all[i].Parts[0].Text, Gap) {
					t.Errorf("seed %d: a call without the beginning of its input: %q", seed, d.Text)
				}
				n := all[i].Heading + tokens.Count(d.Text)
				used += n
				if !d.Recent {
					before += n
				}
				if i > 0 && told[i-1].Recent && !d.Recent && d.Text != "" {
					t.Errorf("seed %d: section %d is not of the end, the one before is", seed, i)
				}
			}
			// A gap is counted with two tokens, and may be one or three.
			if slack := 60 + o.Tokens/8; used > o.Tokens+slack || before > o.Older+slack {
				t.Errorf("seed %d: %d tokens of %d, %d of %d before the end", seed, used, o.Tokens, before, o.Older)
			}
		}
	}
}

// TestWorth: what was named lately, often and by people is worth more.
func TestWorth(t *testing.T) {
	base := stat{parts: 3, first: 10, last: 50, fewest: 10, kinds: 1 << Result}
	value := func(change func(*stat)) int64 {
		s := base
		change(&s)
		return s.worth(100, "parseHeader")
	}
	plain := value(func(*stat) {})
	for what, change := range map[string]func(*stat){
		"later":         func(s *stat) { s.last = 98 },
		"by the user":   func(s *stat) { s.kinds |= 1 << User },
		"in a call":     func(s *stat) { s.kinds |= 1 << Call },
		"among few":     func(s *stat) { s.fewest = 2 },
		"younger":       func(s *stat) { s.first = 40 },
		"not in a list": func(s *stat) { s.fewest = 1 },
	} {
		if got := value(change); got <= plain {
			t.Errorf("%s: %d, else %d", what, got, plain)
		}
	}
}

// TestPrefers: a name that the user spoke of is told before one from a long list.
func TestPrefers(t *testing.T) {
	var list strings.Builder
	for i := range 300 {
		fmt.Fprintf(&list, "vendor/some/dependency/file_%d.go\n", i)
	}
	all := []Section{{6, []Part{{Kind: User, Text: "please look at cmd/serve/main.go"}}}, {6, []Part{{Kind: Call, Text: `{"command":"find ."}`}, {Kind: Result, Text: list.String()}}}}
	for i := range 30 {
		all = append(all, Section{6, []Part{{Kind: Assistant, Text: fmt.Sprintf("step %d of nothing in particular", i)}}})
	}
	told := Read(all).Choose(Options{Tokens: 120, Older: 60, Recent: 40})
	if !strings.Contains(told[0].Text, "cmd/serve/main.go") {
		t.Errorf("%+v", told[:2])
	}
	if told[31].Text == "" || !told[31].Whole || !told[31].Recent {
		t.Errorf("the last section: %+v", told[31])
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("look at cmd/serve/main.go", `{"file_path":"a/b.go"}`, "1: x_y\n2: …\n", 100, 40)
	f.Fuzz(func(t *testing.T, said, input, output string, budget, recent int) {
		all := []Section{{5, []Part{{Kind: User, Text: said}}}, {5, []Part{{Kind: Call, Text: input}, {Kind: Result, Text: output}}}, {5, []Part{{Kind: Assistant, Text: output + said}}}}
		told := Read(all).Choose(Options{Tokens: budget, Recent: recent, Older: budget / 2})
		for i, d := range told {
			if err := pieces(all[i], d.Text); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	all := sections(r, 2000)
	size := 0
	for s := range slices.Values(all) {
		for _, p := range s.Parts {
			size += len(p.Text)
		}
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		Read(all).Choose(Options{Tokens: 8000, Older: 4000, Recent: 2000})
	}
}

// TestNameless: what nobody repeats is worth nothing, and looks like no version, address
// or commit.
func TestNameless(t *testing.T) {
	for name, want := range map[string]bool{
		"428l-7.5": true, "7.4a5l8": true, "10.5c1-2": true, "sha512-Kq8pdjHJ7XSaOl5Z3Xv9G4oUuTzNJSPQqs0oFWyRFFOBnXW7M2qTOmHhqYDBsYHEyS1Xo1KnJ3yVZ9qHKuTeQ": true,
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855": true,
		"v1.2.3": false, "1.18.33": false, "192.168.8.1": false, "2025-11-22": false, "1.0.0-rc1": false, "1.5x": false, "go1.26.8": false, "node-20.11.1": false, "a1b2c3d": false,
		"8906b57c0ffee0000000000000000000000000ab": false, "3d.go": false, "h264.mp4": false, "1.2.3b4": false,
		"docs/external/moonrepo/docs__guides__intro.ext.md": false, "01kdhg6zb1a5vejjs3h72yzm5p": false, "github.com/alecthomas/participle/v2/lexer/stateful_2024.go": false,
	} {
		if got := nameless(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
