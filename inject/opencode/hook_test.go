package opencode

import (
	"testing"

	"cortext/inject"
)

func TestHook(t *testing.T) {
	m := machine("/home", nil)
	base := inject.Event{NativeID: "ses_1", Dir: "/w", Process: "4711"}
	with := func(f func(*inject.Event)) inject.Event {
		e := base
		f(&e)
		return e
	}
	for _, c := range []struct {
		event, more string
		want        inject.Event
	}{
		{"Began", `"fresh":true`, with(func(e *inject.Event) { e.Type, e.New = inject.SessionStart, true })},
		{"Began", `"fresh":false`, with(func(e *inject.Event) { e.Type = inject.SessionStart })},
		{"Prompted", `"prompt":"/workspace.plan a\nb"`, with(func(e *inject.Event) { e.Type, e.Prompt = inject.PromptSubmit, "/workspace.plan a\nb" })},
		{"Prompted", `"prompt":"/workspace.plan","message_id":"msg_1"`, with(func(e *inject.Event) {
			e.Type, e.Prompt, e.PromptID = inject.PromptSubmit, "/workspace.plan", "msg_1"
		})},
		{"Answered", `"said":"Done."`, with(func(e *inject.Event) { e.Type, e.LastReply = inject.TurnEnd, "Done." })},
		{"Used", `"x":{}`, with(func(e *inject.Event) { e.Type = inject.ToolUse })},
		{"Compacting", `"fresh":true`, with(func(e *inject.Event) { e.Type = inject.PreCompact })},
		{"Ended", `"x":{}`, with(func(e *inject.Event) { e.Type = inject.SessionEnd })},
		{"Stop", `"x":{}`, base},
		{"", `"x":{}`, base},
	} {
		got, err := adapter.Hook(m, c.event, []byte(`{"session_id":"ses_1","cwd":"/w","process":"4711",`+c.more+"}"))
		if err != nil || got != c.want {
			t.Errorf("%s %s is %+v, %v\nnot %+v", c.event, c.more, got, err, c.want)
		}
	}
}

func TestReply(t *testing.T) {
	const text = "From cortext: a\n\n\x00 !`x` @y $& 👍\n\n"
	if got := string(adapter.Reply("Prompted", text)); got != text {
		t.Errorf("%q is said as %q", text, got)
	}
}

func TestSession(t *testing.T) {
	m := machine("", map[string]string{"OPENCODE_SESSION_ID": "ses_1", "OPENCODE": "1"})
	if got := adapter.Session(m); got != "ses_1" || adapter.Session(machine("", nil)) != "" {
		t.Errorf("the session is %q", got)
	}
}
