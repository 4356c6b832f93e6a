package compact

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"cortext/cmd/internal/install"
	"cortext/cmd/internal/openai"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/schema"
	"cortext/store"
)

// secret is an access key in the documented form.
const secret = "AKIAQYLPMN5HHHFPZAM2"

// A compacting is a workspace with a conversation of 180 messages in four ranges: three are
// closed, and the last one is open.
type compacting struct {
	*Compactor
	ws    *workspace.Workspace
	t     *testing.T
	c     *store.Conversation
	entry store.Entry
	env   map[string]string
}

func newCompacting(t *testing.T, config string, env map[string]string) *compacting {
	t.Helper()
	dir := t.TempDir()
	if _, err := install.Init(dir, settings.CommitOff, ""); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, ".config", "cortext", "config.yaml") // a model is the user's own choice
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte(config+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(workspace.Env{Dir: dir, Now: time.Now, Holder: "test", Machine: inject.Machine{Home: dir, Getenv: func(name string) string { return env[name] }}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	endpoint := func(url, model, key string) Summarizer {
		return openai.Endpoint{BaseURL: url, Model: model, Key: key}
	}
	s := &schema.Session{ConversationType: "chat", Title: "x"}
	s.AgentConfig.Agent = "claude"
	c, err := w.Store.Create("chat", "x", s, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	k := &compacting{Compactor: New(w, endpoint), ws: w, t: t, c: c, env: env}
	k.say(180)
	if k.entry, err = w.Entry(c.Path()); err != nil {
		t.Fatal(err)
	}
	return k
}

// say appends messages in turns of two, one second apart.
func (k *compacting) say(n int) {
	k.t.Helper()
	var b schema.Batch
	for i := range n {
		m := schema.Message{ID: fmt.Sprint("m", i), Timestamp: schema.NewTime(time.Date(2025, 11, 22, 10, 0, i, 0, time.UTC)), Role: schema.User, Content: fmt.Sprintf("Please change file%d.go, since it fails.", i)}
		if i%2 == 1 {
			m.Role = schema.Assistant
		}
		if i > 0 {
			m.ParentID = fmt.Sprint("m", i-1)
		}
		b.Messages = append(b.Messages, m)
	}
	if _, err := k.c.Append(b); err != nil {
		k.t.Fatal(err)
	}
}

func (k *compacting) compacted() *Result {
	k.t.Helper()
	out, err := k.Compact(context.Background(), k.entry)
	if err != nil {
		k.t.Fatal(err)
	}
	return out
}

func (k *compacting) previewed() *Result {
	k.t.Helper()
	out, err := k.Preview(k.entry)
	if err != nil {
		k.t.Fatal(err)
	}
	return out
}

// files returns the summaries on disk by name.
func (k *compacting) files() map[string]string {
	k.t.Helper()
	files := map[string]string{}
	dir := k.c.Path() + "/.session/summaries"
	for _, name := range k.ws.Store.ListFiles(dir) {
		b, err := k.ws.Store.ReadFile(dir + "/" + name)
		if err != nil {
			k.t.Fatal(err)
		}
		files[name] = string(b)
	}
	return files
}

// endpoint starts a model endpoint and counts its requests.
func endpoint(t *testing.T, answer func(w http.ResponseWriter, r *http.Request)) (env map[string]string, asked *atomic.Int32) {
	t.Helper()
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return map[string]string{openAIURLVar: s.URL, openAIModelVar: "small"}, asked
}

func answering(text string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		b, _ := json.Marshal(text)
		fmt.Fprintf(w, `{"model":"\u001b[1mserved\u202e","choices":[{"message":{"content":%s}}]}`, b)
	}
}

// TestCompactAnswer: a model's answer is written without secrets and control characters,
// for the ranges that no longer grow.
func TestCompactAnswer(t *testing.T) {
	env, asked := endpoint(t, answering("\x1b[31mThe key "+secret+"\x1b[0m\x00 was\r\nused\u202e\tso. It was done."))
	k := newCompacting(t, "summarizer: openai", env)
	var progress []string
	k.Progress = func(first, last, of int) { progress = append(progress, fmt.Sprint(first, last, of)) }
	out := k.compacted()
	if len(out.Failed) > 0 || asked.Load() != 3 || len(out.Ranges) != 4 || out.Ranges[3].Tokens != 0 || !strings.Contains(out.Ranges[3].Why, "still growing") || !out.Ranges[0].Made {
		t.Errorf("asked %d times: %+v", asked.Load(), out)
	}
	if got := fmt.Sprint(progress); got != "[1 50 180 51 100 180 101 150 180]" {
		t.Errorf("progress %s", got)
	}
	files := k.files()
	for name, b := range files {
		s, err := schema.ParseSummary([]byte(b))
		if err != nil || s.Content != "The key [redacted: aws-access-key] was\nused\tso. It was done." || s.Model != "served" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if again := k.compacted(); len(files) != 3 || asked.Load() != 3 || again.Ranges[0].Made || again.Ranges[0].Tokens == 0 {
		t.Errorf("%d files; asked %d times: %+v", len(files), asked.Load(), again)
	}
}

// TestCompactFails: a model that does not answer or denies access is asked only once, which
// is one error. A bad answer does not stop the next request.
func TestCompactFails(t *testing.T) {
	closed, _ := endpoint(t, answering(""))
	closed[openAIURLVar] = "http://127.0.0.1:1"
	for _, c := range []struct {
		name   string
		answer func(w http.ResponseWriter, r *http.Request)
		env    map[string]string
		config string
		asked  int
		failed int
		says   string
	}{
		{name: "nobody answers", answer: func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, asked: 1, failed: 1, says: "no answer within"},
		{name: "half an answer", answer: func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, asked: 1, failed: 1, says: "no answer within"},
		{name: "not let in", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, asked: 1, failed: 1, says: "403 Forbidden; 2 more ranges not tried"},
		{name: "nobody there", env: closed, failed: 1, says: "2 more ranges not tried"},
		{name: "no address", env: map[string]string{openAIURLVar: "localhost", openAIModelVar: "x"}, failed: 1, says: "not of the form"},
		{name: "not set", env: map[string]string{}, failed: 1, says: "set CORTEXT_OPENAI_URL"},
		{name: "off", config: "summarizer: off", env: map[string]string{}, failed: 1, says: "the setting summarizer is off; 3 more ranges not tried"},
		{name: "a refusal", answer: answering("I'm sorry, I cannot."), asked: 3, failed: 3, says: "the model refused"},
		{name: "a sentence that is too long", answer: answering(strings.Repeat("word ", 2000) + "end."), asked: 3, failed: 3, says: "no sentence of the answer"},
		{name: "broken", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, asked: 3, failed: 3, says: "500"},
	} {
		env, asked := c.env, new(atomic.Int32)
		if env == nil {
			env, asked = endpoint(t, c.answer)
		}
		if c.config == "" {
			c.config = "summarizer: openai"
		}
		k := newCompacting(t, c.config, env)
		k.wait = 200 * time.Millisecond
		if c.failed > 1 {
			k.wait = 0
		}
		out := k.compacted()
		if int(asked.Load()) != c.asked || len(out.Failed) != c.failed || !strings.Contains(out.Failed[0].Error(), c.says) || strings.Contains(out.Failed[0].Error(), "deadline") {
			t.Errorf("%s: asked %d times: %v", c.name, asked.Load(), out.Failed)
		}
		for _, r := range out.Ranges {
			if r.Tokens != 0 || r.Made || r.Why == "" {
				t.Errorf("%s: %+v", c.name, r)
			}
		}
		if len(k.files()) > 0 {
			t.Errorf("%s: files %v", c.name, k.files())
		}
	}
	// A canceled request stops.
	env, asked := endpoint(t, answering("It was done."))
	k := newCompacting(t, "summarizer: openai", env)
	ctx, cancel := context.WithCancel(context.Background())
	k.Progress = func(int, int, int) { cancel() }
	if _, err := k.Compact(ctx, k.entry); err != context.Canceled || asked.Load() > 0 {
		t.Errorf("%v, asked %d times", err, asked.Load())
	}
}

// TestCompactAgentProgram: the agent is the program that a launch would start.
func TestCompactAgentProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the stand-in for the agent is a shell script")
	}
	program := filepath.Join(t.TempDir(), "my-claude")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho It was done by mine.\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	k := newCompacting(t, "summarizer: agent", map[string]string{"CORTEXT_CLAUDE": program})
	if out := k.compacted(); len(out.Failed) > 0 || out.Ranges[2].Method != schema.FromAgent || !strings.Contains(fmt.Sprint(k.files()), "It was done by mine.") {
		t.Errorf("%+v", out)
	}
	k = newCompacting(t, "summarizer: agent", map[string]string{"CORTEXT_CLAUDE": program + "x"})
	if out := k.compacted(); len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Error(), "CORTEXT_CLAUDE") {
		t.Errorf("no such program: %+v", out)
	}
}

// TestCompactExtractive: two clones make the same bytes at any time. A stop summarizes all
// but the last messages.
func TestCompactExtractive(t *testing.T) {
	one, other := newCompacting(t, "", nil), newCompacting(t, "", nil)
	other.ws.Env.Now = func() time.Time { return time.Now().Add(time.Hour) }
	if failed := one.CompactOld(context.Background(), one.entry); len(failed) > 0 {
		t.Fatal(failed)
	}
	out := other.compacted()
	if last := out.Ranges[len(out.Ranges)-1]; len(out.Failed) > 0 || last.First != 151 || last.Last != 160 || last.Tokens == 0 {
		t.Errorf("%+v", out)
	}
	files := one.files()
	if got, want := fmt.Sprint(other.files()), fmt.Sprint(files); got != want || len(files) != 4 {
		t.Errorf("%s\nand in another clone\n%s", want, got)
	}
	if s, err := schema.ParseSummary([]byte(files["m50-m99.json"])); err != nil || s.CreatedAt != "2025-11-22T10:01:39.000Z" || s.Method != schema.Extracted {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestCompactKeepsNewer: a summary written by a later cortext, or one that is not a regular
// file, is refused by name before a model is asked. A damaged summary is recreated.
// A preview changes nothing and reports both.
func TestCompactKeepsNewer(t *testing.T) {
	env, asked := endpoint(t, answering("It was done."))
	k := newCompacting(t, "summarizer: openai", env)
	k.compacted()
	dir := filepath.Join(k.ws.Store.Root(), k.c.Path(), ".session", "summaries")
	newer := strings.Replace(k.files()["m0-m49.json"], `"version": "`+schema.Version+`"`, `"version": "99.0"`, 1)
	for name, text := range map[string]string{"m0-m49.json": newer, "m50-m99.json": newer[:40], "m100-m149.json": ""} { // empty: a power cut
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out := k.previewed(); len(out.Damage) != 2 || len(out.Failed) > 0 || asked.Load() != 3 {
		t.Errorf("%+v", out)
	}
	out := k.compacted()
	if len(out.Failed) != 1 || !strings.Contains(out.Failed[0].Error(), "m0-m49.json") || !strings.Contains(out.Failed[0].Error(), "99.0") || asked.Load() != 5 {
		t.Errorf("asked %d times: %+v", asked.Load(), out)
	}
	if files := k.files(); files["m0-m49.json"] != newer || !strings.Contains(files["m50-m99.json"], "It was done.") {
		t.Errorf("files %v", files)
	}
	if out := k.previewed(); len(out.Damage) != 1 || out.Damage[0].Kind != store.Newer {
		t.Errorf("%+v", out)
	}
}
