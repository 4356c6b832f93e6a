package inject_test

import (
	"regexp"
	"strings"
	"testing"

	"cortext/inject"
)

func TestFlag(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"--model"}, ""},
		{[]string{"--model", "a"}, "a"},
		{[]string{"--model=a"}, "a"},
		{[]string{"--model=a=b"}, "a=b"},
		{[]string{"-m", "a/b", "more"}, "a/b"},
		{[]string{"-m=a"}, "a"},
		{[]string{"x", "--model", "a", "-m=b"}, "b"},
		{[]string{"--model", "--verbose"}, ""},
		{[]string{"--models", "a", "--modelling=b"}, ""},
		{[]string{"--", "--model", "a"}, ""},
		{[]string{"--model", "a", "--", "--model", "b"}, "a"},
	} {
		if got := inject.Flag(c.args, "--model", "-m"); got != c.want {
			t.Errorf("%q: %q, not %q", c.args, got, c.want)
		}
	}
}

func TestPayloadID(t *testing.T) {
	v8 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]string{}
	for i := range 500 {
		text := strings.Repeat("x", i)
		id := inject.PayloadID(text)
		if !v8.MatchString(id) || seen[id] != "" || id != inject.PayloadID(text) {
			t.Errorf("the id of %d bytes is %q", i, id)
		}
		seen[id] = text
	}
}
