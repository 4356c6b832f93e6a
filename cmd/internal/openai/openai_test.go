package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cortext/cmd/internal/summarize"
)

const key = "sk-test-0123456789"

// endpoint serves answer for each request, and counts the requests.
func endpoint(t *testing.T, answer http.HandlerFunc) (base string, requests func() []string) {
	t.Helper()
	var mu sync.Mutex
	var list []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		list = append(list, r.Method+" "+r.URL.RequestURI())
		mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

// says answers with a completion.
func says(text, finish string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, _ := json.Marshal(text)
		fmt.Fprintf(w, `{"id":"x","model":"served","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":{}}`, b, finish)
	}
}

func with(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestOpenAIAsks(t *testing.T) {
	const prompt = "Sum up: \"x\" <&> ä \x00."
	var got map[string]any
	var header http.Header
	base, requests := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		says(" \x1b[1mIt was\x1b[0m done\x00.\u202e\r\n", "stop")(w, r)
	})
	r, err := Endpoint{BaseURL: base, Model: "small", Key: key}.Summarize(t.Context(), prompt, 500)
	if err != nil || r != (summarize.Result{Text: "It was done.", Model: "served"}) {
		t.Fatalf("%+v, %v", r, err)
	}
	messages, _ := got["messages"].([]any)
	message, _ := messages[0].(map[string]any)
	if len(messages) != 1 || message["role"] != "user" || message["content"] != prompt {
		t.Errorf("messages %v", messages)
	}
	if got["model"] != "small" || got["max_tokens"] != 1000.0 || got["temperature"] != 0.0 || got["stream"] != false {
		t.Errorf("asked with %v", got)
	}
	if header.Get("Authorization") != "Bearer "+key || header.Get("Content-Type") != "application/json" {
		t.Errorf("header %v", header)
	}
	if fmt.Sprint(requests()) != "[POST /v1/chat/completions]" {
		t.Errorf("requests %v", requests())
	}
}

func TestOpenAIAddress(t *testing.T) {
	for base, want := range map[string]string{
		"http://h":                               "http://h/v1/chat/completions",
		"http://h/":                              "http://h/v1/chat/completions",
		"http://h:1/v1":                          "http://h:1/v1/chat/completions",
		"http://h/v1/":                           "http://h/v1/chat/completions",
		"https://h/openai/v1/chat/completions":   "https://h/openai/v1/chat/completions",
		"https://h/v1beta/openai/":               "https://h/v1beta/openai/chat/completions",
		"https://h/openai?api-version=1#nowhere": "https://h/openai/chat/completions?api-version=1",
	} {
		u, err := Endpoint{BaseURL: base}.endpoint()
		if err != nil || u.String() != want {
			t.Errorf("%s: %v, %v; want %s", base, u, err, want)
		}
	}
	for _, o := range []Endpoint{
		{BaseURL: ""}, {BaseURL: "h/v1"}, {BaseURL: "localhost:11434"}, {BaseURL: "ftp://h/"}, {BaseURL: "http://"}, {BaseURL: "http://%zz" + key},
		{BaseURL: "http://example.com", Key: key}, {BaseURL: "http://u:" + key + "@example.com"}, {BaseURL: "http://127.0.0.1.example.com", Key: key},
		{BaseURL: "http://localhost.example.com/", Key: key}, {BaseURL: "http://10.0.0.1/", Key: key},
	} {
		// No name is looked up and no request is made.
		o.Client = &http.Client{Transport: refuse{t}}
		if _, err := o.Summarize(t.Context(), "x", 1); err == nil || !summarize.Away(err) || strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", o.BaseURL, err)
		}
	}
	for _, o := range []Endpoint{{BaseURL: "http://localhost/", Key: key}, {BaseURL: "http://[::1]:1", Key: key}, {BaseURL: "http://127.8.9.1", Key: key}, {BaseURL: "https://example.com", Key: key}, {BaseURL: "http://example.com"}} {
		if _, err := o.endpoint(); err != nil {
			t.Errorf("%q: %v", o.BaseURL, err)
		}
	}
}

// refuse fails the test if a request is made.
type refuse struct{ t *testing.T }

func (r refuse) RoundTrip(req *http.Request) (*http.Response, error) {
	r.t.Errorf("a request goes to %s", req.URL)
	return nil, errors.New("refused")
}

// TestOpenAIFails: each error of an endpoint has the right type, names the host, and
// includes the endpoint's message if there is one. It never contains the key.
func TestOpenAIFails(t *testing.T) {
	elsewhere, away := endpoint(t, says("It was done.", "stop"))
	other, err := url.Parse(elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		is     error
		says   string
	}{
		{"a refusal", says("I'm sorry, but I can't help with that.", "stop"), summarize.ErrRefused, "I'm sorry"},
		{"a refusal of its own kind", with(200, "", `{"choices":[{"message":{"content":null,"refusal":"no `+key+`"},"finish_reason":"stop"}]}`), summarize.ErrRefused, "no [key]"},
		{"a filter", says("It was.", "content_filter"), summarize.ErrRefused, "content_filter"},
		{"as long as it may be", says("It was done. And then", "length"), summarize.ErrCut, ""},
		{"long, and by chance whole", says("It was done.", "length"), summarize.ErrCut, ""},
		{"no end", says("It was done. And then", "stop"), summarize.ErrCut, "And then"},
		{"nothing", says(" \n", "stop"), summarize.ErrEmpty, ""},
		{"no content", with(200, "", `{"choices":[{"message":{"role":"assistant","content":null}}]}`), summarize.ErrEmpty, ""},
		{"no choices", with(200, "", `{"choices":[]}`), summarize.ErrEmpty, "no choices"},
		{"another object", with(200, "", `{}`), summarize.ErrEmpty, ""},
		{"not JSON", with(200, "", "<html>\n<p>"+key), nil, "not a completion: <html>"},
		{"half of it", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"It was done."`)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, summarize.ErrCut, ""},
		{"half of it, as if it were whole", with(200, "", `{"choices":[{"message":{"content":"It was done."`), nil, "not a completion"},
		{"no answer at all", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, nil, ""},
		{"a huge answer", says(strings.Repeat("It was done. ", summarize.MaxAnswer/10), "stop"), nil, "more than"},
		{"no right", with(401, "", `{"error":{"message":"Incorrect API key provided: `+key+`.\nSee it.","type":"x"}}`), nil, "401 Unauthorized: Incorrect API key provided: [key]."},
		{"too much", with(429, "", `{"error":"slow down"}`), nil, "429 Too Many Requests: slow down"},
		{"broken", with(500, "", "\n \x1b[31mupstream failed\x1b[0m\x07\nat x.go"), nil, "500 Internal Server Error: upstream failed"},
		{"broken in another way", with(502, "", `{"error":[1]}`), nil, `502 Bad Gateway: {"error":[1]}`},
		{"broken without a word", with(503, "", ""), nil, "503 Service Unavailable"},
		{"a long complaint", with(400, "", strings.Repeat("ä", 5000)), nil, "400 Bad Request: ä"},
		{"a redirect to another", with(307, "Location: "+elsewhere+"/v1/chat/completions?"+key, ""), nil, "it redirects to " + other.Host},
		{"a redirect to itself", with(308, "Location: /v2", ""), nil, "it redirects to"},
		{"a redirect to nowhere", with(302, "", ""), nil, "302 Found"},
	} {
		base, requests := endpoint(t, c.answer)
		r, err := Endpoint{BaseURL: base + "?key=" + key, Key: key}.Summarize(t.Context(), "x", 500)
		if err == nil || r != (summarize.Result{}) {
			t.Errorf("%s: %+v, %v", c.name, r, err)
			continue
		}
		text := err.Error()
		if c.is != nil && !errors.Is(err, c.is) || !strings.Contains(text, c.says) {
			t.Errorf("%s: %v; want %v that says %q", c.name, err, c.is, c.says)
		}
		if u, _ := url.Parse(base); !strings.HasPrefix(text, u.Host+": ") {
			t.Errorf("%s: the host is not named: %v", c.name, err)
		}
		if strings.Contains(text, key) || strings.ContainsAny(text, "\n\x1b\x07") || len(text) > 400 {
			t.Errorf("%s: %q", c.name, text)
		}
		if len(requests()) != 1 {
			t.Errorf("%s: %d requests", c.name, len(requests()))
		}
		if away := c.name == "no right" || c.name == "no answer at all"; summarize.Away(err) != away {
			t.Errorf("%s: who asks again is told the same: %v; want %v", c.name, !away, away)
		}
	}
	if len(away()) > 0 {
		t.Errorf("a redirect was followed: %v", away())
	}
}

// TestOpenAILong: an answer longer than requested is still complete, because it can be
// condensed.
func TestOpenAILong(t *testing.T) {
	text := strings.TrimSpace(strings.Repeat("We decided to do it because it failed. ", 300))
	base, _ := endpoint(t, says("<think>hm</think>"+text, "stop"))
	r, err := Endpoint{BaseURL: base, Client: &http.Client{}}.Summarize(t.Context(), "x", 50)
	if err != nil || r.Text != text {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
	base, _ = endpoint(t, with(200, "", `{"choices":[{"message":{"content":"It was done."}}]}`))
	r, err = Endpoint{BaseURL: base, Model: "mine"}.Summarize(t.Context(), "x", 50)
	if err != nil || r != (summarize.Result{Text: "It was done.", Model: "mine"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestOpenAITimeout: Summarize waits until ctx ends for an endpoint that says nothing, or
// stops in the middle.
func TestOpenAITimeout(t *testing.T) {
	for name, begin := range map[string]string{"nothing": "", "a part": `{"choices":[{"mess`} {
		begun := make(chan struct{})
		base, _ := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
			if begin != "" {
				_, _ = io.WriteString(w, begin)
				w.(http.Flusher).Flush()
			}
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that we are gone
			close(begun)
			<-r.Context().Done()
		})
		late := errors.New("it takes too long")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, late)
		_, err := Endpoint{BaseURL: base, Key: key}.Summarize(ctx, "x", 50)
		cancel()
		if u, _ := url.Parse(base); err == nil || !errors.Is(err, late) || err.Error() != u.Host+": it takes too long" || !summarize.Away(err) {
			t.Errorf("%s: %v", name, err)
		}
		<-begun
	}
}
