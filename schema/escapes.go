package schema

import (
	"regexp"
	"strings"
	"sync"
)

// escapes matches sequences that a terminal obeys: control sequences, such as colors;
// strings, such as window titles and links, which end within their line; and single
// escapes. The end of a sequence may be cut off.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)`)
})

// WithoutEscapes returns s without terminal escape sequences.
func WithoutEscapes(s string) string {
	if !strings.Contains(s, "\x1b") {
		return s
	}
	return escapes().ReplaceAllString(s, "")
}
