//go:build unix

package capture

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"cortext/inject"
	"cortext/inject/claude"
	"cortext/store"
)

// A counting agent counts how often somebody asks for the size of a transcript.
type counting struct {
	inject.Agent
	asked *int
}

func (a counting) Stat(path string) (int64, error) {
	*a.asked++
	return a.Agent.Stat(path)
}

// TestCatchUpLeavesClosed: a starting session asks for nothing of the sessions that have not
// changed since the last one started, and captures those that have.
func TestCatchUpLeavesClosed(t *testing.T) {
	dir, home, _, _ := setUp(t)
	var files []string
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		file := filepath.Join(home, id+".jsonl")
		transcript(file, id, 0, 4)
		files = append(files, file)
		importFile(t, openCapture(t, dir, home), file)
	}
	start := func() (asked int) {
		t.Helper()
		for _, pattern := range []string{home + "/*.jsonl", dir + "/.workspace/local/cache/bindings/claude/*.json"} {
			list, _ := filepath.Glob(pattern)
			for _, file := range list { // until a change would be visible
				for ok := false; !ok; time.Sleep(time.Millisecond) {
					_, ok = store.LookAt(file)
				}
			}
		}
		c := openCapture(t, dir, home)
		must(t, c.CatchUp(context.Background(), counting{claude.Agent(), &asked}, inject.Event{NativeID: "new"}))
		return asked
	}
	count := func(want int) {
		t.Helper()
		logs, _ := filepath.Glob(filepath.Join(dir, "conversations/*/*/.session/messages.jsonl"))
		got := 0
		for _, log := range logs {
			raw, err := os.ReadFile(log)
			must(t, err)
			got += bytes.Count(raw, []byte("\n"))
		}
		if got != want {
			t.Fatalf("%d messages, want %d", got, want)
		}
	}
	first := start()
	if first == 0 {
		t.Fatal("the first start asked for nothing")
	}
	count(12)
	quiet := start() // the conversations that are active are asked anyway
	if quiet >= first {
		t.Errorf("%d questions about unchanged sessions, %d the first time", quiet, first)
	}
	transcript(files[1], "s1", 4, 6)
	if asked := start(); asked <= quiet {
		t.Errorf("%d questions after a session has grown, %d before", asked, quiet)
	}
	count(14)
	must(t, os.WriteFile(filepath.Join(dir, ".workspace/local/cache/caughtup/claude.json"), []byte("damaged"), 0o600))
	transcript(files[2], "s2", 4, 6)
	start()
	count(16)
	must(t, os.Remove(files[0]))
	start()
	if names := openCapture(t, dir, home).Names("claude"); len(names) != 2 {
		t.Errorf("bindings after a transcript was deleted: %q", names)
	}
}
