package cloneref

import (
	"bytes"
	"testing"
)

// TestEmptyOrMissing: an empty file is not a missing one, whichever side has it.
func TestEmptyOrMissing(t *testing.T) {
	empty := []byte{}
	for _, test := range []struct {
		name           string
		base, here, by []byte
		want           []byte
	}{
		{"conversations/d/c/.session/tools.jsonl", nil, empty, nil, empty},
		{"conversations/d/c/.session/tools.jsonl", empty, empty, nil, empty},
		{"conversations/d/c/notes.md", nil, empty, nil, empty},
		{"conversations/d/c/notes.md", empty, empty, nil, nil},
		{"conversations/d/c/notes.md", empty, nil, nil, nil},
	} {
		for _, sides := range [][2][]byte{{test.here, test.by}, {test.by, test.here}} {
			got, err := merger{}.file(test.name, test.base, sides[0], sides[1])
			if err != nil || !bytes.Equal(got, test.want) || (got == nil) != (test.want == nil) {
				t.Errorf("%s, %#v and %#v since %#v: %#v, %v", test.name, sides[0], sides[1], test.base, got, err)
			}
		}
	}
}
