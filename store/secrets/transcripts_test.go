package secrets

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTranscripts redacts the real transcripts in the folder named by
// CORTEXT_TRANSCRIPTS: each file as a text, and each JSON value in it. It logs how often
// each rule replaced something, but never the text. Transcripts contain hardly any
// secrets, so many replacements indicate false positives.
func TestTranscripts(t *testing.T) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Skip("NOT RUN: CORTEXT_TRANSCRIPTS is not set")
	}
	r := New()
	asText, asJSON := Counts{}, Counts{}
	files, values, size := 0, 0, 0
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		size += len(text)
		got, err := r.Text(string(text), asText)
		if err != nil {
			return err
		}
		if again, err := r.Text(got, nil); err != nil || again != got {
			t.Errorf("%s: a second run changes the text again (%v)", d.Name(), err)
		}
		list := [][]byte{text}
		if !json.Valid(text) {
			list = bytes.Split(text, []byte("\n"))
		}
		for _, raw := range list {
			if !json.Valid(raw) {
				continue
			}
			values++
			before := Counts{}
			got, err := r.JSON(raw, before)
			if err != nil {
				return err
			}
			for id, n := range before {
				asJSON[id] += n
			}
			if !json.Valid(got) || len(before) == 0 && !bytes.Equal(raw, got) {
				t.Errorf("%s: a JSON value was damaged", d.Name())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d bytes, %d JSON values", files, size, values)
	for _, found := range []struct {
		how    string
		counts Counts
	}{{"text", asText}, {"JSON", asJSON}} {
		for _, id := range slices.Sorted(maps.Keys(found.counts)) {
			t.Logf("as %s: %s %d", found.how, id, found.counts[id])
		}
	}
}
