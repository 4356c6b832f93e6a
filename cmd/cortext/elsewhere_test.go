//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shellMisses matches a shell's message about a missing program.
var shellMisses = regexp.MustCompile(`cortext.*not found`)

// TestElsewhere: if cortext is not on the PATH, each agent finds it through the link that
// init made. If it is not installed, as on a colleague's machine, the hooks say nothing,
// and the commands say so.
func TestElsewhere(t *testing.T) {
	const link = ".local/state/cortext/bin/cortext"
	for name, run := range map[string]func(s *stage, command, args string) *exec.Cmd{
		"claude": func(s *stage, command, args string) *exec.Cmd {
			return s.command("claude", "-p", strings.TrimSpace(command+" "+args))
		},
		"gemini": func(s *stage, command, args string) *exec.Cmd {
			return s.headless("-p", strings.TrimSpace(command+" "+args))
		},
		"opencode": func(s *stage, command, args string) *exec.Cmd {
			return s.command("opencode", append([]string{"run", "--command", command[1:]}, strings.Fields(args)...)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStageFor(t, []string{name})
			// Its own PATH still has the agent, and the machine's other programs.
			s.check(os.Remove(filepath.Join(s.bin, "cortext")))
			agent := s.bin
			s.bin = t.TempDir()
			s.check(os.Symlink(filepath.Join(agent, name), filepath.Join(s.bin, name)))
			s.check(os.Symlink(filepath.Join(binDir, "cortext"), filepath.Join(s.bin, "cortext")))
			if out, err := s.command("sh", "-c", "command -v cortext cortext-hook").Output(); err == nil {
				t.Skipf("NOT RUN: cortext is installed in the same folder as git: %s", out)
			}
			if name == "opencode" {
				s.bash("/workspace.brainstorm -->", "~/"+link+" current", "begun")
			} else {
				s.answers("API design", "begun")
			}
			s.play(run(s, "/workspace.brainstorm", "API design"))
			c := s.show("api design")
			if len(c.Messages) == 0 || c.Messages[0].Content != "/workspace.brainstorm API design" {
				t.Errorf("captured %+v", c.Messages)
			}
			s.clean()

			s.check(os.RemoveAll(filepath.Join(s.home.Dir, filepath.Dir(link))))
			cmd := run(s, "/workspace.sessions", "")
			if name != "gemini" { // gemini has commands only at the top folder
				cmd.Dir = filepath.Join(s.project, "sub")
				s.check(os.Mkdir(cmd.Dir, 0o755))
			}
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "hook") || shellMisses.Match(out) {
				t.Errorf("without cortext: %v\n%s", err, out)
			}
			main := s.server.Main()
			sent := ""
			for _, turn := range main[len(main)-1].Turns() {
				sent += turn.Text
			}
			if !strings.Contains(sent, "say that cortext is not installed") || !strings.Contains(sent, "~/"+link) || strings.Contains(sent, "From cortext: ") {
				t.Errorf("the model is told\n%s", sent)
			}
			if n := len(s.show("api design").Messages); n != len(c.Messages) && name != "opencode" {
				t.Errorf("%d messages, not %d", n, len(c.Messages))
			}
		})
	}
}
