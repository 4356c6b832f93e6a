package secrets

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func matching(expr string) (*Redactor, *Found) {
	found := &Found{}
	return Matching(regexp.MustCompile(expr), "x", found), found
}

func TestMatching(t *testing.T) {
	for _, tt := range []struct{ expr, in, want string }{
		{`key`, "a key, a key", "a [redacted: x], a [redacted: x]"},
		{`pa"s\\s`, `say pa"s\s`, `say [redacted: x]`},
		{`pa"s`, `"say pa\"s"`, `"say [redacted: x]"`},               // escaped once
		{`pa"s`, `{"a":"say pa\\\"s"}`, `{"a":"say [redacted: x]"}`}, // and again
		{`redacted`, "[redacted: x] redacted", "[redacted: x] [redacted: x]"},
		{`.+`, "all", "[redacted: x]"},
		{`.+`, "[redacted: x][redacted: other]", "[redacted: x][redacted: other]"},
		{`x\] b`, "a [redacted: x] b", "a [redacted: x]"},
		{`k*`, "akk", "a[redacted: x]"},
		{`none`, "text", "text"},
	} {
		r, _ := matching(tt.expr)
		counts := Counts{}
		got, err := r.Text(tt.in, counts)
		if err != nil || got != tt.want {
			t.Errorf("%s in %q: %q, %v, want %q", tt.expr, tt.in, got, err, tt.want)
		}
		if again, err := r.Text(got, nil); err != nil || again != got {
			t.Errorf("%s in %q: again %q, %v", tt.expr, got, again, err)
		}
	}
}

func TestMatchingJSON(t *testing.T) {
	r, found := matching(`pa"s`)
	in := `{"pa\"s": [1.0, "\u0070a\u0022s", {"deep":"{\"in\":\"pa\\\"s\"}"}], "id":"other"}`
	want := `{"[redacted: x]": [1.0, "[redacted: x]", {"deep":"{\"in\":\"[redacted: x]\"}"}], "id":"other"}`
	got, err := r.JSON([]byte(in), Counts{})
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	if found.Len() != 1 {
		t.Errorf("%d texts", found.Len())
	}
	torn := "{\"a\":\"pa\\\"s"
	if got, err := r.Loose([]byte(torn), Counts{}); err != nil || string(got) != `{"a":"[redacted: x]` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestKnown: a Known finds the texts it was made for and nothing else, and does not hold
// them.
func TestKnown(t *testing.T) {
	r, found := matching(`\bcat\b|secret "[a-z]+"`)
	text := `a cat, secret "abc" and secret "longer"`
	want, err := r.Text(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := Known{ID: "1", Name: "x", Salt: []byte("salt")}
	k.Add(found)
	k.Add(found) // the same texts count once
	if len(k.Texts) != 3 || k.Partial {
		t.Errorf("%+v", k)
	}
	one, cat := matching(`\bcat\b`)
	if _, err := one.Text(text, nil); err != nil || !k.Is(found) || k.Is(cat) {
		t.Errorf("%v, is found: %t, is one of it: %t", err, k.Is(found), k.Is(cat))
	}
	if s := fmt.Sprintf("%+v", k); strings.Contains(s, "cat") || strings.Contains(s, "longer") {
		t.Error(s)
	}
	again := Recognizing([]Known{k})
	counts := Counts{}
	if got, err := again.Text(text, counts); err != nil || got != want || counts["1"] != 3 {
		t.Errorf("%q, %v, %v", got, err, counts)
	}
	// "cat" was always a whole word.
	if got, _ := again.Text(`concatenate, secret "abcd"`, nil); strings.Contains(got, "redacted") {
		t.Error(got)
	}
}

// TestKnownFindsAll compares a Known with a plain search in random texts.
func TestKnownFindsAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab-"[r.IntN(3)]
		}
		return string(b)
	}
	for range 300 {
		secret := random(4 + r.IntN(12))
		plain, _ := matching(regexp.QuoteMeta(secret))
		text := random(40) + secret + random(40) + secret
		want, _ := plain.Text(text, nil)
		found := &Found{texts: map[string]edges{secret: {}}}
		k := Known{ID: "1", Name: "x", Salt: []byte{byte(r.IntN(256))}}
		k.Add(found)
		got, err := Recognizing([]Known{k}).Text(text, nil)
		if err != nil || strings.Contains(got, secret) || len(got) > len(want) {
			t.Fatalf("%q in %q: %q, %v, want %q", secret, text, got, err, want)
		}
	}
}

func TestKnownPartial(t *testing.T) {
	_, found := matching(`x`)
	for i := range maxKnown + 1 {
		found.add(fmt.Sprintf("text %d", i), 0, 5)
	}
	for i := range maxKnown + 1 {
		s := fmt.Sprintf("%06d", i)
		found.add(s, 0, len(s))
	}
	k := Known{Salt: []byte("s")}
	found.texts = map[string]edges{"text": {}} // hashing all of them takes a while
	if k.Add(found); !k.Partial {
		t.Error("too many texts, and it is not partial")
	}
}

func TestFoundAny(t *testing.T) {
	plain, found := matching("pelican[0-9]")
	if _, err := plain.Text("pelican7 and pelican8", nil); err != nil {
		t.Fatal(err)
	}
	if !found.Any(func(text string) bool { return text == "pelican8" }) || found.Any(func(text string) bool { return text == "pelican9" }) {
		t.Errorf("%d texts found", found.Len())
	}
}
