//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"
)

// ordinary tests a session that starts without a command, with capture: all. ask submits
// a text and waits for the answer; told returns what cortext added to the last one.
func (s *stage) ordinary(ask func(text, answer string), told func() string) {
	s.t.Helper()
	for _, line := range [][2]string{
		{"why is the sky blue", "because of scattering"}, {"and the sea", "it mirrors the sky"},
		{"# Plan", "which plan"}, {"an observatory on the hill", "a dome first"}, {"# Stop", "stopped"},
	} {
		s.answers(line[0], line[1])
	}
	s.run("sed", "-i", "s/^capture: .*/capture: all/", ".workspace/config.yaml")
	s.run("git", "commit", "-qam", "capture: all")
	ask("why is the sky blue", "because of scattering")
	s.captured("because of scattering")
	c := s.kept("sky", "because of scattering")
	s.once(c, "user: why is the sky blue", "assistant: because of scattering")
	ask("and the sea", "it mirrors the sky")
	s.kept("sky", "it mirrors the sky")
	if out := s.run("cortext", "list"); !regexp.MustCompile(`(?m)^\w{4}  .*  active  .*  chat  why is the sky blue$`).MatchString(out) {
		s.t.Errorf("an ordinary session is %s", out)
	}
	if said := told(); said != "" {
		s.t.Errorf("in an ordinary session the agent was told %q", said)
	}

	ask("/workspace.plan", "which plan")
	s.captured("which plan")
	ask("an observatory on the hill", "a dome first")
	if said := told(); !regexp.MustCompile(`From cortext: the folder of this conversation is now conversations/\S+-plan-an-observatory-on-the-hill-\w{4}\.`).MatchString(said) {
		s.t.Errorf("of its name the agent was told %q", said)
	}
	s.captured("a dome first")
	c = s.kept("observatory", "a dome first")
	s.once(c, "user: /workspace.plan", "assistant: which plan", "user: an observatory on the hill", "assistant: a dome first")
	ask("/workspace.stop-conversation", "stopped")
	s.kept("observatory", "stopped")
	c = s.show("sky")
	s.once(c, "user: why is the sky blue", "user: and the sea", "assistant: it mirrors the sky")
	if out := s.run("cortext", "list"); strings.Count(out, "\n") != 2 || strings.Count(out, "paused") != 2 {
		s.t.Errorf("the conversations: %s", out)
	}
	s.clean()
}

func TestClaudeOrdinary(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	term := s.terminal("claude")
	s.wait(term, "❯")
	s.ordinary(func(text, answer string) { s.say(term, text, "● "+answer) }, s.answer)
	s.leave(term)
}

func TestGeminiOrdinary(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"gemini"})
	term := s.gemini()
	s.ordinary(func(text, answer string) { s.ask(term, text, answer) }, s.told)
	s.quit(term)
}
