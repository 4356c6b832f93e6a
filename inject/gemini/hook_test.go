package gemini

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestHookRefuses(t *testing.T) {
	for _, input := range []string{
		"", "x", "{", "[]", "null", `"s"`, `{}`, `{"session_id":""}`, `{"session_id":7}`, `{"session_id":"s","prompt":{}}`,
		`{"session_id":"s"}{`, strings.Repeat("[", 1_000_000), `{"session_id":"s","x":` + strings.Repeat(`{"a":`, 1_000_000),
	} {
		if e, err := adapter.Hook(machine("/home", nil), "BeforeAgent", []byte(input)); err == nil || e != (inject.Event{}) {
			t.Errorf("%.40q is %+v, %v", input, e, err)
		}
	}
}

// TestReply checks that text arrives unchanged, however its bytes are split on the way.
func TestReply(t *testing.T) {
	texts := []string{
		"", "plain", "\x00\x01\x1f\x7f \"quoted\" \\ \r\n\t", "<b>&amp;</b>", "\u2028\u2029", "Übung 决定了", "👍🏽 𝄞 \U0010ffff", "\uffff\ufffd\ue000",
		"bad \xff\xfe \xed\xa0\x80 \xf0\x9f\x91 end",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b []byte
		for range r.IntN(30) {
			b = append(b, byte(r.IntN(256)))
			b = utf8.AppendRune(b, rune(r.IntN(0x110000)))
		}
		texts = append(texts, string(b))
	}
	for _, text := range texts {
		out := adapter.Reply("BeforeAgent", text)
		for _, b := range out {
			if b >= utf8.RuneSelf || b < ' ' {
				t.Fatalf("the reply to %q holds %#x: %s", text, b, out)
			}
		}
		var got map[string]map[string]string
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%q: %v: %s", text, err, out)
		}
		// JSON cannot express an invalid UTF-8 byte.
		want := map[string]map[string]string{"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": string([]rune(text))}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q arrives as %q", text, got)
		}
	}
}

func TestSession(t *testing.T) {
	if got := adapter.Session(machine("", map[string]string{"GEMINI_SESSION_ID": "s"})); got != "s" {
		t.Errorf("the session is %q", got)
	}
}
