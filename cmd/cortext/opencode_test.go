//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// opencode starts OpenCode in a terminal and waits until it accepts input.
func (s *stage) opencode(args ...string) *agenttest.Terminal {
	s.t.Helper()
	term := s.terminal("opencode", args...)
	s.wait(term, agenttest.OpenCodeReady)
	return term
}

// enter submits a text to OpenCode and waits for an answer, which must not be part of the
// text, and for the end of the turn. The space ends command completion.
func (s *stage) enter(term *agenttest.Terminal, text, answer string) {
	s.t.Helper()
	s.check(term.Submit(text+" ", patience))
	s.wait(term, answer)
	s.check(term.WaitForNot("interrupt", patience))
}

// exit ends OpenCode as a user does.
func (s *stage) exit(term *agenttest.Terminal) {
	s.t.Helper()
	s.check(term.Submit("/exit", patience))
	defer time.AfterFunc(patience, func() { term.Kill() }).Stop()
	if err := term.Wait(); err != nil {
		s.t.Fatalf("%v; the screen:\n%s", err, term.Screen())
	}
}

// bash scripts the model's answer to a text: a shell command, then text.
func (s *stage) bash(to, command, say string) {
	s.server.Script(to,
		agenttest.Step{Tools: []agenttest.ToolCall{{Name: "bash", Input: map[string]string{"command": command, "description": "x"}}}},
		agenttest.Step{Say: say})
}

// output returns the last tool result that the model got.
func (s *stage) output() string {
	s.t.Helper()
	main := s.server.Main()
	turns := main[len(main)-1].Turns()
	return turns[len(turns)-1].Text
}

// TestOpenCodeSession: without the plugin the model runs the /workspace commands with its
// shell tool. cortext finds the calling session in OpenCode's store and captures it from
// there.
func TestOpenCodeSession(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"opencode"}, "--commit", "stop")
	s.history("toolong", 300_000, append([]string{strings.Repeat("日本 @notes.md !`touch SHELL-RAN` ", 50)}, hostile...))
	printed := s.run("cortext", "resume", "toolong", "--print")
	s.bash("/workspace.brainstorm -->", "cortext current", "begun")
	s.bash("/workspace.stop-conversation -->", "cortext stop", "stopped")
	s.bash("\n2", "cortext resume --here 2", "gone over")
	s.bash("/workspace.resume -->", "cortext resume --here", "a choice")
	s.answers("plain turn", "answered")
	s.answers("in the long one", "longer")
	s.answers("the very last", "noted")
	s.answers("/workspace.plan -->", "planned")
	s.answers("/workspace.debug -->", "found it")

	const typed = "API  design `x` $1 $& $$ @bob bob@example.com"
	term := s.opencode()
	s.enter(term, "/workspace.brainstorm "+typed, "begun")
	if out := s.output(); !strings.Contains(out, "brainstorm") || !strings.Contains(out, "API design") || !strings.Contains(out, "active") {
		t.Errorf("cortext current: %s", out)
	}
	c := s.show("api design")
	s.once(c, "user: /workspace.brainstorm "+typed)
	if c.Session.Status != "active" || len(c.Session.Sources) != 1 {
		t.Errorf("status %s, sources %v", c.Session.Status, c.Session.Sources)
	}
	s.enter(term, "a plain turn, with @notes.md", "answered")
	s.enter(term, "/workspace.stop-conversation", "stopped")
	if out := s.output(); !strings.Contains(out, "Saved: API design") || !strings.Contains(out, "Summary: ") || !strings.Contains(out, "Committed to git") || !strings.Contains(out, "/workspace.resume") {
		t.Errorf("cortext stop: %s", out)
	}
	c = s.show("api design")
	want := []string{"user: /workspace.brainstorm " + typed, "assistant: begun", "user: a plain turn, with @notes.md", "assistant: answered", "user: /workspace.stop-conversation"}
	s.once(c, want...)
	if c.Session.Status != "paused" {
		t.Errorf("status %s", c.Session.Status)
	}
	if log := s.run("git", "log", "--format=%s"); !strings.HasPrefix(log, "[session] Pause: API design") || strings.Count(log, "\n") != 2 {
		t.Errorf("committed %q", log)
	}

	// A list, a number, and a conversation that does not fit.
	s.enter(term, "/workspace.resume", "a choice")
	list := regexp.MustCompile(`(?s)1\. brainstorm / API  ?design.* \(paused.*2\. brainstorm / toolong`)
	if said := s.output(); !list.MatchString(said) {
		t.Errorf("listed: %s", said)
	}
	s.enter(term, "/workspace.resume 2", "gone over")
	said := s.output()
	file := regexp.MustCompile(`is in the file (\S+\.md):`).FindStringSubmatch(said)
	if file == nil || !strings.Contains(said, "[END RESUMED CONTEXT]") || !strings.Contains(said, "~ history") || strings.Contains(said, "truncated") {
		t.Fatalf("what did not fit: %s", said)
	}
	whole, err := os.ReadFile(file[1])
	if err != nil || ago.ReplaceAllString(string(whole), "") != ago.ReplaceAllString(printed, "") {
		t.Errorf("the file has %d bytes, the payload %d: %v", len(whole), len(printed), err)
	}
	s.enter(term, "now in the long one", "longer")
	s.enter(term, "the very last", "noted")
	s.enter(term, "/workspace.plan the move", "planned")
	s.enter(term, "/workspace.debug the crash", "found it")
	s.exit(term)
	s.run("cortext", "sync")
	s.once(s.show("the move"), "user: /workspace.plan the move", "assistant: planned")
	s.once(s.show("the crash"), "user: /workspace.debug the crash", "assistant: found it")
	s.once(s.show("api design"), append(want, "assistant: stopped")...)
	s.once(s.show("toolong"), "user: /workspace.resume 2", "assistant: gone over", "user: now in the long one", "assistant: longer", "user: the very last", "assistant: noted")
	if out := s.run("cortext", "sync"); !strings.Contains(out, "0 new, 0 with new messages") {
		t.Errorf("a second sync: %s", out)
	}
	if n := len(s.sessions()); n != 4 {
		t.Errorf("%d conversations", n)
	}
	if _, err := os.Stat(filepath.Join(s.project, "SHELL-RAN")); err == nil {
		t.Error("something was run")
	}
	s.clean()
}
