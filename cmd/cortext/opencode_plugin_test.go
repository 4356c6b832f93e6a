//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestOpenCodePlugin: with the plugin a conversation is captured turn by turn, and
// cortext's answer to a command is shown with it.
func TestOpenCodePlugin(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"opencode"}, "--commit", "stop", "--plugin")
	s.answers("From cortext: this conversation is kept in conversations/", "begun")
	s.answers("From cortext: the conversations, ", "listed")
	s.answers("From cortext: saved: API", "halted")
	s.bash("look around", "cortext current", "looked")
	const typed = "API  design `x` $1 $& $$ @bob bob@example.com"
	term := s.opencode()
	s.enter(term, "/workspace.brainstorm "+typed, "begun")
	if said := s.output(); !strings.Contains(said, "From cortext: this conversation is kept in conversations/") {
		t.Errorf("the agent was told %q", said)
	}
	s.once(s.kept("api design", "begun"), "user: /workspace.brainstorm "+typed, "assistant: begun")
	s.enter(term, "look around", "looked")
	c := s.kept("api design", "looked")
	if len(c.Tools) != 1 || !strings.Contains(c.Tools[0].Output, "API design") || c.Session.Status != "active" {
		t.Errorf("tools %v, status %s", c.Tools, c.Session.Status)
	}
	s.enter(term, "/workspace.sessions", "listed")
	if said := s.output(); !strings.Contains(said, "1. brainstorm / API") {
		t.Errorf("the sessions: %s", said)
	}
	s.enter(term, "/workspace.stop-conversation", "halted")
	if said := s.output(); !strings.Contains(said, "From cortext: saved: API") || !strings.Contains(said, "Summary: ") {
		t.Errorf("the agent was told %q", said)
	}
	c = s.kept("api design", "halted")
	s.once(c, "user: /workspace.brainstorm "+typed, "assistant: begun", "user: look around", "assistant: looked", "user: /workspace.sessions", "assistant: listed", "user: /workspace.stop-conversation", "assistant: halted")
	if c.Session.Status != "paused" || c.Session.MessageCount != 9 {
		t.Errorf("status %s, %d messages", c.Session.Status, c.Session.MessageCount)
	}
	s.exit(term)
	if log := s.run("git", "log", "--format=%B", "-n1"); !strings.HasPrefix(log, "[session] Pause: API design x $1 $& $$ @bob bob@example.com\n\n") || !strings.Contains(log, "\nCortext-Messages: 1-9\n") {
		t.Errorf("committed %q", log)
	}
	s.clean()
}
