package notes

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPlain(t *testing.T) {
	for _, tc := range []struct{ src, text string }{
		{"As it is", "As it is"},
		{"**bold** *it* __b__ _i_ ~~no~~", "bold it b i no"},
		{"foo__bar _foo bar_ _x", "foo__bar foo bar _x"},
		{"`a\tb`", "a b"},
		{"snake_case 2*3 2 * 3 a ~ b ~5", "snake_case 2*3 2 * 3 a ~ b ~5"},
		{"`Code` here", "Code here"},
		{"``a`b`` c", "a`b c"},
		{"`open", "open"},
		{`He said "Go on" twice`, `He said "Go on" twice`},
		{"„Ja“ «oui» “yes” 「是」", "„Ja“ «oui» “yes” 「是」"},
		{`5" wide`, `5" wide`},
		{`"` + strings.Repeat("x", 500) + `"`, `"` + strings.Repeat("x", 500) + `"`},
		{`"**B**"`, `"B"`},
		{"see [The Page](https://a.b/c) now", "see The Page now"},
		{"a[0](x y) [b] [", "a[0](x y) [b] ["},
		{"![shot](a.png) here! ![x", "here! ![x"},
		{"a<br>b <em>c</em> List<string> a < b </done>", "a b c List<string> a < b"},
		{"it’s", "it's"},
		{" a \t\u00a0 b\n", "a b"},
		{"\x1b[1;31mred\x1b[0m \x1b]0;title\x07x \x1bM y\x1b", "red x y"},
		{"\x1b[31", ""},
		{"\x1b]8;;x", ""},
		{"a\u202eb\u200bc\ufeff\U000E0041", "abc"},
		{"\xffa\x00b", "\uFFFDa b"},
		{"ÄÖ", "ÄÖ"},
	} {
		if got := stripMarkup(tc.src); got != tc.text {
			t.Errorf("%q: %q, want %q", tc.src, got, tc.text)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, tc := range []struct {
		why, content string
		want         []string
	}{
		{"sentences", "One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"chinese", "一。二！三？四", []string{"一。", "二！", "三？", "四"}},
		{"abbreviations", "Use e.g. a map (cf. Go) etc. and so on. Or z.B. das.", []string{"Use e.g. a map (cf. Go) etc. and so on.", "Or z.B. das."}},
		{"names and numbers", "See main.go in v1.2 of J. Doe.", []string{"See main.go in v1.2 of J. Doe."}},
		{"marks after the end", "(It works.) Yes!! \"No.\" Well… so", []string{"(It works.)", "Yes!!", "\"No.\" Well…", "so"}},
		{"paragraphs", "One\n\nTwo", []string{"One", "Two"}},
		{"lines", "one\ntwo\nthree", []string{"one", "two", "three"}},
		{"a wrapped line", "This line is so long that whoever wrote it had to go\non in the next.", []string{"This line is so long that whoever wrote it had to go on in the next."}},
		{"a list", "Do:\n- one\n* two\n1. three\n2) four\n- [ ] five\na) six", []string{"Do:", "-one", "-two", "-three", "-four", "-five", "-six"}},
		{"a list item over lines", "- one that is continued in a line that stands further in\n  than the mark\n\n  And more.\n\nOut", []string{"-one that is continued in a line that stands further in than the mark", "-And more.", "Out"}},
		{"no list", "-5 degrees\n1.5 m\n2025. A year\nA. Name", []string{"-5 degrees", "1.5 m", "2025.", "A year", "A. Name"}},
		{"headings", "# One #\nText\n## 2. Two\n#no\n####### no", []string{"#One", "Text", "#Two", "#no", "####### no"}},
		{"rules", "One\n---\nTwo\n***", []string{"One", "Two"}},
		{"code", "One\n```go\nTwo.\n```\nThree\n~~~\nFour\n```\n~~~\nFive", []string{"One", "Three", "Five"}},
		{"code in code", "````\n```\nOne\n```\n````\nTwo", []string{"Two"}},
		{"code to the end", "One\n```\nTwo", []string{"One"}},
		{"inline code of three ticks", "```x``` is One", []string{"x is One"}},
		{"quotations, tables, prompts", "> One\n| a | b |\n$ ls\n❯ ls\nTwo", []string{"Two"}},
		{"code without fences", "func main() {\n\tx := 1;\n}\nOne", []string{"One"}},
		{"logs", "2025-11-22T10:00:00 started\n10:00:00 stopped\n[2025/11/22 10:00] x\n[10:00:00] the server has started again\n2025-11-22 was a day", []string{"2025-11-22 was a day"}},
		{"traces", "Traceback (most recent call last)\n  File \"a.py\", line 1\n    at a.b(C.java:1)\nOne", []string{"One"}},
		{"numbers and signs", "0x1f 0x2e 44 12 %% 99\n====>\n???\nOne", []string{"???", "One"}},
		{"a long word", "aGVsbG8gd29ybGQ+/+==0123456789==//0123\nOne", []string{"One"}},
		{"signs in prose", "See a.b, c.d, e.f, g.h, i.j, k.l (m/n)", []string{"See a.b, c.d, e.f, g.h, i.j, k.l (m/n)"}},
		{"a date in prose", "2025.11.22 at 10:00 we met again in the office", []string{"2025.11.22 at 10:00 we met again in the office"}},
		{"a rule ends a list", "- one\n---\n  two", []string{"-one", "two"}},
		{"signs in front", "✅ One\n- ⚠️ Two", []string{"One", "-Two"}},
		{"blocks", "<system-reminder>One.\nTwo.</system-reminder>Three <b>x</b> <a-b>", []string{"Three x"}},
		{"a paste", "Why?\n\n<pasted_content id=\"776c\">\nOne.\n</pasted_content id=\"776c\">\n\nTwo.", []string{"Why?", "One.", "Two."}},
		{"a block that stays open", "<system-reminder>One", []string{"One"}},
		{"no blocks", "a <- b and <-c> and <d_> and <e", []string{"a <- b and <-c> and <d_> and <e"}},
		{"nothing", " \n\n", nil},
	} {
		var got []string
		for _, s := range sentences(tc.content) {
			text := s.text
			if s.item {
				text = "-" + text
			}
			if s.heading {
				text = "#" + text
			}
			got = append(got, text)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", tc.why, got, tc.want)
		}
	}
}

func TestSentencesOfLongText(t *testing.T) {
	all := sentences("The first one.\n\n" + strings.Repeat("In the middle.\n\n", 100_000) + "The last one.")
	if len(all) > 10_000 || all[0].text != "The first one." || all[len(all)-1].text != "The last one." {
		t.Errorf("%d sentences, %q … %q", len(all), all[0].text, all[len(all)-1].text)
	}
}

func TestQuestion(t *testing.T) {
	for content, want := range map[string]bool{"Is it?": true, "Is it?)": true, "Is it? 🙂": true, "是吗？": true, "Is it?!": true, "It is.": false, "It asks `is it?`": false, "": false} {
		all := sentences(content)
		if got := len(all) > 0 && all[0].question; got != want {
			t.Errorf("%q: %v", content, got)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tc := range []struct {
		s    string
		n    int
		want string
	}{
		{"one two", 7, "one two"},
		{"one two three", 9, "one two…"},
		{"one two three", 8, "one two…"},
		{"one, two", 6, "one…"},
		{"incomprehensible", 6, "incom…"},
		{"a incomprehensible", 8, "a incom…"},
		{"字字字字", 3, "字字…"},
		{"ae\u0301\u0302\u0303b", 4, "a…"},
		{"ab\U0001F44D\U0001F3FDc", 4, "ab…"},
		{"a\U0001F468\u200d\U0001F469b", 4, "a…"},
		{"", 3, ""},
	} {
		if got := cut(tc.s, tc.n); got != tc.want || utf8.RuneCountInString(got) > tc.n {
			t.Errorf("%q to %d: %q, want %q", tc.s, tc.n, got, tc.want)
		}
	}
}
