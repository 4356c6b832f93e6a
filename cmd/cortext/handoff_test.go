//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cortext/cmd/internal/agenttest"
)

// A player drives one real agent without a terminal.
type player struct {
	name string
	tool string   // its tool for shell commands
	args []string // arguments after the -- of cortext resume that let the tool run without asking

	// begin runs a /workspace command in a new session.
	begin func(s *stage, command, arguments string) *exec.Cmd
}

// players returns the three agents.
func players() []player {
	return []player{
		{name: "claude", tool: "Bash", args: []string{"--allowedTools", "Bash"}, begin: func(s *stage, command, arguments string) *exec.Cmd {
			cmd := s.command("claude", "-p", "--allowedTools", "Bash")
			cmd.Stdin = strings.NewReader("/" + command + " " + arguments)
			return cmd
		}},
		{name: "opencode", tool: "bash", begin: func(s *stage, command, arguments string) *exec.Cmd {
			return s.command("opencode", append([]string{"run", "--command", command}, strings.Fields(arguments)...)...)
		}},
		{name: "gemini", tool: "run_shell_command", args: []string{"--approval-mode", "yolo"}, begin: func(s *stage, command, arguments string) *exec.Cmd {
			return s.command("gemini", "--approval-mode", "yolo", "-p", "/"+command+" "+arguments)
		}},
	}
}

// calls scripts the model's answer to a text: a call of the shell tool, then text.
func (s *stage) calls(to string, p player, say string) {
	s.server.Script(to,
		agenttest.Step{Say: "I look.", Tools: []agenttest.ToolCall{{Name: p.tool, Input: map[string]string{"command": "echo output-of-" + say + "; sleep 0.5", "description": "x"}}}},
		agenttest.Step{Say: say})
}

// play runs a command that must succeed.
func (s *stage) play(cmd *exec.Cmd) {
	s.t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
	}
}

// TestHandoff covers every pair of agents: started in one, stopped, continued in the
// other, stopped, and continued in the first, with a tool call in each. The result is one
// conversation with everything in it once.
func TestHandoff(t *testing.T) {
	for _, from := range players() {
		for _, to := range players() {
			t.Run(from.name+" to "+to.name, func(t *testing.T) {
				t.Parallel()
				names := []string{from.name}
				if to.name != from.name {
					names = append(names, to.name)
				}
				s := newStageFor(t, names)
				s.calls("topic-of-it", from, "begun")
				s.play(from.begin(s, "workspace.brainstorm", "topic-of-it"))
				s.run("cortext", "stop", "topic-of-it")
				s.once(s.show("topic-of-it"), "user: /workspace.brainstorm topic-of-it", "assistant: begun")
				for i, p := range []player{to, from} {
					text, say := fmt.Sprintf("turn-%d in %s", i, p.name), fmt.Sprintf("answer-%d", i)
					s.calls(text, p, say)
					printed := s.run("cortext", "resume", "topic-of-it", "--agent", p.name, "--print")
					asked := len(s.server.Main())
					s.run("cortext", append([]string{"resume", "topic-of-it", "--agent", p.name, "-p", text, "--"}, p.args...)...)
					s.wasPayload(asked, printed)
					s.run("cortext", "stop", "topic-of-it")
				}
				c := s.show("topic-of-it")
				s.once(c, "user: /workspace.brainstorm topic-of-it", "assistant: begun", "user: turn-0", "assistant: answer-0", "user: turn-1", "assistant: answer-1")
				if len(c.Tools) != 3 || c.Session.MessageCount != 9 {
					t.Errorf("%d tools, %d messages: %+v", len(c.Tools), c.Session.MessageCount, c.Messages)
				}
				for i, tool := range c.Tools {
					if want := []string{"begun", "answer-0", "answer-1"}[i]; !strings.Contains(tool.Output, "output-of-"+want) {
						t.Errorf("tool %d has the output %q", i, tool.Output)
					}
				}
				s.clean()
			})
		}
	}
}

// TestRounds: after ten handoffs among the three agents nothing is duplicated or missing,
// and calls keep their results.
func TestRounds(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"claude", "opencode", "gemini"})
	claude, opencode, gemini := players()[0], players()[1], players()[2]
	s.calls("the-release", claude, "begun")
	s.play(claude.begin(s, "workspace.plan", "the-release"))
	want := []string{"user: /workspace.plan the-release", "assistant: begun"}
	// The next launch removes what a killed launch left behind.
	s.check(os.MkdirAll(filepath.Join(s.project, ".workspace/local/cache/launch"), 0o700))
	s.write(".workspace/local/cache/launch/dead.jsonl", "{}\n")
	for i, p := range []player{gemini, opencode, claude, claude, opencode, opencode, gemini, gemini, claude, opencode} {
		text, say := fmt.Sprintf("round-%d-begins", i), fmt.Sprintf("round-%d-ends", i)
		s.calls(text, p, say)
		s.run("cortext", append([]string{"resume", "the-release", "--agent", p.name, "-p", text, "--"}, p.args...)...)
		if i%3 == 0 {
			s.run("cortext", "stop", "the-release")
		}
		want = append(want, "user: "+text, "assistant: "+say)
	}
	s.run("cortext", "sync")
	c := s.show("the-release")
	s.once(c, want...)
	if len(c.Tools) != 11 || c.Session.MessageCount != 33 || len(c.Session.Sources) != 11 {
		t.Errorf("%d tools, %d messages, %d sources", len(c.Tools), c.Session.MessageCount, len(c.Session.Sources))
	}
	for i, tool := range c.Tools {
		if say := strings.TrimPrefix(want[2*i+1], "assistant: "); !strings.Contains(tool.Output, "output-of-"+say) {
			t.Errorf("tool %d has the output %q", i, tool.Output)
		}
	}
	s.clean()
}
