package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"cortext/inject"
)

// adapter is the adapter under test.
var adapter agent

// machine returns a machine with these variables and its own home.
func machine(home string, env map[string]string) inject.Machine {
	return inject.Machine{Home: home, Getenv: func(name string) string { return env[name] }}
}

// TestHook parses input as Claude Code 2.1.329 sends it (FACTS.md, "Hooks").
func TestHook(t *testing.T) {
	const common = `"session_id":"s","transcript_path":"/h/s.jsonl","cwd":"/w/sub",`
	base := inject.Event{NativeID: "s", Transcript: "/h/s.jsonl", Dir: "/w", Process: "4711"}
	with := func(f func(*inject.Event)) inject.Event {
		e := base
		f(&e)
		return e
	}
	began := func(fresh, cleared bool) inject.Event {
		return with(func(e *inject.Event) { e.Type, e.New, e.Cleared = inject.SessionStart, fresh, cleared })
	}
	m := machine("/home", map[string]string{"CLAUDE_PROJECT_DIR": "/w", "CLAUDE_PID": "4711"})
	for _, c := range []struct {
		event, more string
		want        inject.Event
	}{
		{"SessionStart", `"source":"startup"`, began(true, false)},
		{"SessionStart", `"source":"resume"`, began(false, false)},
		{"SessionStart", `"source":"fork"`, began(false, false)},
		{"SessionStart", `"source":"compact"`, with(func(e *inject.Event) { e.Type, e.Compacted = inject.SessionStart, true })},
		{"SessionStart", `"source":"clear"`, began(true, true)},
		{"UserPromptSubmit", `"prompt":"/workspace.plan a\nb","prompt_id":"p","permission_mode":"auto"`, with(func(e *inject.Event) {
			e.Type, e.Prompt, e.PromptID = inject.PromptSubmit, "/workspace.plan a\nb", "p"
		})},
		{"PreCompact", `"trigger":"auto","custom_instructions":""`, with(func(e *inject.Event) { e.Type = inject.PreCompact })},
		{"SessionEnd", `"reason":"prompt_input_exit"`, with(func(e *inject.Event) { e.Type = inject.SessionEnd })},
		{"SessionEnd", `"reason":"clear"`, with(func(e *inject.Event) { e.Type, e.Cleared = inject.SessionEnd, true })},
		{"Stop", `"stop_hook_active":false,"last_assistant_message":"Done."`, with(func(e *inject.Event) { e.Type, e.LastReply = inject.TurnEnd, "Done." })},
		{"PostToolUse", `"tool_name":"Read","tool_input":{"file_path":"/x"}`, with(func(e *inject.Event) { e.Type = inject.ToolUse })},
		{"Notification", `"message":"x"`, base},
		{"Stop", `"hook_event_name":"SessionEnd","reason":"clear"`, with(func(e *inject.Event) { e.Type = inject.TurnEnd })}, // the settings decide which event it is
	} {
		got, err := adapter.Hook(m, c.event, []byte("{"+common+c.more+"}"))
		if err != nil || got != c.want {
			t.Errorf("%s %s is %+v, %v\nnot %+v", c.event, c.more, got, err, c.want)
		}
	}
	got, err := adapter.Hook(machine("/home", nil), "Stop", []byte(`{`+common+`"x":1}`))
	if err != nil || got.Dir != "/w/sub" || got.Process != "" {
		t.Errorf("without variables it is %+v, %v", got, err)
	}
}

// TestReplyLimit checks that a text of ReplyLimits.Bytes bytes is short enough for the program.
func TestReplyLimit(t *testing.T) {
	if n := len(utf16.Encode([]rune(strings.Repeat("x", adapter.ReplyLimits().Bytes)))); n > 10_000 {
		t.Errorf("%d units do not arrive whole", n)
	}
}

func TestLocate(t *testing.T) {
	name := "a [home] *?"
	if runtime.GOOS == "windows" { // where no name has these two
		name = "a [home]"
	}
	home := filepath.Join(t.TempDir(), name)
	now := time.Now()
	write := func(name string, age time.Duration) string {
		t.Helper()
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return file
	}
	m := machine(home, nil)
	wantFile := func(m inject.Machine, id, want string) {
		t.Helper()
		if got, ok, err := adapter.Locate(m, id); got != want || ok != (want != "") || err != nil {
			t.Errorf("%q is at %q, %t, %v, not %q", id, got, ok, err, want)
		}
	}
	wantFile(m, "one", "")
	write(".claude/projects/-a/one.jsonl", 2*time.Hour)
	newest := write(".claude/projects/-b/one.jsonl", time.Hour)
	write(".claude/projects/-c/one.jsonl", 3*time.Hour)
	write(".claude/projects/-a/one2.jsonl", 0)
	write(".claude/projects/-a/deep/three.jsonl", 0)
	write(".claude/projects/-a/.hidden.jsonl", 0)
	write(".claude/projects/one.jsonl", 0)
	write("x.jsonl", 0)
	if err := os.MkdirAll(filepath.Join(home, ".claude/projects/-d/one.jsonl"), 0o700); err != nil { // newer, but a folder
		t.Fatal(err)
	}
	wantFile(m, "one", newest)
	for _, id := range []string{"", ".", "..", "three", "deep/three", "../../../x", "../-a/one", "*", "o*", "on?", "[o]ne", "one*", `o\ne`, ".hidden", "one.jsonl", "one\x00"} {
		wantFile(m, id, "")
	}
	elsewhere := machine("/nowhere", map[string]string{"CLAUDE_CONFIG_DIR": filepath.Join(home, "cfg")})
	wantFile(elsewhere, "one", "")
	wantFile(elsewhere, "two", write("cfg/projects/-a/two.jsonl", 0))
	wantFile(m, "two", "")
}

func TestSession(t *testing.T) {
	if got := adapter.Session(machine("", map[string]string{"CLAUDE_CODE_SESSION_ID": "s"})); got != "s" {
		t.Errorf("the session is %q", got)
	}
}
