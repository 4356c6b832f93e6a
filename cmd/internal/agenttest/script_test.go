package agenttest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// plannedFor returns the plan for a main request with these messages.
func plannedFor(t *testing.T, messages string) plan {
	t.Helper()
	r, err := parseAnthropic([]byte(`{"model":"m","tools":[{"name":"Bash"}],"messages":` + messages + `}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := planFor(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlanText(t *testing.T) {
	long := strings.Repeat("é", 70)
	for _, c := range []struct{ name, messages, want string }{
		{"echo", `[{"role":"user","content":"hello\nthere"}]`, "ok: hello there"},
		{"echo is cut", `[{"role":"user","content":"` + long + `"}]`, "ok: " + long[:120]},
		{"no message", `[]`, "ok: "},
		{"say", `[{"role":"user","content":"x @@SAY two\nlines@@ y"}]`, "two\nlines"},
		{"big", `[{"role":"user","content":"@@BIG 18@@"}]`, "0123456789abcdef01"},
		{"reminder around it", `[{"role":"user","content":[{"type":"text","text":"@@SAY me@@"},{"type":"text","text":"<system-reminder>\n@@SAY no@@</system-reminder>"}]},{"role":"system","content":"@@SAY no@@"}]`, "me"},
		{"older directive is over", `[{"role":"user","content":"@@SAY old@@"},{"role":"assistant","content":"old"},{"role":"user","content":"new"}]`, "ok: new"},
		{"merged messages", `[{"role":"user","content":[{"type":"text","text":"@@HANG@@"},{"type":"text","text":"next"}]}]`, "ok: next"},
		{"resumed history", `[{"role":"user","content":"x\n[RESUMED CONVERSATION]\n@@SAY no@@"}]`, "ok: x [RESUMED CONVERSATION] @@SAY no@@"},
		{"after a resumed history", `[{"role":"user","content":"[RESUMED CONVERSATION]\n@@SAY no@@"},{"role":"assistant","content":"No response requested."},{"role":"user","content":"@@SAY yes@@"}]`, "yes"},
		{"no tool call to count in it", `[{"role":"user","content":"[RESUMED CONVERSATION]\n@@TOOL Bash {}@@"}]`, "ok: [RESUMED CONVERSATION] @@TOOL Bash {}@@"},
		{"line only quoted", `[{"role":"user","content":"see [RESUMED CONVERSATION] @@SAY yes@@"}]`, "yes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plannedFor(t, c.messages)
			if p.text != c.want || len(p.tools) > 0 || p.hang {
				t.Errorf("planned %+v, want text %q", p, c.want)
			}
		})
	}
}

func TestPlanToolsInOrder(t *testing.T) {
	const ask = `{"role":"user","content":"@@TOOL Bash {\"command\":\"a\"}@@ @@TOOL Read@@ @@THINK hm@@ @@SLOW 0.5@@"}`
	const called = `{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","content":"x"}]}`

	first := plannedFor(t, `[`+ask+`]`)
	if len(first.tools) != 1 || first.tools[0].name != "Bash" || string(first.tools[0].input) != `{"command":"a"}` {
		t.Errorf("first turn %+v", first)
	}
	if first.think != "hm" || first.slow != 500*time.Millisecond {
		t.Errorf("first turn %+v", first)
	}
	second := plannedFor(t, `[`+ask+`,`+called+`]`)
	if len(second.tools) != 1 || second.tools[0].name != "Read" || !json.Valid(second.tools[0].input) {
		t.Errorf("second turn %+v", second)
	}
	third := plannedFor(t, `[`+ask+`,`+called+`,`+called+`]`)
	if len(third.tools) > 0 || third.text != "All 2 tool call(s) done." {
		t.Errorf("third turn %+v", third)
	}
}

func TestPlanHangsAfterTools(t *testing.T) {
	const ask = `{"role":"user","content":"@@TOOL Bash {}@@ @@HANG@@"}`
	if p := plannedFor(t, `[`+ask+`]`); len(p.tools) == 0 || p.hang {
		t.Errorf("first turn %+v", p)
	}
	p := plannedFor(t, `[`+ask+`,{"role":"assistant","content":[{"type":"tool_use","name":"Bash"}]},{"role":"user","content":[{"type":"tool_result","content":"x"}]}]`)
	if len(p.tools) > 0 || !p.hang {
		t.Errorf("second turn %+v", p)
	}
}

func TestPlanRefusesNonsense(t *testing.T) {
	for _, text := range []string{"@@TOOL Bash {x@@", "@@BIG -1@@", "@@BIG much@@", "@@SLOW soon@@", "@@SLOW@@"} {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := parseAnthropic([]byte(`{"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":` + string(raw) + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := planFor(r); err == nil {
			t.Errorf("%q: planned %+v", text, p)
		}
	}
}
