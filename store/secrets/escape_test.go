package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// quoted returns s as a JSON string, without the quotes.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return b.String()[1 : b.Len()-2]
}

// spelled escapes everything but letters and digits as some programs do: slashes with a
// backslash, the rest by number.
func spelled(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		switch {
		case isAlnum(c) || c == ' ':
			b.WriteByte(c)
		case c == '/':
			b.WriteString(`\/`)
		default:
			fmt.Fprintf(&b, `\u%04X`, c)
		}
	}
	return b.String()
}

func TestSamplesEscaped(t *testing.T) {
	r := New()
	ways := map[string]func(string) string{
		"once":            quoted,
		"twice":           func(s string) string { return quoted(quoted(s)) },
		"three times":     func(s string) string { return quoted(quoted(quoted(s))) },
		"spelled":         spelled,
		"spelled, quoted": func(s string) string { return quoted(spelled(s)) },
	}
	for seed := range uint64(10) {
		for _, sm := range samples(seed) {
			for name, esc := range ways {
				want := esc(sm.before) + markerStart + sm.rule + "]" + esc(sm.after)
				got, err := r.Text(esc(sm.text()), nil)
				if err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Errorf("seed %d, rule %s, %s:\n got %q\nwant %q", seed, sm.rule, name, got, want)
				}
			}
		}
		if t.Failed() {
			break
		}
	}
}
