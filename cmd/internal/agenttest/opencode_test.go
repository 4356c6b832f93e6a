//go:build unix

package agenttest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// openCodeIn prepares a home and a project. It returns the project and a function that
// builds an opencode command in it.
func openCodeIn(t *testing.T, s *Server) (project string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	path := RequireOpenCode(t)
	h, project := newHome(t, s), t.TempDir()
	return project, func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = project, h.Env()
		return cmd
	}
}

func TestOpenCodeCallsTool(t *testing.T) {
	s := serve(t)
	project, opencode := openCodeIn(t, s)
	// As an argument the text arrives in quotes, with its own quotes escaped.
	const text = `make it @@THINK hm@@ @@TOOL bash {"command":"echo made > file; cat file","description":"Make"}@@`
	cmd := opencode("run", text)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "All 1 tool call(s) done.") {
		t.Fatalf("%v\n%s", err, out)
	}
	if made, err := os.ReadFile(filepath.Join(project, "file")); string(made) != "made\n" {
		t.Errorf("the tool made %q, %v", made, err)
	}
	main := s.Main()
	if len(main) != 2 || len(s.Requests()) != 3 {
		t.Fatalf("%d main requests of %d; want 2 and one for the title", len(main), len(s.Requests()))
	}
	wantTurns(t, main[1], []Turn{
		{"user", `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`},
		{"assistant", "[thinking]\nI will call bash.\n" + `[tool_use bash {"command":"echo made > file; cat file","description":"Make"}]`},
		{"user", "[tool_result made\n]"},
	})
	if main[0].Protocol != OpenAI || main[0].System() == "" {
		t.Errorf("protocol %s, system prompt of %d bytes", main[0].Protocol, len(main[0].System()))
	}
}

// TestOpenCodeShape is TestClaudeShape for opencode, using the records of an export.
func TestOpenCodeShape(t *testing.T) {
	s := serve(t)
	s.Script("what is here?",
		Step{Think: "Look first.", Say: "I look.", Tools: []ToolCall{{"bash", map[string]string{"command": "ls", "description": "List files"}}}},
		Step{Tools: []ToolCall{{"bash", map[string]string{"command": "exit 3", "description": "Fail"}}}},
		Step{Say: "Nothing."})
	_, opencode := openCodeIn(t, s)
	cmd := opencode("run")
	cmd.Stdin = strings.NewReader("what is here?")
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "Nothing.") {
		t.Fatalf("%v\n%s", err, out)
	}
	var sessions []struct{ ID string }
	raw := printed(t, opencode("session", "list", "--format", "json"))
	if err := json.Unmarshal(raw, &sessions); err != nil || len(sessions) != 1 {
		t.Fatalf("%v: %s", err, raw)
	}
	raw = printed(t, opencode("export", sessions[0].ID))
	var export struct {
		Info     json.RawMessage
		Messages []struct {
			Info  json.RawMessage
			Parts []json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &export); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	seen := shape{}
	seen.object(t, "session", export.Info)
	for _, m := range export.Messages {
		seen.object(t, "message "+word(t, m.Info, "role"), m.Info)
		for _, p := range m.Parts {
			seen.object(t, "part "+word(t, p, "type"), p)
		}
	}
	seen.requests(t, s)
	seen.finish(t, "session id", "message user", "message assistant parentID", "part text text", "part tool state",
		"part reasoning", "request tool bash", "request member messages")
}

// printed runs the command and returns its output. opencode prints at most 64 KiB to a
// pipe, so printed uses a file.
func printed(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	raw, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestOpenCodeInTerminal(t *testing.T) {
	s := serve(t)
	_, opencode := openCodeIn(t, s)
	term, err := Start(opencode(), 120, 40)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	waitFor(t, term, OpenCodeReady)
	submit(t, term, "first @@SAY the answer in 日本 é@@")
	waitFor(t, term, "     the answer in 日本 é")
	submit(t, term, "second @@HANG@@")
	waitFor(t, term, "     "+strings.TrimSpace(HangText))
	press(t, term, "Esc")
	waitFor(t, term, "esc again to interrupt")
	press(t, term, "Esc")
	waitFor(t, term, "· interrupted")
	submit(t, term, "third @@SAY still here@@")
	waitFor(t, term, "     still here")
	submit(t, term, "/exit")
	if err := term.Wait(); err != nil {
		t.Errorf("exited with %v; the screen:\n%s", err, term.Screen())
	}
	wantAsked(t, s, "first @@SAY the answer in 日本 é@@", "second @@HANG@@", "third @@SAY still here@@")
}
