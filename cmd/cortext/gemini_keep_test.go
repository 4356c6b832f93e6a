//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cortext/cmd/internal/agenttest"
)

// later sets the clock of a Node.js program two minutes ahead.
const later = `const D = Date, now = () => D.now() + 120000
global.Date = new Proxy(D, {
  construct: (_, args) => args.length ? new D(...args) : new D(now()),
  get: (_, name) => name === "now" ? now : Reflect.get(D, name),
})
`

// headless returns one turn of Gemini CLI without a terminal.
func (s *stage) headless(args ...string) *exec.Cmd {
	return s.command("gemini", append([]string{"--approval-mode", "yolo"}, args...)...)
}

// headlessLater is headless in a later minute, in which the program gives its session
// files different names.
func (s *stage) headlessLater(args ...string) *exec.Cmd {
	s.t.Helper()
	file := filepath.Join(s.home.Dir, "later.js")
	s.check(os.WriteFile(file, []byte(later), 0o600))
	cmd := s.headless(args...)
	cmd.Env = append(slices.Clone(cmd.Env), "NODE_OPTIONS=--require="+file)
	return cmd
}

// nativeOf returns the id of the session that a conversation was last captured from.
func (s *stage) nativeOf(query string) string {
	s.t.Helper()
	sources := s.show(query).Session.Sources
	return sources[len(sources)-1].NativeID
}

// TestGeminiKept: Gemini CLI deletes a session that the user resumed without cortext, but
// the conversation keeps all of it. Gemini CLI does not delete a session that cortext
// launched, even if it is killed in the middle of a turn.
func TestGeminiKept(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"gemini"})
	settings := filepath.Join(s.project, ".gemini/settings.json")
	hooks, err := os.ReadFile(settings)
	s.check(err)
	home := filepath.Join(s.home.Dir, ".gemini/settings.json")
	all, err := os.ReadFile(home)
	s.check(err)
	s.answers("brainstorm lost", "begun")

	// Without hooks: files that the program itself leaves make it delete the session.
	s.play(s.headless("-p", "/workspace.brainstorm lost"))
	s.check(os.WriteFile(settings, []byte("{}"), 0o600))
	s.check(os.WriteFile(home, []byte(regexp.MustCompile("cortext.hook").ReplaceAllString(string(all), "true")), 0o600))
	s.play(s.headlessLater("--resume", s.nativeOf("lost"), "-p", "the second @@SAY two@@"))
	if n := len(s.chats()); n != 2 {
		t.Fatalf("the program leaves no empty session any more: %v", s.chats())
	}
	s.run("cortext", "sync")
	s.play(s.headless("-p", "something else"))
	if list := fmt.Sprint(s.chats()); strings.Contains(list, s.nativeOf("lost")[:8]) {
		t.Fatalf("the program does not delete the session any more: %s", list)
	}
	s.run("cortext", "sync")
	s.once(s.show("lost"), "user: /workspace.brainstorm lost", "assistant: begun", "user: the second", "assistant: two")
	if list := s.sessions(); len(list) != 2 { // sync captures the other session, too
		t.Errorf("conversations: %v", list)
	}
	// Launched, and killed before the first message: nothing remains, as without hooks.
	before := s.chats()
	s.check(s.resumed("lost").Kill())
	s.run("cortext", "sync")
	if c := s.show("lost"); !slices.Equal(s.chats(), before) || len(c.Session.Sources) != 1 || c.Session.Status != "paused" || len(c.Messages) != 4 {
		t.Errorf("killed without hooks: %v, not %v; %+v", s.chats(), before, c.Session)
	}
	s.check(os.WriteFile(settings, hooks, 0o600))
	s.check(os.WriteFile(home, all, 0o600))
	s.check(s.resumed("lost").Kill())
	s.run("cortext", "resume", "lost", "--agent", "gemini", "-p", "the third @@SAY three@@")
	if c := s.show("lost"); len(s.chats()) != len(before)+1 || len(c.Session.Sources) != 2 {
		t.Errorf("killed: %v, not one more than %v; %+v", s.chats(), before, c.Session)
	}

	// With hooks, the same: nothing is deleted, including the running session.
	s.play(s.headlessLater("--resume", s.nativeOf("lost"), "-p", "the fourth @@SAY four@@"))
	first := s.nativeOf("lost")
	term := s.resumed("lost")
	s.ask(term, "the fifth @@SAY five@@ turn", "five")
	s.play(s.headless("-p", "something else again"))
	if list := fmt.Sprint(s.chats()); !strings.Contains(list, first[:8]) || !strings.Contains(list, s.nativeOf("lost")[:8]) {
		t.Errorf("the program has deleted what we launched: %s", list)
	}

	// Killed in the middle of a turn.
	s.check(term.Submit(`the sixth @@TOOL run_shell_command {"command":"echo tooled","description":"x"}@@ @@HANG@@ turn`, patience))
	s.wait(term, "✦ "+strings.TrimSpace(agenttest.HangText))
	s.check(term.Kill())
	s.play(s.headlessLater("-p", "something else at last"))
	c := s.show("lost")
	s.once(c, "user: /workspace.brainstorm lost", "assistant: begun", "user: the second", "assistant: two", "user: the third", "assistant: three", "user: the fourth", "assistant: four",
		"user: the fifth", "assistant: five", "user: the sixth", "assistant: I will call")
	if len(c.Tools) != 1 || !strings.Contains(c.Tools[0].Output, "tooled") {
		t.Errorf("tools: %+v", c.Tools)
	}
	if list := fmt.Sprint(s.chats()); !strings.Contains(list, s.nativeOf("lost")[:8]) {
		t.Errorf("the program has deleted what we launched: %s", list)
	}
	s.run("cortext", "sync")
	s.once(s.show("lost"), "user: the sixth", "assistant: I will call")
	s.run("git", "checkout", "-q", ".gemini")
	s.clean()
}

// TestGeminiSubfolder: if Gemini CLI is started below the workspace, it does not see the
// commands. It gets their text instead, and the conversation begins.
func TestGeminiSubfolder(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"gemini"}, "--commit", "stop")
	s.write(".workspace/commands/retro.md", "---\ndescription: look back\n---\nA retrospective of: $ARGUMENTS\n\nWhat went <well> & what not? !{touch SHELL-RAN}\n")
	s.run("git", "add", "-A")
	s.run("git", "commit", "-qm", "retro")
	sub := filepath.Join(s.project, "sub/deeper")
	s.check(os.MkdirAll(sub, 0o755))

	cmd := s.headless("-p", "/workspace.retro  the  $& sprint")
	cmd.Dir = sub
	s.play(cmd)
	if said := s.told(); !strings.Contains(said, "A retrospective of: the  $& sprint\n\nWhat went <well> & what not? !{touch SHELL-RAN}") || !strings.Contains(said, "From cortext: this conversation is kept in conversations/") {
		t.Errorf("the agent was told %s", said)
	}
	c := s.show("sprint")
	s.once(c, "user: /workspace.retro  the  $& sprint", "assistant: ok: /workspace.retro")
	if c.Session.Status != "paused" {
		t.Errorf("status %s", c.Session.Status)
	}

	// Its shell tool hides the git configuration from the commands it runs.
	term, err := agenttest.Start(s.below(sub), 120, 40)
	s.check(err)
	t.Cleanup(func() { term.Close() })
	s.wait(term, agenttest.GeminiReady)
	s.ask(term, "/workspace.brainstorm topic", "ok: /workspace.brain")
	if said := s.told(); !strings.Contains(said, "This is a brainstorming conversation about:\n\ntopic") || !strings.Contains(said, "From cortext: this conversation is kept in conversations/") {
		t.Errorf("the agent was told %s", said)
	}
	s.once(s.kept("topic", "ok: /workspace.brain"), "user: /workspace.brainstorm topic")
	s.server.Script("stop it",
		agenttest.Step{Tools: []agenttest.ToolCall{{Name: "run_shell_command", Input: map[string]string{"command": "cortext stop; git config user.name; sleep 0.5", "description": "x"}}}},
		agenttest.Step{Say: "it is stopped"})
	s.ask(term, "stop it", "it is stopped")
	c = s.kept("topic", "it is stopped")
	if len(c.Tools) != 1 || !strings.Contains(c.Tools[0].Output, "Saved: topic") || !strings.Contains(c.Tools[0].Output, "Committed to git") || strings.Contains(c.Tools[0].Output, "Test Person") || c.Session.Status != "paused" {
		t.Errorf("%+v, %s", c.Tools, c.Session.Status)
	}
	if log := s.run("git", "log", "--format=%s %an", "-n1"); !strings.HasPrefix(log, "[session] Pause: topic") || !strings.HasSuffix(log, "Test Person\n") {
		t.Errorf("committed %q", log)
	}
	s.ask(term, "/workspace.stop-conversation", "ok: /workspace.stop")
	if said := s.told(); !strings.Contains(said, "From cortext: saved: topic") {
		t.Errorf("the agent was told %s", said)
	}
	s.quit(term)
	s.once(s.show("topic"), "user: /workspace.brainstorm topic", "user: stop it", "user: /workspace.stop-conversation")
	if _, err := os.Stat(filepath.Join(sub, "SHELL-RAN")); err == nil {
		t.Error("something was run")
	}
	s.clean()
}

// below returns Gemini CLI in a folder below the project.
func (s *stage) below(dir string) *exec.Cmd {
	cmd := s.headless()
	cmd.Dir = dir
	return cmd
}
