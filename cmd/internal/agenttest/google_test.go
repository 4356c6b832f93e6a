package agenttest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestGoogleTurns(t *testing.T) {
	r, err := parseGoogle("gemini-x", "streamGenerateContent", []byte(`{
		"systemInstruction":{"role":"user","parts":[{"text":"one"},{"text":"two"}]},
		"tools":[{"functionDeclarations":[{"name":"read_file"},{"name":"glob"}]},{"googleSearch":{}}],
		"generationConfig":{"thinkingConfig":{"includeThoughts":true}},
		"contents":[
			{"role":"user","parts":[{"text":"<session_context>x</session_context>"},{"text":"plain"},{"inlineData":{"mimeType":"image/png","data":"eA=="}}]},
			{"role":"model","parts":[{"text":"hm","thought":true},{"text":"I look."},{"functionCall":{"name":"read_file","args":{"file_path": "a"}},"thoughtSignature":"x"}]},
			{"role":"user","parts":[
				{"functionResponse":{"name":"read_file","response":{"output":"a\nb"}}},
				{"functionResponse":{"name":"read_file","response":{"error":"no"}}},
				{"functionResponse":{"name":"read_file","response":{"other":[1]}}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	wantTurns(t, r, []Turn{
		{"user", "<session_context>x</session_context>\nplain\n[image]"},
		{"assistant", "[thinking]\nI look.\n[tool_use read_file {\"file_path\":\"a\"}]"},
		{"user", "[tool_result a\nb]\n[tool_error no]\n[tool_result {\"other\":[1]}]"},
	})
	if r.System() != "one\ntwo" || !r.Main() || !slices.Equal(r.Tools, []string{"read_file", "glob"}) || !r.stream || !r.think {
		t.Errorf("system %q, main %t, tools %q, stream %t, think %t", r.System(), r.Main(), r.Tools, r.stream, r.think)
	}
}

// askGoogle returns the body of a main request with one user message.
func askGoogle(text string) string {
	raw, err := json.Marshal(map[string]any{
		"tools":            []any{map[string]any{"functionDeclarations": []any{map[string]any{"name": "read_file"}}}},
		"generationConfig": map[string]any{"thinkingConfig": map[string]any{"includeThoughts": true}},
		"contents": []any{map[string]any{"role": "user", "parts": []any{
			map[string]any{"text": "<session_context>@@SAY no@@</session_context>"}, map[string]any{"text": text},
			map[string]any{"text": "<hook_context>@@SAY no@@</hook_context>"},
		}}},
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// askedGoogle sends a request with the method and returns the parts of the answer, which
// must end correctly.
func askedGoogle(t *testing.T, s *Server, method, body string) (parts []googlePart) {
	t.Helper()
	status, answer := do(t, "POST", s.URL+"/v1beta/models/gemini-x:"+method, body)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	var finish string
	for line := range strings.Lines(answer) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data: "))
		if line == "" {
			continue
		}
		var chunk struct {
			Candidates []struct {
				Content      googleContent
				FinishReason string
			}
		}
		if err := json.Unmarshal([]byte(line), &chunk); err != nil || len(chunk.Candidates) != 1 || finish != "" {
			t.Fatalf("%v after %q: %s", err, finish, line)
		}
		finish = chunk.Candidates[0].FinishReason
		parts = append(parts, chunk.Candidates[0].Content.Parts...)
	}
	if finish != "STOP" {
		t.Errorf("%s ended with %q", method, finish)
	}
	return parts
}

func TestGoogleAnswers(t *testing.T) {
	s := serve(t)
	for _, method := range []string{"generateContent", "streamGenerateContent?alt=sse"} {
		parts := askedGoogle(t, s, method, askGoogle(`@@THINK hm@@ @@TOOL read_file {"file_path":"a"}@@`))
		if len(parts) != 3 || !parts[0].Thought || parts[2].Call == nil || parts[2].Call.Name != "read_file" || string(parts[2].Call.Args) != `{"file_path":"a"}` {
			t.Errorf("%s: %+v", method, parts)
		}
		var text strings.Builder
		for _, p := range askedGoogle(t, s, method, askGoogle(big(3500000)+" @@SLOW 0.02@@ @@BIG 3500000@@")) {
			text.WriteString(*p.Text)
		}
		if text.String() != big(3500000) {
			t.Errorf("%s: %d bytes of text", method, text.Len())
		}
	}
	if r := s.Main()[0]; r.Model != "gemini-x" || r.Protocol != Google {
		t.Errorf("model %q, protocol %q", r.Model, r.Protocol)
	}
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"gemini-x:countTokens", strings.Repeat("x", 400), http.StatusOK, `{"totalTokens":100}`},
		{"gemini-x:generateContent", "{", http.StatusBadRequest, "INVALID_ARGUMENT"},
		{"gemini-x:generateContent", askGoogle("@@BIG x@@"), http.StatusBadRequest, "INVALID_ARGUMENT"},
		{"gemini-x:other", "{}", http.StatusNotFound, "not_found_error"},
	} {
		if status, body := do(t, "POST", s.URL+"/v1beta/models/"+c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.path, status, body)
		}
	}
}

// TestGoogleOnTheSide: Gemini CLI's side requests are answered with JSON of a given schema.
func TestGoogleOnTheSide(t *testing.T) {
	s := serve(t)
	parts := askedGoogle(t, s, "generateContent", `{"contents":[{"role":"user","parts":[{"text":"my question @@HANG@@"}]}],
		"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"type":"OBJECT","required":["why","score","who","loop","sure","list"],"properties":{
			"why":{"type":"STRING"},"score":{"type":"INTEGER"},"who":{"type":"string","enum":["user","model"]},
			"loop":{"type":"boolean"},"sure":{"type":"number"},"list":{"type":"array"},"more":{"type":"string"}}}}}`)
	if want := `{"list":[],"loop":false,"score":1,"sure":0,"who":"user","why":""}`; len(parts) == 0 || *parts[0].Text != want {
		t.Errorf("%+v, want %s", parts, want)
	}
	if len(s.Requests()) != 1 || len(s.Main()) != 0 {
		t.Errorf("%d requests, %d main ones", len(s.Requests()), len(s.Main()))
	}
}

func TestGoogleHangs(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan string)
	go func() {
		resp, err := http.Post(s.URL+"/v1beta/models/gemini-x:streamGenerateContent?alt=sse", "application/json", strings.NewReader(askGoogle("@@HANG@@")))
		if err != nil {
			done <- err.Error()
			return
		}
		defer resp.Body.Close()
		all, _ := io.ReadAll(resp.Body)
		done <- string(all)
	}()
	if err := s.AwaitHang(ctx); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if got := <-done; !strings.Contains(got, `"text":"hanging`) || strings.Contains(got, "STOP") {
		t.Errorf("streamed %q", got)
	}
}
