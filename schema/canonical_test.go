package schema_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"cortext/schema"
)

// Nearly every line that cortext writes is known to be canonical. FuzzMessage and FuzzTool
// check that no other line is.
func TestCanonical(t *testing.T) {
	lines := 0
	err := filepath.WalkDir("../testdata", func(file string, d fs.DirEntry, err error) error {
		name := filepath.Base(file)
		if err != nil || d.IsDir() || name != "messages.jsonl" && name != "tools.jsonl" {
			return err
		}
		content, err := os.ReadFile(file)
		for line := range bytes.Lines(content) {
			canonical, same := false, false
			if name == "tools.jsonl" {
				r, err := schema.ParseTool(bytes.TrimSuffix(line, []byte("\n")))
				same = err == nil && len(r.Unknown)+len(r.Redacted) == 0 && bytes.Equal(schema.AppendTool(nil, &r), line)
				canonical = schema.IsCanonicalTool(bytes.TrimSuffix(line, []byte("\n")))
			} else {
				r, err := schema.ParseMessage(bytes.TrimSuffix(line, []byte("\n")))
				same = err == nil && len(r.Unknown)+len(r.Redacted) == 0 && bytes.Equal(schema.AppendMessage(nil, &r), line)
				canonical = schema.IsCanonicalMessage(bytes.TrimSuffix(line, []byte("\n")))
			}
			if canonical != same {
				t.Errorf("%s: canonical is %t, want %t:\n%.300s", file, canonical, same, line)
			}
			lines++
		}
		return err
	})
	if err != nil || lines < 20 {
		t.Fatalf("%v, %d lines", err, lines)
	}
}
