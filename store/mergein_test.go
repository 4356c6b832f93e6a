package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestMergeFiles: files are merged under the lock, logs first and session.json last; a
// missing folder is made; an error leaves the files after it as they are.
func TestMergeFiles(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 2))
	must(t, settle(c))
	c.Close()
	read := map[string]string{}
	for _, name := range []string{MessagesLog, ToolsLog, ".session/session.json", "brainstorm.md"} {
		read[name] = readFile(t, s, c.Path()+"/"+name)
	}
	const other = "conversations/2025-11-23/1000-brainstorm-other-ee1s"
	var order []string
	names := []string{".session/session.json", "brainstorm.md", MessagesLog, ToolsLog, ".session/subagents/x/messages.jsonl"}
	must(t, s.MergeFiles(other, names, func(name string, ours []byte) ([]byte, error) {
		order = append(order, name)
		if len(ours) > 0 {
			t.Errorf("%s has %q", name, ours)
		}
		if strings.Contains(name, "subagents") {
			return []byte(read[MessagesLog]), nil
		}
		return []byte(read[name]), nil
	}))
	order = slices.DeleteFunc(order, func(name string) bool { return strings.Contains(name, "subagents") })
	if want := []string{ToolsLog, MessagesLog, "brainstorm.md", ".session/session.json"}; !slices.Equal(order, want) {
		t.Errorf("merged in the order %q", order)
	}
	for name, text := range read {
		if got := readFile(t, s, other+"/"+name); got != text {
			t.Errorf("%s is %q", name, got)
		}
	}
	if got := readFile(t, s, other+"/.session/subagents/x/messages.jsonl"); got != read[MessagesLog] {
		t.Errorf("the sub-agent has %q", got)
	}
	const quiet = "conversations/2025-11-23/1001-brainstorm-quiet-ee2s" // without tool calls
	logs := map[string][]byte{MessagesLog: []byte(read[MessagesLog]), ToolsLog: {}}
	must(t, s.MergeFiles(quiet, []string{MessagesLog, ToolsLog}, func(name string, _ []byte) ([]byte, error) { return logs[name], nil }))
	if got := readFile(t, s, quiet+"/"+ToolsLog); got != "" {
		t.Errorf("the empty log is %q", got)
	}
	failed := errors.New("no")
	err := s.MergeFiles(other, []string{"brainstorm.md", ".session/session.json"}, func(name string, ours []byte) ([]byte, error) {
		if name == "brainstorm.md" {
			return nil, nil
		}
		return nil, failed
	})
	if !errors.Is(err, failed) {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(s.Root(), other, "brainstorm.md")); !os.IsNotExist(err) {
		t.Errorf("the document is still there: %v", err)
	}
	if readFile(t, s, other+"/.session/session.json") != read[".session/session.json"] {
		t.Error("session.json changed")
	}
	for _, name := range []string{"conversations/x", "../x/y/z", ".workspace/a/b"} {
		if err := s.MergeFiles(name, nil, nil); err == nil {
			t.Errorf("merged into %s", name)
		}
	}
}

// TestMergeFilesMeanwhile: what is appended while files are merged stays.
func TestMergeFilesMeanwhile(t *testing.T) {
	s := newTestStore(t)
	c := create(t, s)
	appendBatch(t, c, thread(0, 1))
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		for range 20 {
			err := s.MergeFiles(c.Path(), []string{MessagesLog}, func(_ string, ours []byte) ([]byte, error) {
				return append(ours, `{"id":"x","timestamp":"2025-11-22T10:00:00.000Z","role":"user","content":"x"}`+"\n"...), nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	for i := range 20 {
		appendBatch(t, c, thread(i+1, i+2))
	}
	all.Wait()
	log := readFile(t, s, c.Path()+"/"+MessagesLog)
	if n := strings.Count(log, `"id":"x"`); n != 20 {
		t.Errorf("%d merges are in the log", n)
	}
	if n := strings.Count(log, `"id":"m`); n != 21 {
		t.Errorf("%d messages are in the log", n)
	}
}
