package excerpt

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"cortext/schema/tokens"
)

// words are the vocabulary of test texts.
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
		case Input:
			s.Texts = append(s.Texts, Text{Kind: Input, Text: strings.ReplaceAll(some(r, r.IntN(60)), "\n", " ")})
			if r.IntN(4) > 0 {
				s.Texts = append(s.Texts, Text{Kind: Output, Text: some(r, r.IntN(400))})
			}
		default:
			if r.IntN(8) > 0 {
				s.Texts = append(s.Texts, Text{Kind: kind, Text: some(r, r.IntN(100))})
			}
		}
		all = append(all, s)
	}
	return all
}

// TestNames compares the names found with the definition that the recall measure uses.
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
		eachName(s, func(at int, n string) {
			if s[at:at+len(n)] != n {
				t.Errorf("%q does not stand at %d of %q", n, at, s)
			}
			got = append(got, n)
		})
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
	eachPart("~/src/cmd-serve/main.go", func(p string) { got = append(got, p) })
	for _, want := range []string{"~/src/cmd-serve/main.go", "src/cmd-serve/main.go", "serve/main.go", "main.go", "cmd-serve", "cmd-serve/main"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	if slices.Contains(got, "rve/main.go") || slices.Contains(got, "go") {
		t.Errorf("%q", got)
	}
	n := 0
	eachPart(strings.Repeat("abcdef/", 10_000), func(string) { n++ })
	if n > 2*maxElements*maxElements {
		t.Errorf("%d parts of a name without end", n)
	}
}

// TestSnippets checks that snippets add up to the text. None may be longer than
// necessary, cut a character or cross the end of a line.
func TestSnippets(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		s := strings.ToValidUTF8(some(r, r.IntN(200)), "?")
		kind, at := Kind(r.IntN(5)), 0
		if kind == Input {
			s = strings.ReplaceAll(s, "\n", " ")
		}
		for _, seg := range snippetsOf(Text{Kind: kind, Text: s}) {
			if seg.from != at || seg.to <= seg.from || !utf8.ValidString(s[seg.from:seg.to]) {
				t.Fatalf("%q from %d to %d after %d", s, seg.from, seg.to, at)
			}
			line := strings.TrimLeftFunc(s[seg.from:seg.to], unicode.IsSpace) // blank lines belong to what follows
			if i := strings.IndexByte(line, '\n'); i >= 0 && i != len(line)-1 || len(line) > longestWhole || line == "" && seg.to < len(s) {
				t.Errorf("snippet %q", s[seg.from:seg.to])
			}
			at = seg.to
		}
		if at != len(s) {
			t.Errorf("%d of %d bytes", at, len(s))
		}
	}
}

// TestSnippetsOf checks that a sentence or line stays whole, and that a long input is
// cut at the end of a line or member, never within an escape.
func TestSnippetsOf(t *testing.T) {
	long := strings.Repeat("some words of no interest ", 12)
	for _, tc := range []struct {
		kind Kind
		want []string // the beginning
	}{
		{User, []string{"This is the first sentence. ", "Here is a second one, e.g. of two. ", "And a third.\n", "\n \n- an entry\n", "2. Tests are number two."}},
		{Output, []string{"a line. Of two sentences, which is one line.\n", "b\n"}},
		{Input, []string{`{"command":"one\ntwo","description":"short"}`}},
		{Input, []string{`{"content":"the first of them`, `\nthe second, which is long`, `\nC:\\new and more of that`, `\n` + long}},
		{Input, []string{`{"file_path":"/p/a/b.go",`, `"old_string":"some words of no interest some some words of no `, long}},
	} {
		text := strings.Join(tc.want, "")
		var got []string
		for _, s := range snippetsOf(Text{Kind: tc.kind, Text: text}) {
			got = append(got, text[s.from:s.to])
		}
		for i, want := range tc.want {
			if i >= len(got) || got[i] != want && !strings.HasPrefix(got[i], want) && !strings.HasSuffix(want, long) && want != long {
				t.Errorf("snippet %d of %q is not %q", i, got, want)
			}
		}
	}
}

// lineGap matches a line about omissions.
var lineGap = regexp.MustCompile(`(?m)^… \d+ lines?$`)

// pieces checks that what is included consists of pieces of a section, in order.
func pieces(s Section, included string) error {
	var whole strings.Builder
	for _, p := range s.Texts {
		whole.WriteString(p.Text + "\n")
	}
	rest := whole.String()
	for _, p := range strings.Split(lineGap.ReplaceAllString(included, Gap), Gap) {
		p = strings.Trim(p, "\n")
		i := strings.Index(rest, p)
		if i < 0 {
			return fmt.Errorf("%q is not in %q", p, rest)
		}
		rest = rest[i+len(p):]
	}
	return nil
}

// all returns everything included of a section.
func (c Chosen) all() string {
	if c.Input == "" {
		return c.Text
	}
	return c.Input + "\n" + c.Text
}

// TestChoose checks every choice against its limits.
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
			budget, known, end := r.IntN(3000), []string{some(r, 5)}, r.IntN(4) == 0
			choose := func(h *History) []Chosen {
				if end {
					return h.ChooseEnd(budget, ShortOutputs)
				}
				return h.Choose(budget, known)
			}
			chosen := choose(h)
			if again := choose(Read(all)); !reflect.DeepEqual(chosen, again) {
				t.Fatalf("seed %d: another choice the second time", seed)
			}
			used := 0
			for i, d := range chosen {
				if err := pieces(all[i], d.all()); err != nil {
					t.Fatalf("seed %d: section %d: %v", seed, i, err)
				}
				var whole strings.Builder
				for _, p := range all[i].Texts {
					if whole.WriteString(p.Text); p.Text != "" && !strings.HasSuffix(p.Text, "\n") {
						whole.WriteByte('\n')
					}
				}
				if d.Whole != (d.all() == whole.String()) {
					t.Fatalf("seed %d: section %d: whole is %t for %q of %q", seed, i, d.Whole, d.all(), whole.String())
				}
				if d.all() == "" {
					continue
				}
				if input := all[i].Texts[0]; input.Kind == Input && input.Text != "" && !end && (d.Input == "" || d.Input[0] != input.Text[0]) {
					t.Errorf("seed %d: a call without the beginning of its input: %q", seed, d.all())
				}
				used += all[i].Heading + tokens.Count(d.all())
			}
			if slack := 60 + budget/8; used > budget+slack { // each gap is estimated, and may take one more token
				t.Errorf("seed %d: %d tokens of %d", seed, used, budget)
			}
			if err := answered(h, chosen, end); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
}

// answered checks that no question comes without its answer, and no text without its
// request. If the end is chosen (recent), it may begin after the request.
func answered(h *History, chosen []Chosen, recent bool) error {
	has := func(k int) bool { return chosen[h.texts[k].section].Text != "" }
	for i, t := range h.turns {
		for _, k := range t.asked {
			if has(k) && t.answer >= 0 && !has(t.answer) {
				return fmt.Errorf("turn %d has its question %d without its answer", i, k)
			}
		}
		for _, k := range append(t.others[:len(t.others):len(t.others)], max(t.answer, 0)) {
			if !recent && t.answer >= 0 && len(t.asked) > 0 && has(k) && !slices.ContainsFunc(t.asked, has) {
				return fmt.Errorf("turn %d says %d without what was asked", i, k)
			}
		}
	}
	return nil
}

// talk returns a conversation of n turns with the given number of sentences per text.
func talk(n, sentences int) (all []Section) {
	for i := range n {
		said := func(kind Kind, what string) {
			var b strings.Builder
			for k := range sentences {
				fmt.Fprintf(&b, "This is %s %d of turn %d, as it was said. ", what, k, i)
			}
			all = append(all, Section{Turn: i, Heading: 5, Texts: []Text{{Kind: kind, Text: b.String()}}})
		}
		said(User, "request")
		said(Assistant, "remark")
		all = append(all, Section{Turn: i, Heading: 6, Texts: []Text{{Kind: Input, Text: fmt.Sprintf(`{"file_path":"/p/file_%d.go"}`, i)}, {Kind: Output, Text: strings.Repeat(fmt.Sprintf("name_%d of file_%d.go\n", i, i), 40)}}})
		said(Assistant, "answer")
	}
	return all
}

// TestDialogueFirst checks that messages come before tool calls. If they do not fit, all
// turns keep their requests and last answers, shortened in older turns. If those do not
// fit, the last turns and the first one keep theirs.
func TestDialogueFirst(t *testing.T) {
	included := func(chosen []Chosen, turn, which int) bool { return chosen[4*turn+which].Text != "" }
	all := talk(20, 4) // about 20 * 3 * 60 tokens
	h := Read(all)
	whole := h.Choose(6000, nil)
	for i, c := range whole {
		if all[i].Texts[0].Kind.isDialogue() && !c.Whole {
			t.Errorf("not all of %d fits in 6,000 tokens: %+v", i, c)
		}
	}
	some := h.Choose(2600, nil)
	for i := range 20 {
		if !included(some, i, 0) || !included(some, i, 3) {
			t.Errorf("turn %d is dropped", i)
		}
	}
	if !some[4*19].Whole || !some[4*19+3].Whole || some[4*5+3].Whole {
		t.Errorf("the last turn is shortened, or the sixth is not: %+v, %+v", some[4*19+3], some[4*5+3])
	}
	few := h.Choose(400, nil)
	if !included(few, 19, 0) || !included(few, 19, 3) || !included(few, 0, 0) || !included(few, 0, 3) || included(few, 1, 0) || included(few, 1, 3) {
		t.Errorf("of 400 tokens: %+v", few)
	}
	end := h.ChooseEnd(400, ShortOutputs)
	if !end[4*19+3].Whole || included(end, 0, 0) {
		t.Errorf("the end: %+v", end)
	}
}

// TestSurroundings checks that the context of a name is 30 non-space characters on each
// side, or as many as there are, but never text of low priority.
func TestSurroundings(t *testing.T) {
	for _, tc := range []struct {
		kind  Kind
		text  string
		aside string
		want  string // from the first snippet to the last
	}{
		{Output, "one\ntwo\nthree\nsee parseHeader\nfour\nfive\nsix\n", "", "one\ntwo\nthree\nsee parseHeader\nfour\nfive\nsix\n"},
		{Output, "far away\n" + strings.Repeat("before ", 6) + "\nsee parseHeader\n\n\n" + strings.Repeat("behind ", 6) + "\nfar away\n", "", strings.Repeat("before ", 6) + "\nsee parseHeader\n\n\n" + strings.Repeat("behind ", 6) + "\n"},
		{Output, "far away\n" + strings.Repeat("before ", 6) + "parseHeader " + strings.Repeat("behind ", 6) + "\nfar away\n", "", strings.Repeat("before ", 6) + "parseHeader " + strings.Repeat("behind ", 6) + "\n"},
		{Assistant, "It is far away from here. It says parseHeader. And nothing more than that is said of it.", "", "It is far away from here. It says parseHeader. And nothing more than that is said of it."},
		{Input, `{"old":"aside","new":"parseHeader"` + strings.Repeat(" ", wholeInput) + `}`, `aside`, `","new":"parseHeader"`},
	} {
		text := Text{Kind: tc.kind, Text: tc.text}
		if at := strings.Index(tc.text, tc.aside); tc.aside != "" {
			text.LowPriority = []Span{{at, at + len(tc.aside)}}
		}
		h := Read([]Section{{Texts: []Text{text}}})
		got := &h.texts[0]
		for _, o := range got.named {
			if from, to := got.snippets[o.from].from, got.snippets[o.to].to; h.names[o.name].text == "parseHeader" && !strings.HasPrefix(tc.text[from:to], tc.want) {
				t.Errorf("%q of %q", tc.text[from:to], tc.text)
			}
		}
		if len(got.named) != 1 {
			t.Errorf("%+v in %q", got.named, tc.text)
		}
	}
}

// TestWorth checks that names used recently, often and by people are worth more.
func TestWorth(t *testing.T) {
	base := stat{texts: 3, first: 10, last: 50, fewest: 10, kinds: 1 << Output}
	value := func(change func(*stat)) int64 {
		s := base
		change(&s)
		return s.worth(100, "parseHeader")
	}
	plain := value(func(*stat) {})
	for what, change := range map[string]func(*stat){
		"later":         func(s *stat) { s.last = 98 },
		"by the user":   func(s *stat) { s.kinds |= 1 << User },
		"in a call":     func(s *stat) { s.kinds |= 1 << Input },
		"among few":     func(s *stat) { s.fewest = 2 },
		"younger":       func(s *stat) { s.first = 40 },
		"not in a list": func(s *stat) { s.fewest = 1 },
	} {
		if got := value(change); got <= plain {
			t.Errorf("%s: %d, else %d", what, got, plain)
		}
	}
}

// TestPrefers checks that a name that the user mentioned is chosen before one from a
// long list.
func TestPrefers(t *testing.T) {
	var list strings.Builder
	for i := range 300 {
		fmt.Fprintf(&list, "vendor/some/dependency/file_%d.go\n", i)
	}
	all := []Section{{Heading: 6, Texts: []Text{{Kind: User, Text: "please look at cmd/serve/main.go"}}}, {Heading: 6, Texts: []Text{{Kind: Input, Text: `{"command":"find ."}`}, {Kind: Output, Text: list.String()}}}}
	for i := range 30 {
		all = append(all, Section{Heading: 6, Texts: []Text{{Kind: Assistant, Text: fmt.Sprintf("step %d of nothing in particular", i)}}})
	}
	chosen := Read(all).Choose(120, nil)
	if !strings.Contains(chosen[0].Text, "cmd/serve/main.go") {
		t.Errorf("%+v", chosen[:2])
	}
	if chosen[31].Text == "" || !chosen[31].Whole {
		t.Errorf("the last section: %+v", chosen[31])
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("look at cmd/serve/main.go", `{"file_path":"a/b.go"}`, "1: x_y\n2: …\n", 100, 40)
	f.Fuzz(func(t *testing.T, request, input, output string, budget, recent int) {
		all := []Section{{Heading: 5, Texts: []Text{{Kind: User, Text: request}}}, {Heading: 5, Texts: []Text{{Kind: Input, Text: input}, {Kind: Output, Text: output}}}, {Heading: 5, Texts: []Text{{Kind: Assistant, Text: output + request}}}}
		chosen := Read(all).Choose(budget, nil)
		if recent%2 == 1 {
			chosen = Read(all).ChooseEnd(budget, ShortOutputs)
		}
		for i, d := range chosen {
			if err := pieces(all[i], d.all()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	all := sections(r, 2000)
	size := 0
	for _, s := range all {
		for _, p := range s.Texts {
			size += len(p.Text)
		}
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		Read(all).Choose(8000, nil)
	}
}

// TestNameless checks that strings that nobody repeats are worth nothing. Versions,
// addresses and commits must not count as such.
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

// TestLongLine: the time to read a line is in proportion to its length. If every part of
// the line were searched to its end, this test would take hours.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("long", 5_000_000)
	for kind := User; kind <= Output; kind++ {
		at := 0
		for _, s := range snippetsOf(Text{Kind: kind, Text: long}) {
			if s.from != at || s.to-s.from > longestWhole {
				t.Fatalf("kind %d: a snippet from %d to %d, after %d", kind, s.from, s.to, at)
			}
			at = s.to
		}
		if at != len(long) {
			t.Errorf("kind %d: the snippets end at %d of %d", kind, at, len(long))
		}
	}
}
