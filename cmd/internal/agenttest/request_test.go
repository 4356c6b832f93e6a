package agenttest

import (
	"slices"
	"testing"
)

func wantTurns(t *testing.T, r Request, want []Turn) {
	t.Helper()
	if got := r.Turns(); !slices.Equal(got, want) {
		t.Errorf("turns:\n got %q\nwant %q", got, want)
	}
}

func TestRequestTurns(t *testing.T) {
	r, err := parseAnthropic([]byte(`{"model":"m","system":[{"type":"text","text":"one"},{"type":"text","text":"two"}],
		"tools":[{"name":"Bash"},{"name":"Read"}],
		"messages":[
			{"role":"user","content":"plain"},
			{"role":"system","content":[{"type":"text","text":"by the way"}]},
			{"role":"assistant","content":[
				{"type":"thinking","thinking":"hm","signature":"x"},
				{"type":"text","text":"I look."},
				{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command": "ls", "n": 1}}]},
			{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"toolu_1","content":"a\nb"},
				{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":[{"type":"text","text":"no"},{"type":"image","source":{}}]},
				{"type":"text","text":"go on"}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Turn{
		{"user", "plain"},
		{"system", "by the way"},
		{"assistant", "[thinking]\nI look.\n[tool_use Bash {\"command\":\"ls\",\"n\":1}]"},
		{"user", "[tool_result a\nb]\n[tool_error no\n[image]]\ngo on"},
	}
	if got := r.Turns(); !slices.Equal(got, want) {
		t.Errorf("turns:\n got %q\nwant %q", got, want)
	}
	if got := r.System(); got != "one\ntwo" {
		t.Errorf("system prompt %q", got)
	}
	if !r.Main() || r.Model != "m" || !slices.Equal(r.Tools, []string{"Bash", "Read"}) {
		t.Errorf("main %t, model %q, tools %q", r.Main(), r.Model, r.Tools)
	}
}

func TestRequestOnTheSide(t *testing.T) {
	// Claude Code's request for a session title.
	r, err := parseAnthropic([]byte(`{"model":"m","system":"name it","tools":[],
		"messages":[{"role":"user","content":"<session>\n@@HANG@@\n</session>"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.Main() {
		t.Error("a request without tools counts as a main one")
	}
	if r.System() != "name it" {
		t.Errorf("system prompt %q", r.System())
	}
	if p, err := planFor(r); err != nil || p.hang {
		t.Errorf("a request on the side was scripted: %+v, %v", p, err)
	}
}

func TestRequestIsNotJSON(t *testing.T) {
	for _, raw := range []string{"", "{", `{"messages":[{"role":"user","content":7}]}`} {
		if _, err := parseAnthropic([]byte(raw)); err == nil {
			t.Errorf("parsed %q", raw)
		}
	}
}
