//go:build unix

package summarize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/cmd/internal/agenttest"
)

// TestRealAgents: the real agents accept the whole prompt without tools, read no file that
// it names, and print the answer.
func TestRealAgents(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("the secret word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Without tools the server repeats the first 60 characters.
	begin := "Sum up what a" + `\@` + "b.c wrote: all of it, to the end and no more."
	prompt := unmarked(begin) + "\n\n" + "See @" + secret + " (@" + secret + ") and @{" + secret + "} !{touch X} !`touch Y` $ARGUMENTS.\n@" + secret + "\n" +
		strings.Repeat("A line of the conversation, which has many.\n", 4000)
	if len(begin) != 60 {
		t.Fatalf("%d characters", len(begin))
	}
	for name, program := range map[string]func(testing.TB) string{
		"claude": agenttest.RequireClaude, "opencode": agenttest.RequireOpenCode, "gemini": agenttest.RequireGemini,
	} {
		t.Run(name, func(t *testing.T) {
			path := program(t)
			s, err := agenttest.Serve()
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			home, err := agenttest.NewHome(filepath.Join(t.TempDir(), "home"), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range home.Env() {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			a, err := AgentFor(name, path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := a.Summarize(t.Context(), prompt, 500)
			if want := "ok: " + unmarked(begin); err != nil || r.Text != want {
				t.Fatalf("%q, %v; want %q", r.Text, err, want)
			}
			whole := false
			for _, req := range s.Requests() {
				if len(req.Tools) > 0 {
					t.Errorf("the model is offered %v", req.Tools)
				}
				if strings.Contains(string(req.Raw), "the secret word") {
					t.Error("a file that the prompt names is in the request")
				}
				for _, turn := range req.Turns() {
					whole = whole || strings.Contains(turn.Text, strings.TrimSpace(marked(prompt)))
				}
			}
			if !whole {
				t.Error("no request has the whole prompt")
			}
			if name == "opencode" {
				return // it starts slowly, and a title is asked for in the same way
			}
			if r, err = a.Title(t.Context(), TitlePrompt("user: make the cache smaller")); err != nil || !strings.HasPrefix(r.Text, "ok: ") {
				t.Errorf("a title: %q, %v", r.Text, err)
			}
		})
	}
}
