package inject_test

import (
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
