package inject_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"cortext/inject"
)

func TestNumber(t *testing.T) {
	for raw, want := range map[string]int64{"": 0, "7": 7, "-7": -7, "7.9": 7, "1e3": 1000, "1e19": 0, "-1e19": 0, `"7"`: 0, "null": 0} {
		if got := inject.Number([]byte(raw)); got != want {
			t.Errorf("%s is %d", raw, got)
		}
	}
	if got := inject.Count([]byte(`{"n":-7}`), "n"); got != 0 {
		t.Errorf("a negative count is %d", got)
	}
}

func TestCompactJSON(t *testing.T) {
	for raw, want := range map[string]string{"": "", "{ \"a b\" :\n\t[ 1 , 2 ] }": `{"a b":[1,2]}`, `{"a": " \" \\ "}`: `{"a":" \" \\ "}`, `{"a": "\`: `{"a":"\`} {
		if got := string(inject.CompactJSON([]byte(raw))); got != want {
			t.Errorf("%s is %s", raw, got)
		}
	}
}

// TestBlankComments checks that everything except comments stays in place.
func TestBlankComments(t *testing.T) {
	for text, want := range map[string]string{
		"{} // x\n1": "{}     \n1", "{/* a\n * b */}": "{    \n       }", `{"a//b":"/* \" */"}`: `{"a//b":"/* \" */"}`, "{} /* x": "{}     ", "// x": "    ", `"`: `"`,
	} {
		if got := string(inject.BlankComments([]byte(text))); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// TestReadJSON checks that a member of an unexpected type does not affect the others.
func TestReadJSON(t *testing.T) {
	var v struct{ A, B string }
	if err := inject.DecodeJSON([]byte(`{"a":1,"b":"x"}`), &v); err == nil || v.A != "" || v.B != "x" {
		t.Errorf("%+v, %v", v, err)
	}
	if err := inject.ReadJSON("nosuch.json", &v); err == nil {
		t.Error("a file that is not there has no error")
	}
	if got := inject.JSONLines("<&>", map[string]int{"a": 1}); got != "\"<&>\"\n{\"a\":1}\n" {
		t.Errorf("lines %q", got)
	}
}

// TestWalk checks that the walkers find what is left of a truncated document.
func TestWalk(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": 1, "b": [2]}`: `{"a":"1","b":"[2]"}`, "\ufeff {\n\"a\": 1\n": `{"a":"1"}`, `{"a": 1, "b`: `{"a":"1"}`, `{}`: `{}`, `[1]`: `{}`, ``: `{}`,
	} {
		got := map[string]string{}
		err := inject.WalkObject([]byte(text), func(name string, rest []byte) bool {
			var v json.RawMessage
			_ = json.NewDecoder(bytes.NewReader(rest)).Decode(&v)
			got[name] = string(v)
			return true
		})
		if b, _ := json.Marshal(got); string(b) != want || (err == nil) != json.Valid([]byte(text)) && text != `[1]` {
			t.Errorf("%s: %s, %v", text, b, err)
		}
	}
	calls := 0
	if err := inject.WalkObject([]byte(`{"a":1,"b":2}`), func(string, []byte) bool { calls++; return false }); err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	for text, want := range map[string]struct{ all, rest string }{
		"[1, \"a\" ,{}]": {`1"a"{}`, ""}, "[1,{\"a\":": {"1", `{"a":`}, "[1,": {"1", ""}, "[]": {"", ""}, "x": {"", ""},
	} {
		all := ""
		rest, err := inject.WalkArray([]byte(text), func(value []byte) bool { all += string(value); return true })
		if all != want.all || string(rest) != want.rest || (err == nil) != json.Valid([]byte(text)) && text != "x" {
			t.Errorf("%s: %s, rest %s, %v", text, all, rest, err)
		}
	}
	if _, err := inject.WalkArray([]byte("[1,2"), func([]byte) bool { return false }); err != nil {
		t.Error(err)
	}
}
