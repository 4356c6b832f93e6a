package claude

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// gather opens a transcript held in memory and collects everything in it.
func gather(t testing.TB, data []byte, name string) (*inject.Transcript, map[string]*schema.Batch, map[string][]byte) {
	t.Helper()
	tr, err := read(bytes.NewReader(data), int64(len(data)), name, inject.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all, blobs := map[string]*schema.Batch{"": {}}, map[string][]byte{}
	err = tr.Each(func(sub string, b inject.Batch) error {
		if all[sub] == nil {
			all[sub] = &schema.Batch{}
		}
		all[sub].Messages = append(all[sub].Messages, b.Messages...)
		all[sub].Tools = append(all[sub].Tools, b.Tools...)
		for _, blob := range b.Blobs {
			blobs[blob.SHA256] = blob.Data
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr, all, blobs
}

// TestSplitMessage captures a transcript cut after each of its lines. Each capture must
// be part of the later ones, under the same ids.
func TestSplitMessage(t *testing.T) {
	data, err := os.ReadFile("../../testdata/agents/claude/2.1.329/brainstorm/transcript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, full, _ := gather(t, data, "x")
	byID := map[string]schema.Message{}
	for _, m := range full[""].Messages {
		byID[m.ID] = m
	}
	for i := range data {
		if data[i] != '\n' {
			continue
		}
		_, part, _ := gather(t, data[:i+1], "x")
		for j, m := range part[""].Messages {
			whole, ok := byID[m.ID]
			if !ok || !strings.HasPrefix(whole.Content, m.Content) || len(m.ToolCalls) > len(whole.ToolCalls) || full[""].Messages[j].ID != m.ID {
				t.Fatalf("cut at byte %d: message %d is %+v, in the whole %+v", i, j, m, whole)
			}
		}
	}
}

// TestDamage damages the brainstorm fixture and counts what survives.
func TestDamage(t *testing.T) {
	whole, err := os.ReadFile("../../testdata/agents/claude/2.1.329/brainstorm/transcript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	_, all, _ := gather(t, whole, "x")
	messages, tools := len(all[""].Messages), len(all[""].Tools)
	at := func(i int, f func([]byte) []byte) []byte {
		out := slices.Clone(lines)
		out[i] = f(bytes.Clone(lines[i]))
		return bytes.Join(out, nil)
	}
	const second = 14 // the line of the second prompt's answer, a separate message
	for _, c := range []struct {
		name     string
		data     []byte
		messages int
		warning  string
	}{
		{"CRLF", bytes.ReplaceAll(whole, []byte("\n"), []byte("\r\n")), messages, ""},
		{"BOM", append([]byte("\xEF\xBB\xBF"), whole...), messages, ""},
		{"blank lines", bytes.ReplaceAll(whole, []byte("\n"), []byte("\n\n")), messages, ""},
		{"NULs before a record", at(second, func(b []byte) []byte { return append(make([]byte, 300), b...) }), messages, "NUL bytes (300)"},
		{"NULs at the end", append(bytes.Clone(whole), make([]byte, 5000)...), messages, "NUL bytes (5000)"},
		{"welded", at(second, func(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) }), messages, "welded records"},
		{"conflict markers", at(second, func(b []byte) []byte {
			return slices.Concat([]byte("<<<<<<< HEAD\n"), b, []byte("=======\n>>>>>>> other\n"))
		}), messages, "conflict marker"},
		{"torn tail", append(bytes.Clone(whole), `{"type":"user","uuid":"x","message":{"rol`...), messages, "torn tail"},
		{"no newline at the end", bytes.TrimSuffix(whole, []byte("\n")), messages, ""},
		{"splice", at(second, func(b []byte) []byte { return append([]byte(`{"type":"user","message":{"role":"us`), b...) }), messages, "broken line"},
		{"garbage line", at(second, func(b []byte) []byte { return append([]byte("what is this\n"), b...) }), messages, "broken line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !adapter.Detect(bytes.NewReader(c.data)) {
				t.Error("not detected")
			}
			tr, all, _ := gather(t, c.data, "x")
			if got := all[""]; len(got.Messages) != c.messages || len(got.Tools) != tools {
				t.Errorf("%d messages and %d tools, want %d and %d", len(got.Messages), len(got.Tools), c.messages, tools)
			}
			warnings := strings.Join(tr.Warnings, "\n")
			if c.warning == "" && warnings != "" || !strings.Contains(warnings, c.warning) {
				t.Errorf("warnings %q, want %q", warnings, c.warning)
			}
		})
	}
}

func TestDetect(t *testing.T) {
	for file, want := range map[string]bool{
		`{"type":"user","message":{"role":"user","content":"hi"}}`:                                  true,
		`{"type":"summary","summary":"x"}` + "\n" + `{"type":"assistant","message":{"content":[]}}`: true,
		"\xEF\xBB\xBF\x00\x00" + `{"type":"user","message":{"role":"user","content":"hi"}}`:         true,
		`{"type":"user","message":{"role":"user","parts":[{"text":"hi"}]}}`:                         false, // Qwen Code
		`{"type":"session_meta","payload":{"id":"x"}}`:                                              false, // Codex
		`{"sessionId":"x","messages":[{"type":"user","content":"hi"}]}`:                             false, // Gemini CLI
		`{"session_id":"x","hook_event_name":"Stop","transcript_path":"/x"}`:                        false,
		"not json": false,
		"":         false,
	} {
		if got := adapter.Detect(strings.NewReader(file)); got != want {
			t.Errorf("adapter.Detect(%.60q) = %v", file, got)
		}
	}
}

// TestRealTranscripts counts the messages of real transcripts again with encoding/json,
// following FACTS.md, "Records of a transcript", and compares the counts.
func TestRealTranscripts(t *testing.T) {
	root := os.Getenv("CORTEXT_TRANSCRIPTS")
	if root == "" {
		t.Log("NOT RUN on real transcripts: CORTEXT_TRANSCRIPTS is not set")
		return
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(root, "claude"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(d.Name(), ".json") {
			return err
		}
		files++
		t.Run(d.Name(), func(t *testing.T) { compare(t, path) })
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%d transcripts below %s: %v", files, root, err)
	}
}

func compare(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, all, _ := gather(t, data, filepath.Base(path))
	texts, results := map[string]string{}, map[string]bool{}
	var prompts, order []string
	side := bytes.Count(data, []byte(`"isSidechain":true`)) > 0 && bytes.Count(data, []byte(`"isSidechain":false`)) == 0
	for _, line := range bytes.Split(data, []byte("\n")) {
		var r struct {
			Type, UUID                            string
			IsMeta, IsSidechain, IsCompactSummary bool
			Message                               struct {
				ID      string
				Content json.RawMessage
			}
		}
		if json.Unmarshal(line, &r) != nil || r.IsSidechain != side || r.Type != "user" && r.Type != "assistant" {
			continue
		}
		var s string
		var list []struct {
			Type, Text, ToolUseID string `json:",omitempty"`
			ToolUse               string `json:"tool_use_id"`
		}
		if json.Unmarshal(r.Message.Content, &s) == nil {
			list = append(list, struct {
				Type, Text, ToolUseID string `json:",omitempty"`
				ToolUse               string `json:"tool_use_id"`
			}{Type: "text", Text: s})
		} else if err := json.Unmarshal(r.Message.Content, &list); err != nil {
			t.Fatal(err)
		}
		if r.Type == "assistant" {
			if _, ok := texts[r.Message.ID]; !ok {
				order = append(order, r.Message.ID)
				texts[r.Message.ID] = ""
			}
		}
		for _, b := range list {
			switch {
			case b.Type == "tool_result":
				results[b.ToolUse] = true
			case b.Type == "text" && r.Type == "assistant":
				if texts[r.Message.ID] != "" {
					texts[r.Message.ID] += "\n\n"
				}
				texts[r.Message.ID] += b.Text
			case b.Type == "text" && !r.IsMeta && !r.IsCompactSummary && !strings.HasPrefix(b.Text, "<") && !strings.HasPrefix(b.Text, "[Request interrupted"):
				prompts = append(prompts, b.Text)
			}
		}
	}
	var gotOrder, gotPrompts []string
	for _, m := range all[""].Messages {
		switch {
		case m.Role == schema.Assistant:
			gotOrder = append(gotOrder, m.ID)
			if m.Content != texts[m.ID] {
				t.Errorf("%s: the text differs", m.ID)
			}
		case m.Role == schema.User && !strings.HasPrefix(m.Content, "/") && !strings.HasPrefix(m.Content, "!"):
			gotPrompts = append(gotPrompts, m.Content)
		}
	}
	if !slices.Equal(gotOrder, order) {
		t.Errorf("%d answers, want %d", len(gotOrder), len(order))
	}
	if !slices.Equal(gotPrompts, prompts) {
		t.Errorf("%d prompts, want %d", len(gotPrompts), len(prompts))
	}
	for _, x := range all[""].Tools {
		if x.Success != nil {
			delete(results, x.ID)
		}
	}
	if len(results) > 0 {
		t.Errorf("results lost: %v", results)
	}
}

func FuzzOpen(f *testing.F) {
	files, _ := filepath.Glob("../../testdata/agents/claude/*/*/transcript.jsonl")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range bytes.Split(data, []byte("\n")) {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		adapter.Detect(bytes.NewReader(data))
		_, all, _ := gather(t, data, "x.jsonl")
		for _, b := range all {
			seen := map[string]bool{}
			for _, m := range b.Messages {
				if m.ID == "" || seen[m.ID] {
					t.Fatalf("id %q is empty or appears twice", m.ID)
				}
				seen[m.ID] = true
				if _, err := schema.ParseMessage(bytes.TrimSuffix(schema.AppendMessage(nil, &m), []byte("\n"))); err != nil {
					t.Fatalf("the message cannot be read back: %v", err)
				}
			}
		}
	})
}

// BenchmarkOpen reads a transcript of about 4 MB twice, as a capture does.
func BenchmarkOpen(b *testing.B) {
	line, err := os.ReadFile("../../testdata/agents/claude/2.1.329/brainstorm/transcript.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	data := bytes.Repeat(line, 200)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		gather(b, data, "x")
	}
}
