package inject

import (
	"regexp"
	"strings"
	"testing"
)

func TestPayloadID(t *testing.T) {
	v8 := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]string{}
	for i := range 500 {
		text := strings.Repeat("x", i)
		id := PayloadID(text)
		if !v8.MatchString(id) || seen[id] != "" || id != PayloadID(text) {
			t.Errorf("the id of %d bytes is %q", i, id)
		}
		seen[id] = text
	}
}
