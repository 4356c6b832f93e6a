package opencode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// TestProviderOfLast checks that the provider is that of the last answer, or empty if
// the answer names none.
func TestProviderOfLast(t *testing.T) {
	text, err := os.ReadFile(fixtures + "1.2.5/prices/transcript.json")
	if err != nil {
		t.Fatal(err)
	}
	const member = `"providerID": "openai",`
	at := strings.LastIndex(string(text), member)
	for instead, want := range map[string]*schema.Provider{
		member:                 {Type: "openai", Model: "gpt-5.3-codex"},
		`"providerID": "own",`: {Type: "own", Model: "gpt-5.3-codex"},
		"":                     nil,
		`"providerID": 7,`:     nil,
	} {
		file := filepath.Join(t.TempDir(), "transcript.json")
		if err := os.WriteFile(file, []byte(string(text[:at])+instead+string(text[at+len(member):])), 0o600); err != nil {
			t.Fatal(err)
		}
		tr, _ := readAll(t, file, inject.Options{})
		if got := tr.Provider; (got == nil) != (want == nil) || got != nil && (got.Type != want.Type || got.Model != want.Model) {
			t.Errorf("with %q: %+v", instead, got)
		}
	}
}
