package rawjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/schema/rawjson"
)

func TestNext(t *testing.T) {
	for _, c := range []struct {
		in, value, rest string
		off             int // offset of the error, if value is empty
		msg             string
	}{
		{` {"a" : [1, "}"]} `, `{"a" : [1, "}"]}`, "", 0, ""},
		{"{}\r\n{\"b\":1}", "{}", `{"b":1}`, 0, ""},
		{"[]]", "[]", "]", 0, ""},
		{`"a\"\\"b`, `"a\"\\"`, "b", 0, ""},
		{"-0.5e+10,", "-0.5e+10", ",", 0, ""},
		{"012", "0", "12", 0, ""},
		{"true1", "true", "1", 0, ""},
		{"", "", "", 0, "the value is cut off"},
		{" \t", "", "", 2, "the value is cut off"},
		{`{"a":1`, "", "", 6, "the value is cut off"},
		{`{"a":`, "", "", 5, "the value is cut off"},
		{`{"a"`, "", "", 4, "a colon was expected"},
		{`{`, "", "", 1, "the value is cut off"},
		{`{"a":1,`, "", "", 7, "the value is cut off"},
		{`{"a":1,}`, "", "", 7, `'}' where a name was expected`},
		{`{1:1}`, "", "", 1, `'1' where a name was expected`},
		{`{"a",1}`, "", "", 4, "a colon was expected"},
		{`[1 2]`, "", "", 3, `'2' where a comma or ']' was expected`},
		{`[1}`, "", "", 2, `'}' where a comma or ']' was expected`},
		{`[1,]`, "", "", 3, `']' where a value was expected`},
		{`[,1]`, "", "", 1, `',' where a value was expected`},
		{`"a`, "", "", 0, "the string is not closed"},
		{"\"a\nb\"", "", "", 2, "control byte 0x0a in a string"},
		{`"\x"`, "", "", 1, "broken escape in a string"},
		{`"\u12G4"`, "", "", 1, "broken escape in a string"},
		{`"\u12`, "", "", 1, "broken escape in a string"},
		{`"\`, "", "", 1, "broken escape in a string"},
		{`-`, "", "", 0, "not a number"},
		{`[1.]`, "", "", 1, "not a number"},
		{`1e`, "", "", 0, "not a number"},
		{`.5`, "", "", 0, `'.' where a value was expected`},
		{`nul`, "", "", 0, `'n' where a value was expected`},
		{"\x00{}", "", "", 0, `'\x00' where a value was expected`},
	} {
		value, rest, err := rawjson.Next([]byte(c.in))
		if string(value) != c.value || string(rest) != c.rest {
			t.Errorf("Next(%q) is %q and %q", c.in, value, rest)
		}
		if c.msg == "" {
			if err != nil {
				t.Errorf("Next(%q): %v", c.in, err)
			}
			continue
		}
		e := new(rawjson.SyntaxError)
		if !errors.As(err, &e) || e.Offset != c.off || e.Msg != c.msg || e.Error() != fmt.Sprintf("%s at byte %d", c.msg, c.off) {
			t.Errorf("Next(%q): %v, want %s at byte %d", c.in, err, c.msg, c.off)
		}
	}
}

// Each byte in each relevant position is judged as encoding/json does.
func TestValidBytes(t *testing.T) {
	for c := range 256 {
		for _, around := range []string{"%s", `"%s"`, `"\%s"`, `"\u00%s0"`, "1%s", "-%s", "0%s", "1e%s1", "1.%s", "[%s]", "[1%s1]", `{"a"%s1}`,
			`{%s}`, "nul%s", "%s1"} {
			in := []byte(strings.Replace(around, "%s", string([]byte{byte(c)}), 1))
			if err := rawjson.Valid(in); (err == nil) != json.Valid(in) {
				t.Errorf("Valid(%q): %v", in, err)
			}
		}
	}
}

func TestValidDepth(t *testing.T) {
	for n := rawjson.MaxDepth - 1; n <= rawjson.MaxDepth+1; n++ {
		for _, in := range []string{nested(n), strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)} {
			if err := rawjson.Valid([]byte(in)); (err == nil) != (n <= rawjson.MaxDepth) || (err == nil) != json.Valid([]byte(in)) {
				t.Errorf("%d deep: %v", n, err)
			}
		}
	}
}

func TestMembers(t *testing.T) {
	const in = ` {"a":1, "a" : {"c": [ ]} ,"\u0062":"\ud83d"} `
	members, err := rawjson.Members([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q", members); got != `[{"a" "1"} {"a" "{\"c\": [ ]}"} {"b" "\"\\ud83d\""}]` {
		t.Errorf("members are %s", got)
	}
	values, err := rawjson.Array([]byte(` [1, [2,"]"] , {"a":1}] `))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q", values); got != `["1" "[2,\"]\"]" "{\"a\":1}"]` {
		t.Errorf("elements are %s", got)
	}
	for in, want := range map[string]string{
		`{"a":1,"b":2,"a":3}`: `name "a" appears twice at byte 17`,
		`{"a":1,"\u0061":3}`:  `name "a" appears twice at byte 16`,
		"{\"\xff\":1}":        `name "\xff" is not valid UTF-8 at byte 5`,
		`[]`:                  "an object was expected at byte 0",
		` 1`:                  "an object was expected at byte 1",
		`{} {}`:               "more text after the value at byte 3",
		`{`:                   "the value is cut off at byte 1",
	} {
		if members, err := rawjson.Object([]byte(in)); err == nil || err.Error() != want || members != nil {
			t.Errorf("Object(%q) is %q, %v, want %s", in, members, err, want)
		}
	}
	for in, want := range map[string]string{
		`{}`: "an array was expected at byte 0",
		`[1`: "the value is cut off at byte 2",
	} {
		if values, err := rawjson.Array([]byte(in)); err == nil || err.Error() != want || values != nil {
			t.Errorf("Array(%q) is %q, %v, want %s", in, values, err, want)
		}
	}
}

func TestStrict(t *testing.T) {
	for in, want := range map[string]string{
		` {"a":[1,"\ud83d\ude00",{"b":{"a":null}}],"b":"é"} `: "",
		"\"a\"\n":                          "",
		`[{"a":1},{"a":1}]`:                "",
		`{"a":1`:                           "the value is cut off at byte 6",
		`  {"a":1,"a":2}`:                  `name "a" appears twice`,
		`[[{"b":{"a":1,"c":0,"a":2}}]]`:    `name "a" appears twice`,
		`{"a":["x","\udc00"]}`:             "text is not valid UTF-8 at byte 10",
		"[\"x\",\"\xc3\"]":                 "text is not valid UTF-8 at byte 5",
		`{"x":{"\ud800":1}}`:               "is not valid UTF-8",
		"{\"\xff\":1}":                     "is not valid UTF-8",
		`{"a":"b"}{}`:                      "more text after the value at byte 9",
		strings.Repeat("[", 1_000_000):     "nested deeper than 10000 at byte 10000",
		strings.Repeat(`{"a":`, 10_001):    "nested deeper than 10000 at byte 50000",
		nested(rawjson.MaxDepth):           "",
		nested(rawjson.MaxDepth + 1):       "nested deeper than 10000 at byte 10000",
		`{"a":` + nested(10_000) + `}`:     "nested deeper than 10000",
		`[` + nested(9_999) + `,"\ud800"]`: "text is not valid UTF-8",
	} {
		err := rawjson.Strict([]byte(in))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Strict(%.40q): %v, want %q", in, err, want)
		}
	}
}

// nested returns an array nested n deep.
func nested(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// A hostile file takes time proportional to its size, a second or so here. If it were
// quadratic in the number of members, or depth times length, it would take minutes.
func TestLinear(t *testing.T) {
	wide := []byte("{")
	for i := range 400_000 {
		wide = fmt.Appendf(wide, `"%d":1,`, i)
	}
	wide = append(wide, `"x":1}`...)
	deep := strings.Repeat("[", 9_000) + `"` + strings.Repeat("x", 8<<20) + `"` + strings.Repeat("]", 9_000)
	_, err := rawjson.Object(wide)
	if err := errors.Join(err, rawjson.Strict(wide), rawjson.Strict([]byte(deep))); err != nil {
		t.Error(err)
	}
}

func TestQuote(t *testing.T) {
	for _, c := range []struct{ text, raw string }{
		{"", `""`},
		{"abc é 日本 😀 </script> & \x7f\u2028\u2029\ufeff\ufffd", "\"abc é 日本 😀 </script> & \x7f\u2028\u2029\ufeff\ufffd\""},
		{"\"\\/\b\f\n\r\t", `"\"\\/\b\f\n\r\t"`},
		{"\x00\x01\x0b\x1f", `"\u0000\u0001\u000b\u001f"`},
		{"\xed\xa0\xbd", `"\ud83d"`},
		{"a\xed\xb0\x80b\xed\xa0\x80", `"a\udc00b\ud800"`},
		{"\xed\xb8\x80\xed\xa0\xbd", `"\ude00\ud83d"`},
		{"\xed\xa0\xbd\xed\xa0\xbd😀", `"\ud83d\ud83d😀"`},
	} {
		if got := rawjson.AppendQuote([]byte("x"), c.text); string(got) != "x"+c.raw {
			t.Errorf("AppendQuote(%q) is %s, want %s", c.text, got[1:], c.raw)
		}
		if got, err := rawjson.Unquote([]byte(c.raw)); err != nil || got != c.text {
			t.Errorf("Unquote(%s) is %q, %v", c.raw, got, err)
		}
	}
	// Other spellings of a text.
	for raw, want := range map[string]string{
		`"\u00E9\u00e9\/\u0022"`:  `éé/"`,
		`"\uD83D\uDE00"`:          "😀",
		`"\ud83d\n\ude00"`:        "\xed\xa0\xbd\n\xed\xb8\x80",
		`"\ud83d\ud83d\ude00"`:    "\xed\xa0\xbd😀",
		`"\ud83d\u0041"`:          "\xed\xa0\xbdA",
		"\"\xff\\n\xed\xa0\"":     "\xff\n\xed\xa0",
		"\"\xed\xa0\xbd\\ude00\"": "\xed\xa0\xbd\xed\xb8\x80",
	} {
		if got, err := rawjson.Unquote([]byte(raw)); err != nil || got != want {
			t.Errorf("Unquote(%s) is %q, %v, want %q", raw, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"\xff":                     "\"\ufffd\"",
		"a\xc3":                    "\"a\ufffd\"",
		"\xed\xa0":                 "\"\ufffd\ufffd\"",
		"\xc0\xaf\xf5":             "\"\ufffd\ufffd\ufffd\"",
		"\xed\xa0\xbd\xed\xb8\x80": `"😀"`,
	} {
		if got := rawjson.AppendQuote(nil, text); string(got) != want {
			t.Errorf("AppendQuote(%q) is %s, want %s", text, got, want)
		}
	}
	for _, raw := range []string{``, `"`, `a`, `a"`, `"a"b`, `"a""`, `1`, "\"\x00\"", `"\"`, `"\u123"`, ` "a"`, `"a" `} {
		if got, err := rawjson.Unquote([]byte(raw)); err == nil || got != "" {
			t.Errorf("Unquote(%s) is %q", raw, got)
		}
	}
	if got := rawjson.Text("a\xed\xa0\xbdb\xffé"); got != "a\ufffdb\ufffdé" {
		t.Errorf("Text is %q", got)
	}
}

// FuzzQuote treats s as a text and as the content of a JSON string.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{
		"", "abc", "é😀\u2028", "\"\\/\b\f\n\r\t\x00\x1f\x7f", `\ud83d\ude00 \ud83d \uDE00\ud83d\ud83d\ude00`, `\u0041\/\"`,
		"\xed\xa0\xbd", "\xed\xa0\xbd\xed\xb8\x80", "\xed\xb8\x80\xed\xa0\xbd", "\xff\xc3\xed\xa0", "\xed\xa0\xbd\\ude00", `\u12`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := rawjson.AppendQuote(nil, s)
		if !utf8.Valid(raw) || rawjson.Valid(raw) != nil || !json.Valid(raw) {
			t.Fatalf("AppendQuote(%q) is no JSON: %q", s, raw)
		}
		back, err := rawjson.Unquote(raw)
		if err != nil {
			t.Fatalf("AppendQuote(%q) is %s: %v", s, raw, err)
		}
		if utf8.ValidString(s) {
			var std string
			if err := json.Unmarshal(raw, &std); err != nil || back != s || std != s {
				t.Fatalf("%q is %s, which is %q, and for encoding/json %q (%v)", s, raw, back, std, err)
			}
		}
		if again := rawjson.AppendQuote(nil, back); !bytes.Equal(again, raw) {
			t.Fatalf("%q is %s and the second time %s", s, raw, again)
		}

		inside := []byte(`"` + s + `"`)
		text, err := rawjson.Unquote(inside)
		var std string
		if stdErr := json.Unmarshal(inside, &std); (err == nil) != (stdErr == nil) {
			t.Fatalf("Unquote(%s): %v, encoding/json: %v", inside, err, stdErr)
		}
		if err != nil || !utf8.ValidString(s) {
			return
		}
		if got := withoutSurrogates(text); got != std {
			t.Fatalf("Unquote(%s) is %q, for encoding/json %q", inside, got, std)
		}
		if back, err := rawjson.Unquote(rawjson.AppendQuote(nil, text)); err != nil || back != text {
			t.Fatalf("Unquote(%s) is %q, and after quoting %q (%v)", inside, text, back, err)
		}
		if got := rawjson.Text(text); !utf8.ValidString(got) || utf8.ValidString(text) && got != text {
			t.Fatalf("Text(%q) is %q", text, got)
		}
	})
}

// withoutSurrogates replaces lone surrogates as encoding/json does.
func withoutSurrogates(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			n = 3
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// FuzzValid compares with encoding/json, which has the same depth limit. Both must agree
// on what is JSON, but not on the decoded values.
func FuzzValid(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+10,true,false,null,"\u00e9\ud83d"],"a":{}}`, ` [ ] `, `01`, `1.`, `-`, `"\x"`, "\"\x7f\x1f\"", `{"a":1,}`,
		`[1,]`, `nul`, `truefalse`, "\xef\xbb\xbf{}", "{}\x00", `{"a" "b"}`, `]`, `"`, `1 2`, "\"\xff\"", "\u00a01", `{"\ud800":1,"\ud801":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := rawjson.Valid(b)
		if (err == nil) != json.Valid(b) {
			t.Fatalf("%q: %v, encoding/json says %v", b, err, json.Valid(b))
		}
		strict := rawjson.Strict(b)
		if e := new(rawjson.SyntaxError); err != nil {
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(b) {
				t.Fatalf("%q: %v", b, err)
			}
			if strict == nil {
				t.Fatalf("%q: strict and not valid", b)
			}
			return
		}
		if strict == nil && !utf8.Valid(b) {
			t.Fatalf("%q: strict and not UTF-8", b)
		}
		switch bytes.TrimLeft(b, " \t\r\n")[0] {
		case '[':
			var std []json.RawMessage
			values, err := rawjson.Array(b)
			if json.Unmarshal(b, &std) != nil || err != nil || len(values) != len(std) {
				t.Fatalf("%q: %d elements, %v", b, len(values), err)
			}
			for i := range std {
				if !bytes.Equal(values[i], std[i]) {
					t.Fatalf("%q: element %d is %q", b, i, values[i])
				}
			}
		case '{':
			std := map[string]json.RawMessage{}
			members, err := rawjson.Members(b)
			if json.Unmarshal(b, &std) != nil || err != nil {
				t.Fatalf("%q: %v", b, err)
			}
			last, textual := map[string][]byte{}, true
			for _, m := range members {
				textual = textual && utf8.ValidString(m.Name)
				last[m.Name] = m.Value
			}
			_, err = rawjson.Object(b)
			if want := textual && len(last) == len(members); (err == nil) != want {
				t.Fatalf("%q: Object says %v", b, err)
			}
			for name, value := range last {
				if textual && !bytes.Equal(value, std[name]) {
					t.Fatalf("%q: %q is %q", b, name, value)
				}
			}
			if textual && len(last) != len(std) {
				t.Fatalf("%q: %d names, encoding/json has %d", b, len(last), len(std))
			}
		}
	})
}

func TestStrictMembers(t *testing.T) {
	members, err := rawjson.StrictMembers([]byte(` {"a" : [1, 2], "b":{},"a":"\u0041"} `), 3)
	want := []rawjson.Member{{Name: "a", Value: []byte("[1, 2]")}, {Name: "b", Value: []byte("{}")}, {Name: "a", Value: []byte(`"\u0041"`)}}
	if err != nil || !slices.EqualFunc(members, want, func(a, b rawjson.Member) bool { return a.Name == b.Name && string(a.Value) == string(b.Value) }) {
		t.Errorf("got %q, %v", members, err)
	}
	for text, want := range map[string]string{
		`{"a":1,"b":1,"c":1,"d":1}`:   "more than 3 members",
		`{"a":[1,2,3,4]}`:             "more than 3 members",
		`{"a":{"b":[{"c":1,"c":1}]}}`: `"c" appears twice`,
		"{\"\xff\":1}":                "not valid UTF-8",
		"{\"a\":\"\xff\"}":            "not valid UTF-8",
		`{"a":1}{`:                    "more text",
		`[1]`:                         "an object was expected",
		`{"a":1`:                      "cut off",
		`{"a":"\ud83d"}`:              "not valid UTF-8",
		`{"a":` + strings.Repeat("[", 20_000) + `}`:   "nested deeper",
		`{"a":[` + strings.Repeat("[", 20_000) + `]}`: "nested deeper",
	} {
		members, err := rawjson.StrictMembers([]byte(text), 3)
		if members != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
		if limit := new(rawjson.LimitError); errors.As(err, &limit) != (want == "more than 3 members") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func TestNextMember(t *testing.T) {
	for _, c := range []struct{ text, name, value, rest, err string }{
		{"  \"a\\u0062\" : {\n\"x\":1}\n,\"b\":2", "ab", "{\n\"x\":1}", "\n,\"b\":2", ""},
		{`"a":1`, "a", "1", "", ""},
		{`"a":`, "", "", "", "cut off"},
		{`"a"`, "", "", "", "a colon"},
		{`a:1`, "", "", "", "name was expected"},
		{``, "", "", "", "cut off"},
		{`"a":[1`, "", "", "", "cut off"},
	} {
		m, rest, err := rawjson.NextMember([]byte(c.text))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.text, err, c.err)
			}
			continue
		}
		if err != nil || m.Name != c.name || string(m.Value) != c.value || string(rest) != c.rest {
			t.Errorf("%s: got %q, %q, %v", c.text, m, rest, err)
		}
	}
}
