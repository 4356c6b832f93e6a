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

// geminiIn prepares a home and a project that gemini trusts. It returns the project and a
// function that builds a gemini command in it.
func geminiIn(t *testing.T, s *Server) (project string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	path := RequireGemini(t)
	h, project := newHome(t, s), t.TempDir()
	if err := h.TrustGemini(project); err != nil {
		t.Fatal(err)
	}
	return project, func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = project, h.Env()
		return cmd
	}
}

func TestGeminiCallsTool(t *testing.T) {
	s := serve(t)
	project, gemini := geminiIn(t, s)
	const text = `make it @@THINK **Plan** hm@@ @@TOOL run_shell_command {"command":"echo made > file; cat file; sleep 0.5"}@@`
	out, err := gemini("-p", text, "--approval-mode", "yolo").Output()
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "All 1 tool call(s) done.") {
		t.Fatalf("%v\n%s", err, out)
	}
	if made, err := os.ReadFile(filepath.Join(project, "file")); string(made) != "made\n" {
		t.Errorf("the tool made %q, %v", made, err)
	}
	main := s.Main()
	if len(main) != 2 || len(s.Requests()) < 3 {
		t.Fatalf("%d main requests of %d; want 2 and others beside them", len(main), len(s.Requests()))
	}
	turns := main[1].Turns()
	if len(turns) != 3 || !strings.HasPrefix(turns[0].Text, "<session_context>") || !strings.HasSuffix(turns[0].Text, "\n"+text) {
		t.Fatalf("turns %q", turns)
	}
	if want := (Turn{"assistant", "I will call run_shell_command.\n" + `[tool_use run_shell_command {"command":"echo made > file; cat file; sleep 0.5"}]`}); turns[1] != want {
		t.Errorf("turn %q, want %q", turns[1], want)
	}
	if !strings.HasPrefix(turns[2].Text, "[tool_result ") || !strings.Contains(turns[2].Text, "Output: made\n") {
		t.Errorf("the tool's answer is %q", turns[2])
	}
	if main[0].Protocol != Google || main[0].System() == "" || !strings.HasPrefix(main[0].Model, "gemini-") {
		t.Errorf("protocol %s, model %q, system prompt of %d bytes", main[0].Protocol, main[0].Model, len(main[0].System()))
	}
}

func TestGeminiWithoutTrust(t *testing.T) {
	s := serve(t)
	_, gemini := geminiIn(t, s)
	cmd := gemini("-p", "hello")
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 55 {
		t.Errorf("in a folder that is not trusted: %v\n%s", err, out)
	}
}

// TestGeminiShape is TestClaudeShape for gemini.
func TestGeminiShape(t *testing.T) {
	s := serve(t)
	s.Script("what is here?",
		Step{Think: "**Plan** Look first.", Say: "I look.", Tools: []ToolCall{{"run_shell_command", map[string]string{"command": "ls"}}}},
		Step{Tools: []ToolCall{{"run_shell_command", map[string]string{"command": "exit 3"}}}},
		Step{Say: "Nothing."})
	_, gemini := geminiIn(t, s)
	cmd := gemini("-p", "what is here?", "--approval-mode", "yolo")
	if out, err := cmd.Output(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "Nothing.") {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := shape{}
	for line := range strings.Lines(string(only(t, filepath.Join(homeOf(cmd), ".gemini/tmp/*/chats/*.jsonl")))) {
		raw := json.RawMessage(line)
		kind := "record " + word(t, raw, "type")
		seen.object(t, kind, raw)
		var record struct{ ToolCalls, Thoughts []json.RawMessage }
		if err := json.Unmarshal(raw, &record); err != nil {
			t.Fatal(err)
		}
		for _, c := range record.ToolCalls {
			seen.object(t, kind+" tool call", c)
		}
		for _, c := range record.Thoughts {
			seen.object(t, kind+" thought", c)
		}
	}
	seen.requests(t, s)
	seen.finish(t, "record user content", "record gemini tool call result", "record gemini thought subject", "record  sessionId",
		"request tool run_shell_command", "request member contents")
}

func TestGeminiInTerminal(t *testing.T) {
	s := serve(t)
	_, gemini := geminiIn(t, s)
	term, err := Start(gemini(), 120, 40)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	waitFor(t, term, GeminiReady)
	submit(t, term, "first @@SAY the answer in 日本 é@@")
	waitFor(t, term, "✦ the answer in 日本 é")
	submit(t, term, "second @@HANG@@")
	waitFor(t, term, "✦ "+strings.TrimSpace(HangText))
	press(t, term, "Esc")
	waitFor(t, term, "Request cancelled.")
	submit(t, term, "third @@SAY still here@@")
	waitFor(t, term, "✦ still here")
	submit(t, term, "/quit")
	if err := term.Wait(); err != nil {
		t.Errorf("exited with %v; the screen:\n%s", err, term.Screen())
	}
	wantAsked(t, s, "first @@SAY the answer in 日本 é@@", "second @@HANG@@", "third @@SAY still here@@")
}
