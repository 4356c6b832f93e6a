package agenttest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// turnOf asks the server for a turn and returns it without ids.
func turnOf(t *testing.T, s *Server, messages string) string {
	t.Helper()
	status, body := do(t, "POST", s.URL+"/v1/messages", `{"model":"m","thinking":{"type":"adaptive"},"tools":[{"name":"Bash"}],"messages":`+messages+`}`)
	var m struct {
		Content    parts
		StopReason string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || status != http.StatusOK {
		t.Fatalf("%v: %d %s", err, status, body)
	}
	return content(m.Content).String() + "\n" + m.StopReason
}

func TestScriptAnswersInSteps(t *testing.T) {
	s := serve(t)
	s.Script("the first",
		Step{Think: "hm", Say: "I look.", Tools: []ToolCall{{"Bash", map[string]any{"command": "ls"}}, {"Read", struct{}{}}}},
		Step{Tools: []ToolCall{{"Bash", map[string]any{"command": "pwd"}}}},
		Step{Say: "Done."})
	s.Script("first", Step{Say: "only where the other script does not fit"})

	const ask = `{"role":"user","content":"what of the first one? @@SAY no@@"}`
	const called = `,{"role":"assistant","content":[{"type":"tool_use","name":"Bash","input":{}},{"type":"tool_use","name":"Read","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","content":"the second"},{"type":"text","text":"<system-reminder>the second</system-reminder>"}]}`
	const answered = `,{"role":"assistant","content":"Done."}`
	for _, c := range []struct{ name, messages, want string }{
		{"first step", ask, "[thinking]\nI look.\n[tool_use Bash {\"command\":\"ls\"}]\n[tool_use Read {}]\ntool_use"},
		{"second step", ask + called, "[tool_use Bash {\"command\":\"pwd\"}]\ntool_use"},
		{"last step", ask + called + called, "Done.\nend_turn"},
		{"asked on", ask + called + called + called, "Done.\nend_turn"},
		{"the next text", ask + called + called + answered + `,{"role":"user","content":"first of all"}`, "only where the other script does not fit\nend_turn"},
		{"the same text again", ask + called + called + answered + "," + ask, "[thinking]\nI look.\n[tool_use Bash {\"command\":\"ls\"}]\n[tool_use Read {}]\ntool_use"},
		{"another text", ask + answered + `,{"role":"user","content":"else @@SAY directive@@"}`, "directive\nend_turn"},
		{"a resumed one", `{"role":"user","content":"[RESUMED CONVERSATION]\nthe first"}`, "ok: [RESUMED CONVERSATION] the first\nend_turn"},
	} {
		if got := turnOf(t, s, "["+c.messages+"]"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	_, side := do(t, "POST", s.URL+"/v1/messages", `{"tools":[],"messages":[`+ask+`]}`)
	if strings.Contains(side, "I look.") {
		t.Errorf("a request on the side was scripted: %s", side)
	}
}

func TestScriptStreamsEachCall(t *testing.T) {
	s := serve(t)
	s.Script("go", Step{Tools: []ToolCall{{"Bash", map[string]int{"n": 1}}, {"Bash", map[string]int{"n": 2}}}}, Step{})
	_, body := do(t, "POST", s.URL+"/v1/messages", ask("go", true))
	var inputs []string
	for line := range strings.Lines(body) {
		var e struct {
			Index int
			Delta struct {
				PartialJSON string `json:"partial_json"`
			}
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
		}
		if e.Delta.PartialJSON != "" {
			inputs = append(inputs, e.Delta.PartialJSON)
		}
	}
	if !slices.Equal(inputs, []string{`{"n":1}`, `{"n":2}`}) {
		t.Errorf("streamed the inputs %q of\n%s", inputs, body)
	}
}

func TestScriptRefusesNonsense(t *testing.T) {
	s := serve(t)
	calls := Step{Tools: []ToolCall{{"Bash", struct{}{}}}}
	for name, steps := range map[string][]Step{
		"nothing":          {},
		"ends in a call":   {calls},
		"ends too early":   {{Say: "x"}, {Say: "y"}},
		"input is no JSON": {{Tools: []ToolCall{{"Bash", func() {}}}}, {}},
		"input is a list":  {{Tools: []ToolCall{{"Bash", []int{1}}}}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("was taken")
				}
			}()
			s.Script("x", steps...)
		})
	}
}
