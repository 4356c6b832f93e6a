package tokens

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// tricky has text that makes the splitter decide.
var tricky = []string{
	"",
	"hello world",
	"Hello, World! How's it going?",
	"<|endoftext|> and <|endofprompt|>, <|fim_prefix|>",
	// contractions
	"I'm you're he's she'd we'll they've can't IT'S DON'T I'M YOU'RE WE'LL THEY'VE HE'D",
	"it'S it'Re it'vE it'Ll it'lL it'D 'Tis 's 't 're 've 'm 'll 'd ''s x''s",
	"it'ſ IT'ſ it'ſome l'ſ 'ſ it'l it'r it'v it'x it' it'",
	"rock'n'roll o'clock d'être aujourd'hui it’s don’t",
	"they'rely it'smart we'llness 1's 22've !'s _'re \t'm",
	// letter case
	"camelCase PascalCase HTTPServer XMLHttpRequest aB AB Ab ABc aBC ǅ ǆ Ǆ ǅabc ABǅ",
	"ABCdef DEFghiJKL ÀÉÎõü ßẞ İiıI ΑΒΓαβγ ςΣ Привет МИР приВЕТ",
	// letters without case, which count as both
	"漢字ABC 漢字abc ABC漢字 ABC漢字DEF abc漢字def ABC漢字DEFghi ʰABC AʰB Aʰ ªº",
	"日本語のテキスト、句読点。「引用」！？ 中文,标点 한국어 텍스트",
	"ภาษาไทยไม่มีช่องว่าง สวัสดี", "العربية مع التشكيل مُحَمَّد ٠١٢٣٤", "עברית עִבְרִית", "हिन्दी देवनागरी में", "தமிழ்",
	// marks
	"e\u0301 E\u0301 \u0301 \u0301\u0301 \u0301A \u0301ABC \u0301a A\u0301BC AB\u0301C",
	"!\u0301 !\u0301A .\u0301a  \u0301 \t\u0301AB \n\u0301 1\u0301 \u0301's \u0301A's \u03011 \u0301!",
	"\u0301ABC's A\u0300\u0301\u0302B \u20dd\u20ddX ☺\u20dd\ufe0f \ufe0f \u200d",
	// emoji
	"👍 👍🏽 👩‍💻 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇫🇷 ❤️ ❤️‍🔥 1️⃣ a👍b A👍B ✅done",
	// numbers
	"1 12 123 1234 12345 1234567 3.14159 1e10 0x1F 1,000,000 2024-01-02T03:04:05Z",
	"٠١٢٣٤ ०१२३४५ ①②③④ Ⅷ ⅓ ½x ²³ x² 𝟏𝟐𝟑𝟒 一二三 1٠2x 〇",
	// punctuation
	"--flag ---x !!! !a !A !! a!! a->b a=>b x:=y f(x)[0]{1} // /* */ #!/bin/sh",
	"==\n//\n== a/b/c /\n/ !\n\n! !\r\n !/\r/\n/x ...\n... \n",
	"$_x _x __init__ _A @A @@a  !! \t!! \u00a0!! \u00a0a  \u00a0A",
	// white space
	" ", "  ", "   ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\t", "\t\t", " \n", "\n ", " \n ", "\n \n", "\n  \n  \n  x",
	"a ", "a  ", "a   b", "a\tb", "a\t\tb", "a \t b", "a\t b", "a \tb", "a\n b", "a\n  b", "a  \n  b", "a \n\n \n b",
	"a\r\rb\r\n\r\nc\n\rd", "x\v\fy \v\f z", "a\u00a0b \u00a0 c\u00a0\u00a0d", "a\u0085b\u0085\u0085c \u0085\n",
	"a\u2028b\u2029c \u2028\u2028 d", "a\u3000b\u3000\u3000c", "\u1680 \u2000\u2001\u2009\u200a\u202f\u205f x",
	"\u180e a\u180eb \u200b a\u200bb \ufeff \ufeffa \u2060x", "\x1c\x1d\x1e\x1f a\x1cb", "\x00 \x00a a\x00\x7f",
	"\t \u20031", "  1", "  \t1", "   !", "  \t!", "  é", "  漢", " \u0301",
	"func main() {\n\tfmt.Println(\"hi\")\n\n\treturn\n}\n\n\n// end  \n",
	"{\"role\":\"user\",\"content\":\"a\\nb\\u00e9\",\"n\":[1,2.5,-3e-7],\"t\":true}\n",
	"unassigned \u0378 \ue000 private \U000f0000 \U0010ffff tag\U000e0041 ext B 𠀀𠀁 ext B",
}

// invalid has text that is not UTF-8.
var invalid = []string{
	"\xff", "a\xffb", "\xe2\x82", "\xe2\x82a", "é\xc3", "\xf0\x9f\x91", " \x80\x80", "\xed\xa0\xbd", "a\xed\xa0\xbd\xed\xb8\x80b",
	"it\xff's", "A\xffB", "\xc0\xaf", "\xf8\x88\x80\x80\x80", "日\xe6\x9c語", "\n\xff\n", "1\xff2",
}

// long returns text with runs whose merges are slow to find naively.
func long(n int) []string {
	random := make([]byte, n)
	state := uint32(1)
	for i := range random {
		state = state*1664525 + 1013904223
		random[i] = 'a' + byte(state>>24)%26
	}
	var texts []string
	for _, run := range []string{
		"a", "A", "ab", "aB", "=", "-=", "_", " ", "\t", " \t", "\n", "\r\n", "\n ", "\u00a0", "é", "é=", "漢", "字漢", "\u0301", "👍", "👩‍💻", "7", "ſ", "'s", "'S ",
	} {
		texts = append(texts, strings.Repeat(run, n/len(run)))
	}
	return append(texts, string(random))
}

func TestCount(t *testing.T) {
	// These are from OpenAI's documentation of tiktoken.
	for text, want := range map[string]int{
		"":                             0,
		"antidisestablishmentarianism": 6,
		"2 + 2 = 4":                    7,
		"お誕生日おめでとう":                    8,
	} {
		if n := Count(text); n != want {
			t.Errorf("Count(%q) = %d, want %d", text, n, want)
		}
	}
	for _, text := range append(tricky, invalid...) {
		if n, want := Count(text), referenceCount(t, text); n != want {
			t.Errorf("Count(%q) = %d, want %d", text, n, want)
		}
		for _, around := range []string{"a", "A", "1", "!", " ", "\n", "\u0301", "漢", "'s"} {
			text := around + text + around
			if n, want := Count(text), referenceCount(t, text); n != want {
				t.Errorf("Count(%q) = %d, want %d", text, n, want)
			}
		}
	}
}

func TestCountLong(t *testing.T) {
	for _, n := range []int{30, 200, 2000} {
		for _, text := range long(n) {
			if n, want := Count(text), referenceCount(t, text); n != want {
				t.Errorf("Count(%.30q…) with %d bytes = %d, want %d", text, len(text), n, want)
			}
		}
	}
	// It would take minutes if the time were quadratic.
	texts := long(1 << 18)
	for _, text := range []string{texts[0], texts[4], texts[len(texts)-1]} {
		if n := Count(text); n < len(text)/maxToken || n > len(text) {
			t.Errorf("Count(%.30q…) with %d bytes = %d", text, len(text), n)
		}
	}
}

// Repairs match those of encoding/json.
func TestCountInvalid(t *testing.T) {
	for text, same := range map[string]string{
		"\xff":              "\ufffd",
		"a\xe2\x82b":        "a\ufffd\ufffdb",
		"\xed\xa0\xbd tail": "\ufffd\ufffd\ufffd tail",
	} {
		if n, want := Count(text), Count(same); n != want {
			t.Errorf("Count(%q) = %d, Count(%q) = %d", text, n, same, want)
		}
	}
}

func TestCountSources(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no sources: ", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n, want := Count(string(raw)), referenceCount(t, string(raw)); n != want {
			t.Errorf("%s: %d tokens, want %d", file, n, want)
		}
	}
}

// The race detector checks this test as well.
func TestCountConcurrently(t *testing.T) {
	want := make([]int, len(tricky))
	for i, text := range tricky {
		want[i] = Count(text)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				for i, text := range tricky {
					if n := Count(text); n != want[i] {
						t.Errorf("Count(%q) = %d, want %d", text, n, want[i])
					}
				}
			}
		})
	}
	wg.Wait()
}
