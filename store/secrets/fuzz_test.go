package secrets

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// keepsRest reports whether got is text with some parts replaced by markers: the text
// between the markers must occur in text, in the same order.
func keepsRest(text, got string, counts Counts) bool {
	ids := slices.Collect(maps.Keys(counts))
	for got != "" {
		cut, size := len(got), 0
		for _, id := range ids {
			marker := markerStart + id + "]"
			if i := strings.Index(got, marker); i >= 0 && i < cut {
				cut, size = i, len(marker)
			}
		}
		i := strings.Index(text, got[:cut])
		if i < 0 {
			return false
		}
		text, got = text[i+cut:], got[cut+size:]
	}
	return true
}

func seedTexts(f *testing.F) []string {
	f.Helper()
	var texts []string
	for _, sm := range samples(11) {
		texts = append(texts, sm.text(), quoted(sm.text()), `{"k":"`+quoted(quoted(sm.text()))+`"}`, spelled(sm.text()))
	}
	return append(texts, innocents()...)
}

func FuzzText(f *testing.F) {
	for _, s := range seedTexts(f) {
		f.Add(s)
	}
	r := New()
	f.Fuzz(func(t *testing.T, s string) {
		counts := Counts{}
		got, err := r.Text(s, counts)
		if err != nil {
			t.Fatal(err)
		}
		if len(counts) == 0 && got != s || len(counts) > 0 && got == s {
			t.Fatalf("%q became %q with counts %v", s, got, counts)
		}
		if !keepsRest(s, got, counts) {
			t.Fatalf("%q became %q", s, got)
		}
		if again, err := r.Text(got, nil); err != nil || again != got {
			t.Fatalf("%q became %q and then %q (%v)", s, got, again, err)
		}
		if json.Valid([]byte(s)) && !json.Valid([]byte(got)) {
			t.Fatalf("valid %q became invalid %q", s, got)
		}
		// Within a JSON string the string stays valid, and so does JSON in it.
		outer := `{"a":"` + quoted(s) + `"}`
		got, err = r.Text(outer, nil)
		if err != nil {
			t.Fatal(err)
		}
		var v map[string]string
		if err := json.Unmarshal([]byte(got), &v); err != nil {
			t.Fatalf("valid %q became invalid %q: %v", outer, got, err)
		}
		if json.Valid([]byte(s)) && !json.Valid([]byte(v["a"])) {
			t.Fatalf("valid %q became invalid %q inside a string", s, v["a"])
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range seedTexts(f) {
		f.Add([]byte(`{"command":"` + quoted(s) + `","n":[1.0,true,"\ud83d"],"` + quoted(s) + `":{}}`))
		f.Add([]byte(`{"password":"` + quoted(s) + `","api_key":["` + spelled(s) + `"]}`))
	}
	r := New()
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := string(raw)
		counts := Counts{}
		got, err := r.JSON(raw, counts)
		if string(raw) != before {
			t.Fatal("the input was changed")
		}
		if !json.Valid(raw) {
			return
		}
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		if len(counts) == 0 && string(got) != before {
			t.Fatalf("%q became %q without a count", raw, got)
		}
		if !json.Valid(got) || !keepsRest(before, string(got), counts) {
			t.Fatalf("%q became %q", raw, got)
		}
		if again, err := r.JSON(got, nil); err != nil || string(again) != string(got) {
			t.Fatalf("%q became %q and then %q (%v)", raw, got, again, err)
		}
		// Redacting a string gives the same result as redacting its text.
		var s, gotText string
		if json.Unmarshal(raw, &s) == nil && before[0] == '"' && !strings.Contains(strings.ToLower(before), `\ud`) {
			want, err := r.Text(s, nil)
			if json.Unmarshal(got, &gotText) != nil || err != nil || gotText != want {
				t.Fatalf("%q became %q, but its text %q", raw, gotText, want)
			}
		}
	})
}
