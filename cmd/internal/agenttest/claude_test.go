//go:build unix

package agenttest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// claudeIn prepares a home and a project that claude trusts. It returns the project and a
// function that builds a claude command in it.
func claudeIn(t *testing.T, s *Server) (project string, command func(args ...string) *exec.Cmd) {
	t.Helper()
	path := RequireClaude(t)
	h, project := newHome(t, s), t.TempDir()
	if err := h.TrustClaude(project); err != nil {
		t.Fatal(err)
	}
	return project, func(args ...string) *exec.Cmd {
		cmd := exec.Command(path, args...)
		cmd.Dir, cmd.Env = project, h.Env()
		return cmd
	}
}

func TestClaudePrints(t *testing.T) {
	s := serve(t)
	_, claude := claudeIn(t, s)
	out, err := claude("-p", "hello @@SAY one two three@@").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "one two three" {
		t.Fatalf("%v\n%s", err, out)
	}
	main := s.Main()
	if len(main) != 1 {
		t.Fatalf("%d main requests", len(main))
	}
	turns := main[0].Turns()
	if turns[0].Role != "user" || !strings.HasSuffix(turns[0].Text, "hello @@SAY one two three@@") {
		t.Errorf("turns %q", turns)
	}
	if main[0].System() == "" || !slices.Contains(main[0].Tools, "Bash") {
		t.Errorf("system prompt of %d bytes, tools %q", len(main[0].System()), main[0].Tools)
	}
}

func TestClaudeCallsTool(t *testing.T) {
	s := serve(t)
	project, claude := claudeIn(t, s)
	out, err := claude("-p", `@@TOOL Bash {"command":"echo made > file; cat file"}@@`, "--allowedTools", "Bash").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "All 1 tool call(s) done." {
		t.Fatalf("%v\n%s", err, out)
	}
	if made, err := os.ReadFile(filepath.Join(project, "file")); string(made) != "made\n" {
		t.Errorf("the tool made %q, %v", made, err)
	}
	main := s.Main()
	turns := main[len(main)-1].Turns()
	if last := turns[len(turns)-1]; last != (Turn{"user", "[tool_result made]"}) {
		t.Errorf("last turn %q", last)
	}
}

// TestClaudeShape: what claude records and sends in one small turn. See [shape].
func TestClaudeShape(t *testing.T) {
	s := serve(t)
	s.Script("what is here?",
		Step{Think: "Look first.", Say: "I look.", Tools: []ToolCall{{"Bash", map[string]string{"command": "ls", "description": "List files"}}}},
		Step{Tools: []ToolCall{{"Bash", map[string]string{"command": "exit 3", "description": "Fail"}}}},
		Step{Say: "Nothing."})
	_, claude := claudeIn(t, s)
	cmd := claude("-p", "what is here?", "--allowedTools", "Bash")
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "Nothing." {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := shape{}
	for line := range strings.Lines(string(only(t, filepath.Join(homeOf(cmd), ".claude/projects/*/*.jsonl")))) {
		seeRecord(t, seen, []byte(line))
	}
	seen.requests(t, s)
	seen.finish(t, "record user", "record user message", "record assistant", "record assistant uuid", "content tool_use",
		"content tool_result", "content thinking", "request tool Bash", "request member messages")
}

// seeRecord notes the type of a transcript record, its members, and the types of the
// blocks in its message.
func seeRecord(t *testing.T, seen shape, line []byte) {
	t.Helper()
	var r struct {
		Type, Subtype string
		Attachment    struct{ Type string }
		Message       struct{ Content parts }
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	kind := "record " + r.Type
	for _, sub := range []string{r.Subtype, r.Attachment.Type} {
		if sub != "" {
			kind += "/" + sub
		}
	}
	seen.object(t, kind, line)
	for _, b := range r.Message.Content {
		seen["content "+b.Type] = true
	}
}

// TestClaudeResumes: the history of a resumed session contains directives from earlier
// turns.
func TestClaudeResumes(t *testing.T) {
	s := serve(t)
	project, claude := claudeIn(t, s)
	const id = "7b0d2a54-3c53-4b5e-9a53-0b6d7d1c2f10"
	const payload = ResumedLine + "\nUser: @@SAY of old@@ @@HANG@@\n"
	line, err := json.Marshal(map[string]any{
		"type": "user", "uuid": "0f7c1a66-52a4-4f5c-8d0e-2d1f6c3b9a01", "parentUuid": nil,
		"timestamp": "2026-01-02T03:04:05.000Z", "sessionId": id, "cwd": project,
		"message": map[string]any{"role": "user", "content": payload},
	})
	if err != nil {
		t.Fatal(err)
	}
	transcript := filepath.Join(t.TempDir(), id+".jsonl")
	if err := os.WriteFile(transcript, append(line, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"go on": "ok: go on", "@@SAY mine@@": "mine"} {
		out, err := claude("-p", "--resume", transcript, "--fork-session", text).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%q: %v\n%s", text, err, out)
		}
	}
	for _, r := range s.Main() {
		if !slices.ContainsFunc(r.Turns(), func(turn Turn) bool { return strings.Contains(turn.Text, payload) }) {
			t.Errorf("the history did not arrive whole: %q", r.Turns())
		}
	}
}

func TestClaudeInTerminal(t *testing.T) {
	s := serve(t)
	_, claude := claudeIn(t, s)
	term, err := Start(claude(), 120, 40)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	waitFor(t, term, ClaudeReady)
	submit(t, term, "first @@SAY the answer in 日本 é@@")
	waitFor(t, term, "● the answer in 日本 é")
	submit(t, term, "second @@HANG@@")
	waitFor(t, term, "● "+strings.TrimSpace(HangText))
	press(t, term, "Esc")
	waitFor(t, term, "Interrupted")
	submit(t, term, "third @@SAY still here@@")
	waitFor(t, term, "● still here")
	submit(t, term, "/exit")
	if err := term.Wait(); err != nil {
		t.Errorf("exited with %v; the screen:\n%s", err, term.Screen())
	}
	var asked []string
	for _, r := range s.Main() {
		turns := r.Turns()
		asked = append(asked, turns[len(turns)-1].Text)
	}
	if len(asked) != 3 || !strings.HasSuffix(asked[2], "third @@SAY still here@@") {
		t.Errorf("asked %q", asked)
	}
}

func TestClaudeKilledInTurn(t *testing.T) {
	s := serve(t)
	_, claude := claudeIn(t, s)
	term, err := Start(claude("never finished @@HANG@@"), 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.AwaitHang(ctx); err != nil {
		t.Fatalf("%v; the screen:\n%s", err, term.Screen())
	}
	if err := term.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := term.Wait(); err == nil || err.Error() != "signal: killed" {
		t.Errorf("exited with %v", err)
	}
}
