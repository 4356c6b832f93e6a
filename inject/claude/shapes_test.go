package claude

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/schema"
)

// TestShapes reads rare lines, one of each kind.
func TestShapes(t *testing.T) {
	line := func(body string) string { return `{"type":"user","uuid":"u","message":{"content":` + body + "}}\n" }
	asks := `{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}` + "\n"
	answer := func(body string) string {
		return asks + `{"type":"user","uuid":"r","parentUuid":"a","message":{"content":[` + body + "]}}\n"
	}
	for _, c := range []struct {
		name, data string
		check      func(b *schema.Batch, tr *inject.Transcript) bool
	}{
		{"memory", line(`"<user-memory-input>use tabs</user-memory-input>"`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Content == "#use tabs" && b.Messages[0].Role == schema.User
		}},
		{"command name without slash", line(`"<command-name>x</command-name>"`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Content == "/x"
		}},
		{"command tag that is not closed", line(`"<command-name>x"`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Content == "<command-name>x"
		}},
		{"strings in a list", line(`["one",{"type":"text","text":"two"},7]`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Content == "one\n\ntwo" && len(b.Messages[0].Blocks) == 2
		}},
		{"no content", line("7") + line(`"x"`), func(b *schema.Batch, tr *inject.Transcript) bool {
			return len(b.Messages) == 1 && strings.Contains(tr.Warnings[0], "user without content")
		}},
		{"a line twice", line(`"x"`) + line(`"x"`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return len(b.Messages) == 1 && b.Messages[0].Content == "x"
		}},
		{"a compaction that keeps lines of another file", line(`"x"`) + `{"type":"system","subtype":"compact_boundary","uuid":"c","parentUuid":null,"logicalParentUuid":"u","compactMetadata":{"preservedSegment":{"headUuid":"g","tailUuid":"h","anchorUuid":"s"}}}` + "\n" + `{"type":"user","uuid":"v","parentUuid":"c","message":{"content":"y"}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return len(b.Messages) == 2 && b.Messages[1].ParentID == b.Messages[0].ID
		}},
		{"no uuid", `{"type":"user","message":{"content":"x"}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].ID == "line-at-0"
		}},
		{"no type", `{"uuid":"z"}` + "\n" + line(`"x"`), func(_ *schema.Batch, tr *inject.Transcript) bool {
			return strings.Contains(tr.Warnings[0], "(no type)")
		}},
		{"picture by address", line(`[{"type":"image","source":{"type":"url","media_type":"image/png","url":"https://example.com/x.png"}}]`), func(b *schema.Batch, _ *inject.Transcript) bool {
			a := b.Messages[0].Attachments
			return len(a) == 1 && a[0].Name == "https://example.com/x.png" && a[0].SHA256 == ""
		}},
		{"picture that is not base64", line(`[{"type":"image","source":{"data":"***"}}]`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Attachments[0].Bytes == 3
		}},
		{"file of one machine", line(`"see"`) + `{"type":"attachment","uuid":"f","parentUuid":"u","attachment":{"type":"file","filename":"/home/dev/x/notes.md"}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Attachments[0].Name == "notes.md"
		}},
		{"resource of an MCP server", line(`"see @lab:lab://doc"`) + `{"type":"attachment","uuid":"f","parentUuid":"u","attachment":{"type":"mcp_resource","server":"lab","uri":"lab://doc","name":"doc","content":{"contents":[{"uri":"lab://doc","mimeType":"text/plain","text":"the text"}]}}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			a := b.Messages[0].Attachments
			return len(a) == 1 && a[0].Name == "lab://doc" && a[0].Bytes == 8
		}},
		{"an output style", line(`"x"`) + `{"type":"attachment","uuid":"f","attachment":{"type":"output_style_instructions"}}` + "\n", func(_ *schema.Batch, tr *inject.Transcript) bool {
			return len(tr.Warnings) == 0
		}},
		{"attachment of an unknown kind", line(`"x"`) + `{"type":"attachment","uuid":"f","attachment":{"type":"smell"}}` + "\n", func(_ *schema.Batch, tr *inject.Transcript) bool {
			return strings.Contains(tr.Warnings[0], "attachment/smell")
		}},
		{"notification while at work", line(`"x"`) + `{"type":"attachment","uuid":"q","attachment":{"type":"queued_command","commandMode":"task-notification","prompt":"done"}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[1].Role == schema.System && b.Messages[1].Content == "done"
		}},
		{"summary that nothing stands before", `{"type":"user","uuid":"s","isCompactSummary":true,"message":{"content":"so far"}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Role == schema.System && b.Messages[0].Content == "so far"
		}},
		{"local command as a system record", line(`"x"`) + `{"type":"system","subtype":"local_command","uuid":"l","content":"<local-command-stdout>hi</local-command-stdout>"}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return len(b.Messages) == 2 && b.Messages[1].Role == schema.System
		}},
		{"local output in color", `{"type":"user","uuid":"l","message":{"content":"<local-command-stdout>\u001b[2mCompacted\u001b[22m</local-command-stdout>"}}` + "\n" + line(`"a \u001b[1mtyped\u001b[0m one"`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Content == "<local-command-stdout>Compacted</local-command-stdout>" && b.Messages[1].Content == "a \x1b[1mtyped\x1b[0m one"
		}},
		{"result without its call", line(`[{"type":"tool_result","tool_use_id":"gone","content":"late"},{"type":"text","text":"and so on"}]`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return len(b.Tools) == 1 && b.Tools[0].ID == "gone" && b.Tools[0].Output == "late" && b.Messages[0].Content == "and so on"
		}},
		{"result of a server's tool", `{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"server_tool_use","id":"w","name":"web_search","input":{"q":1}},{"type":"web_search_tool_result","tool_use_id":"w","content":[{"type":"web_search_result","url":"https://example.com"}]}]}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return len(b.Tools) == 1 && strings.Contains(b.Tools[0].Output, "example.com") && *b.Tools[0].Success
		}},
		{"result that is an object", answer(`{"type":"tool_result","tool_use_id":"t","content":{"x":1}}`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Tools[0].Output == `{"x":1}`
		}},
		{"long failure", answer(`{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"<tool_use_error>` + strings.Repeat("é", 150) + `</tool_use_error>"}`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Tools[0].Error == strings.Repeat("é", 100) && !*b.Tools[0].Success
		}},
		{"exit code that is no number", answer(`{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"Exit code x\nno"}`), func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Tools[0].ExitCode == nil && b.Tools[0].Error == "Exit code x"
		}},
		{"usage that cannot be", `{"type":"assistant","uuid":"a","message":{"id":"m","content":[{"type":"text","text":""}],"usage":{"input_tokens":-4,"output_tokens":"x"}}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return b.Messages[0].Usage == nil && b.Messages[0].Content == ""
		}},
		{"parents in a ring", `{"type":"user","uuid":"a","parentUuid":"b","message":{"content":"x"}}` + "\n" + `{"type":"user","uuid":"b","parentUuid":"a","message":{"content":"y"}}` + "\n", func(b *schema.Batch, _ *inject.Transcript) bool {
			return len(b.Messages) == 2
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr, all, _ := gather(t, []byte(c.data), "x.jsonl")
			if b := all[""]; !c.check(b, tr) {
				t.Errorf("messages %+v, tools %+v, warnings %q", b.Messages, b.Tools, tr.Warnings)
			}
		})
	}
}

// failing is a file whose n-th read fails.
type failing struct {
	*bytes.Reader
	left int
}

var errBroken = errors.New("the disk is broken")

func (f *failing) ReadAt(b []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errBroken
	}
	return f.Reader.ReadAt(b, off)
}

// TestReadFails makes each read of a transcript fail once. The error must be
// returned, and nothing reported as complete.
func TestReadFails(t *testing.T) {
	data, err := os.ReadFile("../../testdata/agents/claude/2.1.329/events/transcript.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	stop := errors.New("stop")
	for n := 0; ; n++ {
		f := &failing{bytes.NewReader(data), n}
		tr, err := read(f, int64(len(data)), "x.jsonl", inject.Options{Progress: func(int64) {}})
		if err == nil {
			err = tr.Each(func(string, inject.Batch) error { return nil })
		}
		if err == nil {
			if n < 10 {
				t.Fatalf("only %d reads", n)
			}
			if err := tr.Each(func(string, inject.Batch) error { f.left = 1 << 20; return stop }); !errors.Is(err, errBroken) {
				t.Fatalf("after the last read: %v", err)
			}
			f.left = 1 << 20
			if err := tr.Each(func(string, inject.Batch) error { return stop }); !errors.Is(err, stop) {
				t.Fatalf("an error of the receiver: %v", err)
			}
			return
		}
		if !errors.Is(err, errBroken) {
			t.Fatalf("read %d: %v", n, err)
		}
	}
}

func TestSubagentFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("s.jsonl", "")
	write("plain", "")
	write("s/subagents/agent-b.jsonl", "")
	write("s/subagents/agent-a.jsonl", "")
	write("s/subagents/agent-a.meta.json", `{"toolUseId":"toolu_1"}`)
	write("s/subagents/notes.txt", "")
	for file, want := range map[string]string{"s.jsonl": "a:toolu_1 b:", "plain": "", "none.jsonl": ""} {
		list, err := Agent().Subagents(filepath.Join(dir, file))
		var got []string
		for _, s := range list {
			got = append(got, s.NativeID+":"+s.ToolCallID)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %q, %v", file, got, err)
		}
	}
}
