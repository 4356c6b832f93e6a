package serve_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/serve"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/inject/claude"
	"cortext/store"
)

const token = "0123456789abcdef"

// A site is a server in a workspace of its own.
type site struct {
	t      testing.TB
	root   string
	config serve.Config
	server *serve.Server
	logged func(text string) // what the server reports
	http   *httptest.Server
}

// newSite serves a new workspace.
func newSite(t testing.TB) *site {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if st, _, err := store.Init(root); err != nil {
		t.Fatal(err)
	} else if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	env := workspace.Env{
		Dir: root, Machine: inject.Machine{Home: home, Getenv: func(string) string { return "" }}, Now: time.Now, Rand: rand.Reader,
		Holder: "a test", Agents: []inject.Agent{claude.Agent()},
	}
	s := &site{t: t, root: root, logged: func(text string) { t.Error(text) }}
	s.config = serve.Config{
		Root: root, Token: token, Patience: 2 * time.Second, Listen: net.IPv4(127, 0, 0, 1), Workspaces: func() []string { return nil },
		Log: func(text string) { s.logged(text) },
		Open: func(dir string) (*serve.Space, error) {
			env := env
			env.Dir = dir
			w, err := workspace.Open(env)
			if err != nil {
				return nil, err
			}
			none := func(_, _, _ string) compact.Summarizer { return nil }
			return &serve.Space{
				Workspace: w, Capture: capture.New(w), Payloads: payload.New(w), Compact: compact.New(w, none), End: func() { _ = w.Close() },
			}, nil
		},
	}
	s.server = serve.New(s.config)
	s.http = httptest.NewUnstartedServer(s.server.Handler())
	s.http.Listener = smallBuffers{s.http.Listener}
	s.http.Start()
	t.Cleanup(func() { s.server.Close(); s.http.Close() })
	return s
}

// smallBuffers makes the system keep little of what is sent, so that a client that does not
// read is noticed soon.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		_ = conn.(*net.TCPConn).SetWriteBuffer(64 << 10)
	}
	return conn, err
}

// A reply is what a server answered.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request with the token. A body is encoded as JSON, unless it is a string.
func (s *site) send(method, path string, body any, header ...string) reply {
	s.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.http.URL+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		if header[i+1] == "" {
			r.Header.Del(header[i])
		}
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	out := reply{got.StatusCode, got.Header, text}
	doc, err := described()
	if err != nil {
		s.t.Fatal(err)
	}
	doc.check(s.t, method, path, out)
	return out
}

// want sends a request and decodes the answer, which must have a status.
func (s *site) want(status int, method, path string, body, into any) reply {
	s.t.Helper()
	got := s.send(method, path, body)
	if got.status != status {
		s.t.Fatalf("%s %s: %d %s, want %d", method, path, got.status, got.body, status)
	}
	if into != nil {
		if err := json.Unmarshal(got.body, into); err != nil {
			s.t.Fatalf("%s %s: %v: %s", method, path, err, got.body)
		}
	}
	return got
}

// A session is what tests look at of a conversation.
type session struct {
	ID              string            `json:"id"`
	Name            string            `json:"name"`
	Status          string            `json:"status"`
	Archived        bool              `json:"archived"`
	Tags            []string          `json:"tags"`
	Notes           string            `json:"notes"`
	UpdatedAt       int64             `json:"updatedAt"`
	MessageCount    int               `json:"messageCount"`
	Provider        string            `json:"provider"`
	Values          map[string]string `json:"values"`
	Modes           map[string]bool   `json:"modes"`
	LongTermSummary string            `json:"longTermSummary"`
	ShortTermMemory []struct {
		ID      string `json:"id"`
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"shortTermMemory"`
}

// begin starts a conversation with messages, alternately of the user and of an assistant.
func (s *site) begin(name string, messages ...string) (id string) {
	s.t.Helper()
	var got struct{ Session session }
	s.want(http.StatusCreated, "POST", "/api/sessions", map[string]string{"name": name}, &got)
	for i, text := range messages {
		s.say(got.Session.ID, []string{"user", "assistant"}[i%2], text)
	}
	return got.Session.ID
}

// say adds a message, and returns its id.
func (s *site) say(id, role, text string) string {
	s.t.Helper()
	var got struct{ Message struct{ ID string } }
	s.want(http.StatusCreated, "POST", "/api/sessions/"+id+"/messages", map[string]string{"role": role, "content": text}, &got)
	return got.Message.ID
}

func TestList(t *testing.T) {
	s := newSite(t)
	for i := range 5 {
		s.begin(fmt.Sprintf("Topic %d", i), "hello", "hi")
	}
	var page struct {
		Sessions []session
		Total    int
		Offset   int
	}
	got := s.want(200, "GET", "/api/sessions?limit=2&offset=1&sort=title", nil, &page)
	if page.Total != 5 || page.Offset != 1 || len(page.Sessions) != 2 || page.Sessions[0].Name != "Topic 1" {
		t.Errorf("%+v", page)
	}
	if link := got.header.Get("Link"); !strings.Contains(link, `offset=3`) || !strings.Contains(link, `rel="next"`) || !strings.Contains(link, `rel="prev"`) {
		t.Errorf("Link: %s", link)
	}
	tag := got.header.Get("ETag")
	if again := s.send("GET", "/api/sessions?limit=2&offset=1&sort=title", nil, "If-None-Match", tag); again.status != http.StatusNotModified || len(again.body) != 0 {
		t.Errorf("again: %d %s", again.status, again.body)
	}
	s.begin("Topic 1 more", "hello")
	if again := s.send("GET", "/api/sessions?limit=2&offset=1&sort=title", nil, "If-None-Match", tag); again.status != http.StatusOK {
		t.Errorf("after a change: %d", again.status)
	}
	s.want(200, "GET", "/api/sessions?q=topic+3", nil, &page)
	if page.Total != 1 || page.Sessions[0].Name != "Topic 3" {
		t.Errorf("with words: %+v", page)
	}
	for _, bad := range []string{"limit=0", "limit=x", "offset=-1", "sort=size", "archived=maybe", "since=yesterday"} {
		if got := s.send("GET", "/api/sessions?"+bad, nil); got.status != http.StatusBadRequest || got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s", bad, got.status, got.body)
		}
	}
	if got := s.send("GET", "/api/search?q=x&limit=0", nil); got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "from 1 to 500") {
		t.Errorf("it does not say how many a search answers with: %d %s", got.status, got.body)
	}
}

func TestGet(t *testing.T) {
	s := newSite(t)
	id := s.begin("API design", "REST or GraphQL?", "REST.", "Why?", "It is **simple**.")
	var got struct{ Session session }
	first := s.want(200, "GET", "/api/sessions/"+id+"?messages=2", nil, &got)
	if m := got.Session.ShortTermMemory; len(m) != 2 || m[0].Content != "Why?" || m[1].Role != "assistant" {
		t.Errorf("%+v", got.Session)
	}
	if again := s.send("GET", "/api/sessions/"+id+"?messages=2", nil, "If-None-Match", first.header.Get("ETag")); again.status != http.StatusNotModified {
		t.Errorf("again: %d", again.status)
	}
	s.say(id, "user", "Thanks.")
	if again := s.send("GET", "/api/sessions/"+id+"?messages=2", nil, "If-None-Match", first.header.Get("ETag")); again.status != http.StatusOK || !bytes.Contains(again.body, []byte("Thanks.")) {
		t.Errorf("after a message: %d %s", again.status, again.body)
	}
	var page struct {
		Messages []struct{ ID, Content string }
		Offset   int
		Total    int
	}
	s.want(200, "GET", "/api/sessions/"+id+"/messages?limit=2&offset=1", nil, &page)
	if page.Total != 5 || page.Offset != 1 || len(page.Messages) != 2 || page.Messages[0].Content != "REST." {
		t.Errorf("%+v", page)
	}
	s.want(200, "GET", "/api/sessions/"+id+"/messages?after="+page.Messages[1].ID, nil, &page)
	if len(page.Messages) != 2 || page.Messages[1].Content != "Thanks." {
		t.Errorf("after: %+v", page)
	}
	var html struct {
		HTML     string
		From, To int
		Total    int
	}
	s.want(200, "GET", "/api/sessions/"+id+"/html?from=3&to=4", nil, &html)
	if html.From != 3 || html.To != 4 || html.Total != 5 || !strings.Contains(html.HTML, "Why?") || strings.Contains(html.HTML, "GraphQL") {
		t.Errorf("%+v", html)
	}
	s.want(404, "GET", "/api/sessions/01kaxnothing", nil, nil)
	s.want(404, "GET", "/api/sessions/"+id+"/messages?after=x", nil, nil)
	s.want(404, "GET", "/api/sessions/"+id+"/messages?branch=7", nil, nil)
	var found struct {
		Total   int
		Results []struct{ Session session }
	}
	s.want(200, "GET", "/api/search?q=graphql", nil, &found)
	if found.Total != 1 || found.Results[0].Session.ID != id {
		t.Errorf("%+v", found)
	}
	var preview struct {
		Tokens, Budget, Original int
		Text                     string
	}
	s.want(200, "GET", "/api/sessions/"+id+"/context?budget=1000&text=true", nil, &preview)
	if preview.Budget != 1000 || preview.Tokens > 1000 || preview.Original != 5 || !strings.Contains(preview.Text, "[RESUMED CONVERSATION]") {
		t.Errorf("%+v", preview)
	}
	s.want(422, "GET", "/api/sessions/"+id+"/context?budget=100", nil, nil)
}

// An event is one that a stream sent.
type event struct {
	kind, id string
	data     struct {
		Type    string
		Message struct{ ID, Content string }
		Call    struct{ ID, Output string }
	}
}

// follow reads the events of a stream until the test ends.
func (s *site) follow(path string, header ...string) <-chan event {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.http.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if got.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d", path, got.StatusCode)
	}
	in := bufio.NewReader(got.Body)
	if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") {
		s.t.Fatalf("first line %q, %v", line, err)
	}
	out := make(chan event, 1<<14)
	go func() {
		defer close(out)
		defer got.Body.Close()
		var e event
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "event":
				e.kind = value
			case "id":
				e.id = value
			case "data":
				_ = json.Unmarshal([]byte(value), &e.data)
			case "":
				if value == "" && e.kind != "" {
					out <- e
				}
				e = event{}
			}
		}
	}()
	return out
}

// next returns the next event of a kind.
func next(t testing.TB, from <-chan event, kind string) event {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case e, ok := <-from:
			if !ok {
				t.Fatalf("the stream ended before an event %s", kind)
			}
			if e.kind == kind {
				return e
			}
		case <-late:
			t.Fatalf("no event %s", kind)
		}
	}
}

func TestEvents(t *testing.T) {
	s := newSite(t)
	id := s.begin("Live", "one")
	stream := s.follow("/api/sessions/" + id + "/events")
	list := s.follow("/api/events")
	two := s.say(id, "assistant", "two")
	if e := next(t, stream, "message"); e.id != two || e.data.Message.Content != "two" {
		t.Errorf("%+v", e)
	}
	next(t, list, "change")
	s.say(id, "user", "three")
	s.say(id, "assistant", "four")
	again := s.follow("/api/sessions/"+id+"/events", "Last-Event-ID", two)
	for _, want := range []string{"three", "four"} {
		if e := next(t, again, "message"); e.data.Message.Content != want {
			t.Errorf("after %s: %+v, want %s", two, e, want)
		}
	}
	next(t, s.follow("/api/sessions/"+id+"/events?since=unknown"), "reset")
	s.want(204, "DELETE", "/api/sessions/"+id, nil, nil)
	next(t, stream, "gone")
	for range stream { // it ends
	}
}

// TestMetadata: what a client sends as the metadata of a message is kept, without its secrets,
// and comes back beside ours.
func TestMetadata(t *testing.T) {
	s := newSite(t)
	id := s.begin("metadata")
	path := "/api/sessions/" + id + "/messages"
	s.want(http.StatusCreated, "POST", path, json.RawMessage(`{"content":"hello","metadata":{
		"model": 7, "tab": [1, {"a": "\u00e9\n"}], "key": "ghp_16C7e42F292c6912E7710c838347Ae178B4a"}}`), nil)
	s.want(http.StatusCreated, "POST", path, json.RawMessage(`{"role":"assistant","model":"m","content":"hi","metadata":{"model":"theirs","empty":{}}}`), nil)
	s.want(http.StatusCreated, "POST", path, json.RawMessage(`{"content":"and","metadata":null}`), nil)
	for _, wrong := range []string{`[]`, `"x"`, `1`, `{"a":1,"a":2}`} {
		s.want(http.StatusBadRequest, "POST", path, json.RawMessage(`{"content":"no","metadata":`+wrong+`}`), nil)
	}
	var page struct {
		Messages []struct{ Metadata map[string]any }
	}
	s.want(200, "GET", path, nil, &page)
	if len(page.Messages) != 3 {
		t.Fatalf("%d messages", len(page.Messages))
	}
	first, second, third := page.Messages[0].Metadata, page.Messages[1].Metadata, page.Messages[2].Metadata
	if first["model"] != nil || fmt.Sprint(first["tab"]) != "[1 map[a:é\n]]" || first["number"] != 1.0 || strings.Contains(fmt.Sprint(first["key"]), "ghp_") {
		t.Errorf("first: %v", first)
	}
	if second["model"] != "m" || second["empty"] == nil || second["number"] != 2.0 {
		t.Errorf("second: %v", second)
	}
	if third["metadata"] != nil || third["number"] != 3.0 {
		t.Errorf("third: %v", third)
	}
}
