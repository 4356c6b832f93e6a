package summary

import (
	"slices"
	"testing"
)

// TestCodeEndsNoSentence: a mark between backticks is code.
func TestCodeEndsNoSentence(t *testing.T) {
	for text, want := range map[string][]string{
		"It skips if count > 0, but `upsert_messages!` always inserts. That was it.": {"It skips if count > 0, but `upsert_messages!` always inserts.", "That was it."},
		"Call `a. b`, then `c! d`. It works.":                                        {"Call `a. b`, then `c! d`.", "It works."},
		"A lone ` here. It ends.":                                                    {"A lone ` here.", "It ends."},
	} {
		var got []string
		for _, s := range sentences(text) {
			got = append(got, s.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}
