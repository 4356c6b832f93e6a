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

// gemini starts Gemini CLI in a terminal and waits until it accepts input.
func (s *stage) gemini(args ...string) *agenttest.Terminal {
	s.t.Helper()
	term := s.terminal("gemini", append([]string{"--approval-mode", "yolo"}, args...)...)
	s.wait(term, agenttest.GeminiReady)
	return term
}

// submit types a text into Gemini CLI and presses Enter. On a slow machine the completion
// list lags behind, and Enter takes its first entry; so the last character of a command
// is typed only when the list has caught up.
func (s *stage) submit(term *agenttest.Terminal, text string) {
	s.t.Helper()
	if strings.HasPrefix(text, "/") {
		last := len(text) - 1
		s.check(term.Type(text[:last]))
		s.wait(term, text[:min(last, 60)])
		time.Sleep(time.Second / 2)
		text = text[last:]
	}
	s.check(term.Submit(text, patience))
}

// ask submits a text to Gemini CLI, and waits for an answer and for the end of the turn
// with its hooks. Gemini CLI takes no command before that.
func (s *stage) ask(term *agenttest.Terminal, text, answer string) {
	s.t.Helper()
	s.submit(term, text)
	s.wait(term, "✦ "+answer)
	for s.stays(term, "(esc to cancel, ") {
	}
}

// stays reports whether a text stays on the screen long enough that it is neither about
// to go nor on a half-drawn screen.
func (s *stage) stays(term *agenttest.Terminal, text string) bool {
	s.t.Helper()
	for gone := 0; gone < 4; time.Sleep(40 * time.Millisecond) {
		if gone++; strings.Contains(term.Screen(), text) {
			if gone == 1 && term.WaitForNot(text, time.Second) != nil {
				return true
			}
			gone = 0
		}
	}
	return false
}

// empty clears Gemini CLI's context. Input before it has redrawn is lost.
func (s *stage) empty(term *agenttest.Terminal) {
	s.t.Helper()
	s.submit(term, "/clear")
	s.check(term.WaitForNot("✦", patience))
	s.stays(term, "Executing Hook")
	s.wait(term, agenttest.GeminiReady)
	time.Sleep(500 * time.Millisecond)
}

// kept waits until a hook has captured a message, and returns its conversation.
func (s *stage) kept(query, content string) (c shown) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		c = s.show(query)
		if n := len(c.Messages); n > 0 && strings.HasPrefix(c.Messages[n-1].Content, content) {
			return c
		}
		if time.Now().After(end) {
			s.t.Fatalf("%q was not captured: %+v", content, c.Messages)
		}
	}
}

// quit ends Gemini CLI as a user does.
func (s *stage) quit(term *agenttest.Terminal) {
	s.t.Helper()
	s.submit(term, "/quit")
	for again := 0; !term.Ended(patience / 3); again++ { // on a slow machine the completion list may have added a letter
		if again == 3 {
			s.t.Fatalf("Gemini CLI does not end; the screen:\n%s", term.Screen())
		}
		s.submit(term, "/quit")
	}
	if err := term.Wait(); err != nil {
		s.t.Fatalf("%v; the screen:\n%s", err, term.Screen())
	}
}

// answers scripts the model's answer to a text.
func (s *stage) answers(to, say string) { s.server.Script(to, agenttest.Step{Say: say}) }

// told returns what cortext added to the last prompt.
func (s *stage) told() string {
	s.t.Helper()
	main := s.server.Main()
	turns := main[len(main)-1].Turns()
	text := turns[len(turns)-1].Text
	i := strings.LastIndex(text, "<hook_context>")
	if i < 0 {
		return ""
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(text[i:])
}

// TestGeminiSession: a conversation started with a command in Gemini CLI is captured turn
// by turn, and the /workspace commands work as in Claude Code.
func TestGeminiSession(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"gemini"}, "--commit", "stop")
	s.history("toolong", 300_000, append([]string{strings.Repeat("日本 @notes.md !{touch SHELL-RAN} ", 50)}, hostile...))
	printed := s.run("cortext", "resume", "toolong", "--print")
	// On a busy machine Gemini CLI 0.61.0 may lose the output of a command that ends at
	// once: "Output: (empty)". So the command takes a moment.
	s.server.Script("look around",
		agenttest.Step{Say: "I look.", Tools: []agenttest.ToolCall{{Name: "run_shell_command", Input: map[string]string{"command": "echo from-the-tool; sleep 2", "description": "x"}}}},
		agenttest.Step{Say: "looked"})
	for _, line := range [][2]string{
		{"brainstorm API  design", "begun"}, {"workspace.sessions -->", "listed"}, {"resume toolong", "taken up"}, {"now in the long one", "longer"}, {"resume api design", "back"},
		{"workspace.resume -->", "which one"}, {"after the clearing", "still here"}, {"workspace.stop-conversation -->", "stopped"}, {"after the stop", "in the stopped one"}, {"after all", "not ours"},
	} {
		s.answers(line[0], line[1])
	}
	term := s.gemini()
	s.ask(term, "/workspace.brainstorm API  design $& {{args}} @notes.md bob@example.com, too", "begun")
	if said := s.told(); !strings.Contains(said, "From cortext: this conversation is kept in conversations/") {
		t.Errorf("the agent was told %q", said)
	}
	typed := "user: /workspace.brainstorm API  design $& {{args}} @notes.md bob@example.com, too"
	s.once(s.kept("api design", "begun"), typed, "assistant: begun")
	s.ask(term, "look around", "looked")
	s.once(s.kept("api design", "looked"), typed, "assistant: begun", "user: look around", "assistant: I look.", "assistant: looked")
	s.ask(term, "plain {{args}} @notes.md $& bob@example.com, you", "ok: --- End")
	c := s.kept("api design", "ok: --- End")
	s.once(c, typed, "user: look around", "user: plain {{args}} @notes.md $& bob@example.com, you", "assistant: ok: --- End")
	if len(c.Tools) != 1 || !strings.Contains(c.Tools[0].Output, "Output: from-the-tool\n") || c.Session.Status != "active" {
		t.Errorf("tools %v, status %s", c.Tools, c.Session.Status)
	}

	s.ask(term, "/workspace.sessions", "listed")
	if said := s.told(); !strings.Contains(said, "1. brainstorm / API design") || !strings.Contains(said, "2. brainstorm / toolong") {
		t.Errorf("the sessions: %s", said)
	}
	// A list, a number, and a conversation that does not fit.
	s.ask(term, "/workspace.resume", "which one")
	if said := s.told(); !regexp.MustCompile(`1\. brainstorm / API design .* \(active.*(?s:.*)2\. brainstorm / toolong`).MatchString(said) {
		t.Errorf("listed: %s", said)
	}
	s.ask(term, "/workspace.resume toolong", "taken up")
	said := s.told()
	file := regexp.MustCompile(`is in the file (\S+\.md):`).FindStringSubmatch(said)
	if file == nil || !strings.Contains(said, "[END RESUMED CONTEXT]") || !strings.Contains(said, "~ history") {
		t.Fatalf("what did not fit: %s", said)
	}
	whole, err := os.ReadFile(file[1])
	if err != nil || ago.ReplaceAllString(string(whole), "") != ago.ReplaceAllString(printed, "") {
		t.Errorf("the file has %d bytes, the payload %d: %v", len(whole), len(printed), err)
	}
	s.ask(term, "now in the long one", "longer")
	s.once(s.kept("toolong", "longer"), "user: /workspace.resume toolong", "user: now in the long one", "assistant: longer")
	s.ask(term, "/workspace.resume api design", "back")
	s.once(s.kept("api design", "back"), typed, "user: plain", "user: /workspace.resume api", "assistant: back")

	// After its context is cleared, the program continues in the conversation.
	s.empty(term)
	s.ask(term, "after the clearing", "still here")
	c = s.kept("api design", "still here")
	s.once(c, typed, "user: /workspace.resume api", "user: after the clearing", "assistant: still here")
	if n := len(c.Session.Sources); n != 3 {
		t.Errorf("%d sources", n)
	}
	s.ask(term, "/workspace.stop-conversation", "stopped")
	if said := s.told(); !strings.Contains(said, "From cortext: saved: API design") || !strings.Contains(said, "Summary: ") || !strings.Contains(said, "/workspace.resume") {
		t.Errorf("the agent was told %q", said)
	}
	c = s.kept("api design", "stopped")
	if c.Session.Status != "paused" {
		t.Errorf("status %s", c.Session.Status)
	}
	if committed := s.run("git", "show"); !strings.Contains(committed, "after the clearing") || !strings.Contains(committed, "/workspace.stop-conversation") || !strings.Contains(committed, `"stopped"`) {
		t.Errorf("committed without the end of it: %s", committed)
	}
	s.ask(term, "after the stop", "in the stopped one")
	s.kept("api design", "in the stopped one")
	s.empty(term)
	s.ask(term, "after all", "not ours")
	s.quit(term)
	if n := len(s.show("api design").Messages); n != len(c.Messages)+2 {
		t.Errorf("%d messages after the stop: %d", n, len(c.Messages))
	}
	if log := s.run("git", "log", "--format=%s"); !strings.HasPrefix(log, "[session] Pause: API design") || strings.Count(log, "\n") != 2 {
		t.Errorf("committed %q", log)
	}
	if _, err := os.Stat(filepath.Join(s.project, "SHELL-RAN")); err == nil {
		t.Error("something was run")
	}
	s.clean()
}
