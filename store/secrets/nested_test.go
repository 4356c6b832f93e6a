package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A nester writes random JSON values whose strings contain secrets, pieces of syntax, and
// more JSON.
type nester struct {
	maker
	pieces []string
}

func (n nester) pick() string { return n.pieces[n.IntN(len(n.pieces))] }

// text returns a random text that contains JSON, nested up to depth levels.
func (n nester) text(depth int) string {
	var b strings.Builder
	for range 1 + n.IntN(4) {
		if depth > 0 && n.IntN(3) == 0 {
			b.WriteString(n.value(depth - 1))
		} else {
			b.WriteString(n.pick())
		}
	}
	return b.String()
}

// value returns a random JSON value.
func (n nester) value(depth int) string {
	switch n.IntN(4) {
	case 0:
		return "[" + n.str(depth) + "," + n.str(depth) + "]"
	case 1:
		return n.str(depth)
	}
	return "{" + n.str(0) + n.space() + ":" + n.space() + n.str(depth) + "," + n.str(depth) + ":[1.50,null]}"
}

func (n nester) space() string { return []string{"", " ", "\n", "\t"}[n.IntN(4)] }

// str returns a JSON string with a random text. It spells some characters by number or
// with an unnecessary backslash.
func (n nester) str(depth int) string {
	style := n.IntN(3)
	var b strings.Builder
	for _, c := range n.text(depth) {
		switch q := quoted(string(c)); {
		case style == 1 && c < 0x80 && !isAlnum(byte(c)):
			fmt.Fprintf(&b, `\u%04x`, c)
		case style == 2 && n.IntN(4) == 0 && c < 0x80 && !isAlnum(byte(c)):
			fmt.Fprintf(&b, `\u%04X`, c)
		case style == 2 && c == '/':
			b.WriteString(`\/`)
		default:
			b.WriteString(q)
		}
	}
	return `"` + b.String() + `"`
}

// validInside returns an error if before is valid JSON and after is not. It checks the
// strings in them in the same way, except those that were replaced entirely.
func validInside(before, after string) error {
	if !json.Valid([]byte(before)) || strings.HasPrefix(after, markerStart) && strings.IndexByte(after, ']') == len(after)-1 {
		return nil
	}
	if !json.Valid([]byte(after)) {
		return fmt.Errorf("valid %q became invalid %q", before, after)
	}
	was, is := jsonStrings(before), jsonStrings(after)
	if len(was) != len(is) {
		// A key that spans several strings makes them one.
		return nil
	}
	for i := range was {
		if was[i] != before {
			if err := validInside(was[i], is[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// jsonStrings returns the strings and names in a JSON value.
func jsonStrings(s string) []string {
	var all []string
	dec := json.NewDecoder(strings.NewReader(s))
	for {
		tok, err := dec.Token()
		if err != nil {
			return all
		}
		if s, ok := tok.(string); ok {
			all = append(all, s)
		}
	}
}

func TestNestedJSON(t *testing.T) {
	r := New()
	rounds := 2000
	if testing.Short() {
		rounds = 60
	}
	var lists [16][]sample // making them takes longer than redacting them
	for seed := range uint64(len(lists)) {
		lists[seed] = samples(seed)
	}
	for seed := range uint64(rounds) {
		n := nester{maker: newMaker(seed), pieces: []string{
			`"`, `\`, "\n", "n", "u0041", `\u005c`, `'`, ", ", ": ", "{", "}", "[", "]", "é", "\U0001F600", "password", "api_key", "token=", " ",
			`C:\`, `"password": "`, `secret='`, "://a:", "@b", "Authorization: Bearer ", "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----",
		}}
		for range 6 {
			list := lists[seed%16]
			sm := list[n.IntN(len(list))]
			n.pieces = append(n.pieces, sm.text(), sm.secret)
		}
		raw := n.value(3)
		for name, redact := range map[string]func(string, Counts) (string, error){
			"Text": r.Text,
			"JSON": func(s string, c Counts) (string, error) {
				b, err := r.JSON([]byte(s), c)
				return string(b), err
			},
		} {
			counts := Counts{}
			got, err := redact(raw, counts)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			if err := validInside(raw, got); err != nil {
				t.Fatalf("seed %d, %s: %v", seed, name, err)
			}
			if !keepsRest(raw, got, counts) {
				t.Fatalf("seed %d, %s: %q became %q", seed, name, raw, got)
			}
			if again, err := redact(got, nil); err != nil || again != got {
				t.Fatalf("seed %d, %s: %q became %q and then %q (%v)", seed, name, raw, got, again, err)
			}
		}
	}
}
