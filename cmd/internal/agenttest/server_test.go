package agenttest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// patience is how long tests wait for an expected event; it runs out only if something is
// broken.
const patience = 2 * time.Minute

func serve(t *testing.T) *Server {
	t.Helper()
	s, err := Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// do sends a request and returns the answer's status and body.
func do(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(all)
}

// ask returns the body of a main request with one user message.
func ask(text string, stream bool) string {
	raw, err := json.Marshal(map[string]any{
		"model": "m", "stream": stream, "thinking": map[string]any{"type": "enabled"},
		"tools":    []any{map[string]any{"name": "Bash"}},
		"messages": []any{map[string]any{"role": "user", "content": text}},
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func TestServerAnswersWhole(t *testing.T) {
	s := serve(t)
	status, body := do(t, "POST", s.URL+"/v1/messages?beta=true", ask(`@@THINK hm@@ @@TOOL Bash {"command":"ls"}@@`, false))
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	var m struct {
		ID         string
		Content    []struct{ Type, ID, Text, Thinking, Name, Signature string }
		StopReason string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Content) != 3 || m.Content[0].Thinking != "hm" || m.Content[0].Signature == "" ||
		m.Content[1].Text != "I will call Bash." || m.Content[2].Name != "Bash" || m.StopReason != "tool_use" {
		t.Errorf("answer %s", body)
	}
	without := strings.Replace(ask("@@THINK hm@@", false), `"enabled"`, `"disabled"`, 1)
	if _, body := do(t, "POST", s.URL+"/v1/messages", without); strings.Contains(body, `"thinking"`) {
		t.Errorf("thought without leave: %s", body)
	}
	if !strings.HasPrefix(m.ID, "msg_") || !strings.HasPrefix(m.Content[2].ID, "toolu_") {
		t.Errorf("ids of %s", body)
	}
}

func TestServerStreams(t *testing.T) {
	s := serve(t)
	_, body := do(t, "POST", s.URL+"/v1/messages", ask("@@SLOW 0.02@@ @@BIG 100@@", true))
	var text strings.Builder
	var events []string
	for part := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		name, data, ok := strings.Cut(part, "\ndata: ")
		if !ok {
			t.Fatalf("event %q", part)
		}
		var e struct {
			Type  string
			Delta struct{ Text string }
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if "event: "+e.Type != name {
			t.Errorf("event %q has type %q", name, e.Type)
		}
		if len(events) == 0 || events[len(events)-1] != e.Type {
			events = append(events, e.Type)
		}
		text.WriteString(e.Delta.Text)
	}
	if text.String() != big(100) {
		t.Errorf("streamed %q", text.String())
	}
	want := "message_start content_block_start content_block_delta content_block_stop message_delta message_stop"
	if got := strings.Join(events, " "); got != want {
		t.Errorf("events %s", got)
	}
}

func TestServerRecords(t *testing.T) {
	s := serve(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, ask("packed", false))
	z.Close()
	if status, body := do(t, "POST", s.URL+"/v1/messages", packed.String(), "Content-Encoding", "gzip", "X-Api-Key", "secret"); status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	do(t, "POST", s.URL+"/v1/messages/count_tokens", ask("counted", false))
	do(t, "GET", s.URL+"/v1/models?limit=1000", "")
	do(t, "HEAD", s.URL+"/", "")
	do(t, "POST", s.URL+"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"title?"}]}`)
	do(t, "POST", s.URL+"/v1/messages", ask("second", true))

	var got []string
	for _, r := range s.Requests() {
		got = append(got, r.Turns()[0].Text)
	}
	if strings.Join(got, ",") != "packed,title?,second" {
		t.Errorf("recorded %q", got)
	}
	if n := len(s.Main()); n != 2 {
		t.Errorf("%d main requests", n)
	}
}

func TestServerOtherPaths(t *testing.T) {
	s := serve(t)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v1/models", "", http.StatusOK, `"data":[]`},
		{"HEAD", "/anything", "", http.StatusOK, ""},
		{"POST", "/v1/messages/count_tokens", strings.Repeat("x", 400), http.StatusOK, `{"input_tokens":100}`},
		{"POST", "/v1/messages", "{", http.StatusBadRequest, "invalid_request_error"},
		{"POST", "/v1/messages", ask("@@BIG x@@", false), http.StatusBadRequest, "invalid_request_error"},
		{"GET", "/v1/other", "", http.StatusNotFound, "not_found_error"},
	} {
		if status, body := do(t, c.method, s.URL+c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.path, status, body)
		}
	}
	if status, _ := do(t, "POST", s.URL+"/v1/messages", "no gzip", "Content-Encoding", "gzip"); status != http.StatusBadRequest {
		t.Errorf("broken gzip: %d", status)
	}
}

func TestServerHangsUntilClosed(t *testing.T) {
	s := serve(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done := make(chan string)
	go func() {
		resp, err := http.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(ask("@@HANG@@", true)))
		if err != nil {
			done <- "no answer: " + err.Error()
			return
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err == nil {
			done <- "a whole answer: " + string(all)
			return
		}
		done <- string(all)
	}()
	if err := s.AwaitHang(ctx); err != nil {
		t.Fatal(err)
	}
	s.Close()
	got := <-done
	if !strings.Contains(got, `"text":"hanging`) || strings.Contains(got, "content_block_stop") {
		t.Errorf("streamed %q", got)
	}
	if err := s.AwaitHang(ctx); err == nil {
		t.Error("a closed server told of a hang")
	}
}

func TestServerIDsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range []*Server{serve(t), serve(t)} {
		for range 100 {
			id := s.id("msg")
			if seen[id] {
				t.Fatalf("%s twice", id)
			}
			seen[id] = true
		}
	}
}
