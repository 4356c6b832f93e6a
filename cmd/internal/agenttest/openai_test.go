package agenttest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestOpenAITurns(t *testing.T) {
	r, err := parseOpenAI([]byte(`{"model":"m","stream":true,
		"tools":[{"type":"function","function":{"name":"bash"}},{"type":"function","function":{"name":"read"}}],
		"messages":[
			{"role":"system","content":"one"},
			{"role":"system","content":"two"},
			{"role":"user","content":[{"type":"text","text":"plain"},{"type":"image_url","image_url":{"url":"data:"}}]},
			{"role":"assistant","content":"","reasoning_content":"hm","tool_calls":[
				{"id":"a","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}},
				{"id":"b","type":"function","function":{"name":"read","arguments":""}}]},
			{"role":"tool","tool_call_id":"a","content":"x\ny"},
			{"role":"tool","tool_call_id":"b","content":[{"type":"text","text":"z"}]},
			{"role":"system","content":"by the way"},
			{"role":"user","content":"go on"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	wantTurns(t, r, []Turn{
		{"user", "plain\n[image]"},
		{"assistant", "[thinking]\n[tool_use bash {\"command\":\"ls\"}]\n[tool_use read]"},
		{"user", "[tool_result x\ny]\n[tool_result z]"},
		{"system", "by the way"},
		{"user", "go on"},
	})
	if r.System() != "one\ntwo" || !r.Main() || r.Model != "m" || !slices.Equal(r.Tools, []string{"bash", "read"}) {
		t.Errorf("system %q, main %t, model %q, tools %q", r.System(), r.Main(), r.Model, r.Tools)
	}
}

// askOpenAI returns the body of a main request with one user message.
func askOpenAI(text string, stream bool) string {
	raw, err := json.Marshal(map[string]any{
		"model": "m", "stream": stream,
		"tools":    []any{map[string]any{"type": "function", "function": map[string]any{"name": "bash"}}},
		"messages": []any{map[string]any{"role": "user", "content": text}},
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// openAIMessages reads the messages or deltas of an answer, which must end correctly, and
// returns them as one message.
func openAIMessages(t *testing.T, body, finish string) (whole openAIMessage) {
	t.Helper()
	type choice struct {
		Message, Delta openAIMessage
		FinishReason   string `json:"finish_reason"`
	}
	var last string
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
		if line == "" {
			continue
		}
		if last == finish && line == "[DONE]" {
			return whole
		}
		var answer struct{ Choices []choice }
		if err := json.Unmarshal([]byte(line), &answer); err != nil || len(answer.Choices) != 1 {
			t.Fatalf("%v: %s", err, line)
		}
		c := answer.Choices[0]
		last = c.FinishReason
		for _, m := range []openAIMessage{c.Message, c.Delta} {
			whole.Content = append(whole.Content, m.Content...)
			whole.Reasoning += m.Reasoning
			whole.ToolCalls = append(whole.ToolCalls, m.ToolCalls...)
		}
	}
	if last != finish || strings.HasPrefix(body, "data:") {
		t.Errorf("ended with %q in\n%s", last, body)
	}
	return whole
}

func TestOpenAIAnswers(t *testing.T) {
	s := serve(t)
	for _, stream := range []bool{false, true} {
		_, body := do(t, "POST", s.URL+"/v1/chat/completions", askOpenAI(`@@THINK hm@@ @@TOOL bash {"command":"ls"}@@`, stream))
		m := openAIMessages(t, body, "tool_calls")
		if len(m.ToolCalls) != 1 || m.ToolCalls[0].Function.Name != "bash" || m.ToolCalls[0].Function.Arguments != `{"command":"ls"}` || m.Reasoning != "hm" {
			t.Errorf("stream %t: %s", stream, body)
		}
		_, body = do(t, "POST", s.URL+"/v1/chat/completions", askOpenAI(big(3500000)+" @@SLOW 0.02@@ @@BIG 3500000@@", stream))
		var text strings.Builder
		for _, b := range openAIMessages(t, body, "stop").Content {
			text.WriteString(b.Text)
		}
		if text.String() != big(3500000) {
			t.Errorf("stream %t: %d bytes of text", stream, text.Len())
		}
	}
	// "opencode run" quotes an argument that contains a space.
	if _, body := do(t, "POST", s.URL+"/v1/chat/completions", askOpenAI(`"a @@SAY \"quoted\" text@@"`, false)); !strings.Contains(body, `"content":"\"quoted\" text"`) {
		t.Errorf("answer to a quoted text: %s", body)
	}
	if status, body := do(t, "POST", s.URL+"/v1/chat/completions", "{"); status != http.StatusBadRequest || !strings.Contains(body, `"message"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestOpenAIOnTheSide(t *testing.T) {
	s := serve(t)
	s.Script("my question", Step{Say: "scripted"})
	// OpenCode's request for a session title.
	_, body := do(t, "POST", s.URL+"/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"You are a title generator."},
		{"role":"user","content":"Generate a title for this conversation:\n"},{"role":"user","content":"my question @@HANG@@"}]}`)
	if !strings.Contains(body, "ok: my question") {
		t.Errorf("answer %s", body)
	}
	if len(s.Requests()) != 1 || len(s.Main()) != 0 {
		t.Errorf("%d requests, %d main ones", len(s.Requests()), len(s.Main()))
	}
}
