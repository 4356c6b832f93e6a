package gemini

import (
	"testing"

	"cortext/inject"
)

// machine returns a machine with these variables and its own home.
func machine(home string, env map[string]string) inject.Machine {
	return inject.Machine{Home: home, Getenv: func(name string) string { return env[name] }}
}

// TestHook parses input as Gemini CLI 0.61.0 sends it (FACTS.md, "Hooks").
func TestHook(t *testing.T) {
	const common = `"session_id":"s","transcript_path":"/h/s.jsonl","cwd":"/w","timestamp":"2025-11-22T10:00:00.000Z",`
	base := inject.Event{NativeID: "s", Transcript: "/h/s.jsonl", Dir: "/w/top", Process: "4711"}
	with := func(f func(*inject.Event)) inject.Event {
		e := base
		f(&e)
		return e
	}
	m := machine("/home", map[string]string{"GEMINI_PROJECT_DIR": "/w/top", "CORTEXT_PROCESS": "4711"})
	for _, c := range []struct {
		event, more string
		want        inject.Event
	}{
		{"SessionStart", `"source":"startup"`, with(func(e *inject.Event) { e.Type, e.New = inject.SessionStart, true })},
		{"SessionStart", `"source":"clear"`, with(func(e *inject.Event) { e.Type, e.New, e.Cleared = inject.SessionStart, true, true })},
		{"SessionStart", `"source":"resume"`, with(func(e *inject.Event) { e.Type, e.Transcript = inject.SessionStart, "" })}, // not the session's file
		{"BeforeAgent", `"prompt":"a\nb"`, with(func(e *inject.Event) { e.Type, e.Prompt = inject.PromptSubmit, "a\nb" })},
		{"BeforeAgent", `"prompt":"<!-- cortext: /workspace.plan -->\nx\n<!-- cortext: typed: -->\n\n/workspace.plan a"`, with(func(e *inject.Event) {
			e.Type, e.Prompt = inject.PromptSubmit, "/workspace.plan a"
		})},
		{"AfterAgent", `"prompt":"p","prompt_response":"aa","stop_hook_active":false`, with(func(e *inject.Event) { e.Type = inject.TurnEnd })},
		{"SessionEnd", `"reason":"exit"`, with(func(e *inject.Event) { e.Type = inject.SessionEnd })},
		{"SessionEnd", `"reason":"clear"`, with(func(e *inject.Event) { e.Type, e.Cleared = inject.SessionEnd, true })},
		{"PreCompress", `"trigger":"auto"`, base}, // comes before every call of the model
		{"BeforeTool", `"tool_name":"read_file","tool_input":{"file_path":"/x"}`, base},
	} {
		got, err := adapter.Hook(m, c.event, []byte("{"+common+c.more+"}"))
		if err != nil || got != c.want {
			t.Errorf("%s %s is %+v, %v\nnot %+v", c.event, c.more, got, err, c.want)
		}
	}
	got, err := adapter.Hook(machine("/home", nil), "AfterAgent", []byte(`{`+common+`"x":1}`))
	if err != nil || got.Dir != "/w" || got.Process != "" {
		t.Errorf("without variables it is %+v, %v", got, err)
	}
}

func TestSession(t *testing.T) {
	if got := adapter.Session(machine("", map[string]string{"GEMINI_SESSION_ID": "s"})); got != "s" {
		t.Errorf("the session is %q", got)
	}
}
