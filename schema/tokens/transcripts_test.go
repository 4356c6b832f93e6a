package tokens

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// transcriptLines calls visit with each line of the *.jsonl files in the folder named by
// CORTEXT_TRANSCRIPTS, if set.
func transcriptLines(tb testing.TB, visit func(line []byte)) (found bool) {
	tb.Helper()
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		return false
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" || !entry.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		for line := range bytes.Lines(raw) {
			visit(line)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return true
}

// texts appends the strings in a JSON value to found.
func texts(value any, found []string) []string {
	switch value := value.(type) {
	case string:
		found = append(found, value)
	case []any:
		for _, v := range value {
			found = texts(v, found)
		}
	case map[string]any:
		for _, v := range value {
			found = texts(v, found)
		}
	}
	return found
}

// TestCountTranscripts compares whole lines of real transcripts and the longer strings in
// them. Under the race detector, which is slow, it takes one line out of sixteen.
func TestCountTranscripts(t *testing.T) {
	todo := make(chan []byte, 64)
	var lines, strings, size, differ atomic.Int64
	compare := func(text string) {
		size.Add(int64(len(text)))
		if n, want := Count(text), referenceCount(t, text); n != want && differ.Add(1) <= 10 {
			t.Errorf("Count(%.200q…) = %d, want %d", text, n, want)
		}
	}
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for line := range todo {
				lines.Add(1)
				compare(string(line))
				var value any
				if json.Unmarshal(line, &value) != nil {
					continue
				}
				for _, text := range texts(value, nil) {
					if len(text) >= 40 {
						strings.Add(1)
						compare(text)
					}
				}
			}
		})
	}
	i := 0
	found := transcriptLines(t, func(line []byte) {
		if i++; !raceDetector || i%16 == 0 {
			todo <- line
		}
	})
	close(todo)
	wg.Wait()
	if !found {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
		return
	}
	t.Logf("compared %d lines of real transcripts and %d strings in them, %d bytes: %d differ",
		lines.Load(), strings.Load(), size.Load(), differ.Load())
	if lines.Load() == 0 {
		t.Error("CORTEXT_TRANSCRIPTS names a folder without lines")
	}
}
