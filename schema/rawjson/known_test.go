package rawjson

import (
	"bytes"
	"fmt"
	"testing"
)

// knownSeeds are values that the readers of valid JSON must read like the other readers,
// and invalid JSON that they must survive.
var knownSeeds = []string{
	`{}`, `[]`, ` { "a" : 1 , "b\u0041\"" : [ {"c":"]}\\\""} , -1.5e3, null ] } `, `{"a":{"a":"\\"},"a":2}`,
	`["\\\\\"",["{",[]],{"x":"[\"\\"}]`, `"a\\\"\ud83d\ude00\ud83d\n"`, `"\\"`, `{"a":"b`, `{"a"`, `{"a":`, `{"a":}`, `{"a" 1}`, `[,]`, `[1,`, `[[`, `"\`, `"\u12`, `"\ud800\u12"`,
}

// FuzzKnown compares the readers that do not check with those that do.
func FuzzKnown(f *testing.F) {
	for _, s := range knownSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got []Member
		for name, value := range Fields(b) {
			got = append(got, Member{string(name), value})
		}
		var elements [][]byte
		for value := range Elements(b) {
			elements = append(elements, value)
		}
		text := String(b)
		if want, err := Members(b); err == nil {
			if len(got) != len(want) {
				t.Fatalf("%d members of %q, want %d", len(got), b, len(want))
			}
			for i, m := range want {
				if got[i].Name != m.Name || !bytes.Equal(got[i].Value, m.Value) {
					t.Errorf("member %d of %q is %q: %q, want %q: %q", i, b, got[i].Name, got[i].Value, m.Name, m.Value)
				}
			}
			for i, m := range want {
				first := i
				for j := range want[:i] {
					if want[j].Name == m.Name {
						first = min(first, j)
					}
				}
				if value := Get(b, m.Name); !bytes.Equal(value, want[first].Value) {
					t.Errorf("%q of %q is %q, want %q", m.Name, b, value, want[first].Value)
				}
			}
		}
		if want, err := Array(b); err == nil {
			if !bytes.Equal(bytes.Join(elements, []byte("\x00")), bytes.Join(want, []byte("\x00"))) || len(elements) != len(want) {
				t.Errorf("elements of %q are %q, want %q", b, elements, want)
			}
		}
		if want, err := Unquote(b); err == nil && text != want {
			t.Errorf("%q reads %q, want %q", b, text, want)
		}
	})
}

// Truncated JSON has the members before the cut, and no part of another.
func TestKnownTorn(t *testing.T) {
	whole := []byte(`{"id":"ses_1","n":12345,"o":{"p":"q"},"l":[1,22,"th\\\""],"b":true}`)
	want, err := Members(whole)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range whole {
		i := 0
		for name, value := range Fields(whole[:cut]) {
			if string(name) != want[i].Name || !bytes.Equal(value, want[i].Value) {
				t.Errorf("cut at %d: member %q is %q, want %q: %q", cut, name, value, want[i].Name, want[i].Value)
			}
			i++
		}
	}
	array, text := []byte(`[12,"a",{"b":1},345]`), []byte(`"ses\\\"1\""`)
	elements, err := Array(array)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range array {
		i := 0
		for e := range Elements(array[:cut]) {
			if !bytes.Equal(e, elements[i]) {
				t.Errorf("cut at %d: element is %q, want %q", cut, e, elements[i])
			}
			i++
		}
	}
	for cut := range text {
		if s := String(text[:cut]); s != "" {
			t.Errorf("%q reads %q, want nothing: it is cut off", text[:cut], s)
		}
	}
}

// TestNextFields: NextFields returns what Next does, and the members that Fields yields.
func TestNextFields(t *testing.T) {
	for _, text := range []string{
		`{"a":1,"b":[{"c":"}\""}],"a":null} {"d":2}`, ` {} x`, `{"n\u0061me":"\\", "":{"x":{}}}`, `"text" 1`, `[1]`, ``, ` `,
		`{"a":1`, `{"a"`, `{"a":}`, `{"a":1,}`, `{"a":1;"b":2}`, `{1:2}`, `{"a":"\x"}`, "{\"a\":\"\n\"}", `{"a":{"b":[1,2}}`,
	} {
		value, rest, err := Next([]byte(text))
		gotValue, gotRest, fields, gotErr := NextFields([]byte(text), nil)
		if string(gotValue) != string(value) || string(gotRest) != string(rest) || fmt.Sprint(gotErr) != fmt.Sprint(err) {
			t.Errorf("%s: %q, %q, %v; Next returns %q, %q, %v", text, gotValue, gotRest, gotErr, value, rest, err)
		}
		if err != nil {
			continue
		}
		i := 0
		for name, value := range Fields(value) {
			if i >= len(fields) || string(fields[i].Name) != string(name) || string(fields[i].Value) != string(value) {
				t.Errorf("%s: member %d is not %s: %s", text, i, name, value)
			}
			i++
		}
		if i != len(fields) {
			t.Errorf("%s: %d members instead of %d", text, len(fields), i)
		}
	}
}
