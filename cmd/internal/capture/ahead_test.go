//go:build unix

package capture

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"cortext/inject/claude"
)

// TestReadAhead: a transcript that changes after it was read ahead is read again.
func TestReadAhead(t *testing.T) {
	for _, c := range []struct {
		name     string
		change   func(file string)
		messages int // 0: the import fails
	}{
		{"unchanged", func(string) {}, 4},
		{"grown", func(file string) { transcript(file, "s2", 4, 6) }, 6},
		{"replaced", func(file string) {
			must(t, os.Remove(file))
			transcript(file, "s2", 0, 2)
		}, 2},
		{"removed", func(file string) { must(t, os.Remove(file)) }, 0},
		{"damaged", func(file string) { must(t, os.WriteFile(file, []byte("{\n"), 0o600)) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, home, id, first := setUp(t)
			second := filepath.Join(home, "s2.jsonl")
			transcript(first, id, 0, 2)
			transcript(second, "s2", 0, 4)
			im, err := openCapture(t, dir, home).NewImporter(ImportOptions{})
			must(t, err)
			defer im.Close()
			im.Next(second)
			_, err = im.File(context.Background(), claude.Agent(), first)
			must(t, err)
			if im.ahead == nil {
				t.Fatal("the second file was not read ahead")
			}
			<-im.ahead.done
			c.change(second)
			im.Next("")
			out, err := im.File(context.Background(), claude.Agent(), second)
			switch {
			case c.messages == 0 && err == nil:
				t.Errorf("imported %d messages", out.Messages)
			case c.messages > 0 && (err != nil || out.Messages != c.messages):
				t.Errorf("%v, %+v", err, out)
			}
			if im.ahead != nil {
				t.Error("it is still open")
			}
		})
	}
}
