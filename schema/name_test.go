package schema_test

import (
	"strings"
	"testing"

	"cortext/schema"
)

func TestPathElement(t *testing.T) {
	for _, id := range []string{"agent-a1b2", "5f3d7f2e-8d1c-4c1e-9a53-0123456789ab", "ses_4dX", "v1.2"} {
		if got := schema.PathElement(id); got != id {
			t.Errorf("%q became %q", id, got)
		}
	}
	seen := map[string]string{}
	for _, id := range []string{"", ".", "..", "a/b", `a\b`, "../../x", ".hidden", "trailing.", "nul", "Com1.txt", "a b", "ä", "a\x00", strings.Repeat("x", 101)} {
		got := schema.PathElement(id)
		if got == id || got != schema.PathElement(got) || seen[got] != "" {
			t.Errorf("%q became %q", id, got)
		}
		seen[got] = id
	}
}
