//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// ago is the only part of a payload that changes over time.
var ago = regexp.MustCompile(`(?m)^Last active: .*$`)

// opening is the first line of the history.
var opening = regexp.MustCompile(`(?m)^~{4,} history\n`)

// isPayload checks that the payload the agent sent is the one --print wrote, with
// command, block and history, each once and in this order.
func (s *stage) isPayload(printed string) {
	s.t.Helper()
	s.isText(s.payload(), printed)
}

// wasPayload is isPayload for the request after the first after requests.
func (s *stage) wasPayload(after int, printed string) {
	s.t.Helper()
	main := s.server.Main()
	if len(main) <= after {
		s.t.Fatal("nothing was sent to the model")
	}
	for _, turn := range main[after].Turns() {
		if turn.Role != "user" || !strings.Contains(turn.Text, "[RESUMED CONVERSATION]") {
			continue
		}
		// In the same turn an agent may put its own context before the payload, and the
		// user's text after it.
		got, want := ago.ReplaceAllString(turn.Text, ""), ago.ReplaceAllString(printed, "")
		if strings.Count(got, want) == 1 {
			got = want
		}
		s.isText(got, printed)
		return
	}
	s.t.Fatalf("no turn holds the payload: %+v", main[after].Turns())
}

func (s *stage) isText(got, printed string) {
	s.t.Helper()
	if ago.ReplaceAllString(got, "") != ago.ReplaceAllString(printed, "") {
		s.t.Errorf("the agent sent %d bytes, --print had written %d:\n%.1500s\n…\n%s", len(got), len(printed), got, got[max(0, len(got)-500):])
	}
	fence := opening.FindStringIndex(got)
	if fence == nil {
		s.t.Fatalf("there is no history in %.1000s", got)
	}
	front, at := "\n"+got[:fence[0]], -1
	for _, mark := range []string{"\nThis is a brainstorming conversation", "\n[RESUMED CONVERSATION]\n", "\n[END RESUMED CONTEXT]\n"} {
		i := strings.Index(front, mark)
		if i < at || strings.Count(front, mark) != 1 {
			s.t.Errorf("%q stands at %d, %d times", mark, i, strings.Count(front, mark))
		}
		at = i
	}
	if run := strings.TrimSpace(strings.TrimSuffix(got[fence[0]:fence[1]], "history\n")); strings.Count(got, run+"\n") != 1 {
		s.t.Errorf("the fence %s is closed %d times", run, strings.Count(got, run+"\n"))
	}
}

// TestClaude covers the whole life: begun with a command, captured automatically,
// stopped, killed in the middle of a turn, resumed in a terminal and without one.
func TestClaude(t *testing.T) {
	s := newStage(t, "--commit", "stop")
	term := s.terminal("claude", "--allowedTools", "Bash")
	s.wait(term, "❯")
	s.say(term, "/workspace.brainstorm API design", "● ok: # Brain")
	s.say(term, `look @@TOOL Bash {"command":"echo from-the-tool","description":"x"}@@ @@SAY looked@@`, "● looked")
	s.say(term, "third turn @@SAY REST it is@@", "● REST it is")
	s.say(term, "/workspace.stop-conversation", "● ok: # Stop")
	c := s.show("api design")
	s.once(c, "user: /workspace.brainstorm API design", "user: look @@TOOL", "assistant: looked", "user: third turn", "assistant: REST it is")
	if len(c.Tools) != 1 || c.Tools[0].Output != "from-the-tool" || c.Session.Status != "paused" {
		t.Errorf("tools %v, status %s", c.Tools, c.Session.Status)
	}
	if !strings.Contains(s.answer(), "From cortext: saved: API design") || !strings.Contains(s.answer(), "/workspace.resume") {
		t.Errorf("the agent was told %q", s.answer())
	}
	s.say(term, "fourth turn @@HANG@@", strings.TrimSpace(agenttest.HangText))
	s.check(term.Kill())
	_ = term.Wait()
	if out := s.run("git", "log", "--format=%B", "-n1"); !strings.HasPrefix(out, "[session] Pause: API design\n\n") || !strings.Contains(out, "\nCortext-Messages: 1-9\n") {
		t.Errorf("committed %q", out)
	}

	term = s.terminal("cortext", "resume", "api design")
	s.opened(term, "API design")
	asked := len(s.server.Main())
	s.wait(term, "❯")
	printed := s.run("cortext", "resume", "api design", "--print")
	if n := len(s.server.Main()); n != asked {
		t.Fatal("something was sent to the model before the user typed")
	}
	s.say(term, "in the terminal @@SAY here I am@@", "● here I am")
	s.isPayload(printed)
	s.unsent()
	s.written("here I am")
	s.leave(term)
	s.wait(term, "Saved: API design (paused, ")
	s.once(s.show("api design"), "user: third turn", "assistant: REST it is", "user: fourth turn", "user: in the terminal", "assistant: here I am")

	s.write(".workspace/commands/brainstorm.md", "---\ndescription: x\n---\nThis is a brainstorming conversation of another kind: $ARGUMENTS\n")
	printed = s.run("cortext", "resume", "api design", "--print")
	_, warned := s.try("", "cortext", "resume", "api design", "-p", "headless @@SAY of course@@")
	if !strings.Contains(warned, "has changed since this conversation began") {
		t.Errorf("warned of %q", warned)
	}
	s.isPayload(printed)
	if !strings.Contains(s.payload(), "of another kind: API design") {
		t.Error("the command is not the current one")
	}
	s.once(s.show("api design"), "user: third turn", "user: fourth turn", "user: in the terminal", "assistant: here I am", "user: headless", "assistant: of course")
	s.run("git", "checkout", "-q", ".workspace")

	term = s.terminal("claude")
	s.wait(term, "❯")
	s.say(term, "/workspace.plan the release @@SAY planned@@", "● planned")
	s.say(term, "last words @@HANG@@", strings.TrimSpace(agenttest.HangText))
	s.check(term.Kill())
	_ = term.Wait()
	s.run("cortext", "sync")
	s.once(s.show("the release"), "user: /workspace.plan the release", "assistant: planned", "user: last words")
	s.clean()
}

// TestClaudeRef: with commit: ref, a stop in Claude Code commits the conversation to the ref
// of the clone, and touches neither the branch nor what git status shows.
func TestClaudeRef(t *testing.T) {
	t.Parallel()
	s := newStage(t, "--commit", "ref")
	branch := s.run("git", "rev-parse", "HEAD")
	term := s.terminal("claude")
	s.wait(term, "❯")
	s.say(term, "/workspace.brainstorm API design", "● ok: # Brain")
	s.say(term, "second turn @@SAY so it is@@", "● so it is")
	s.say(term, "/workspace.stop-conversation", "● ok: # Stop")
	if said := s.answer(); !strings.Contains(said, "From cortext: saved: API design") {
		t.Errorf("the agent was told %q", said)
	}
	s.leave(term)
	// The hook commits after the answer, even if the user leaves at once.
	for end := time.Now().Add(patience); s.run("git", "for-each-ref", "refs/cortext/own") == ""; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the stop committed nothing")
		}
	}
	if out := s.run("git", "log", "--format=%B", "-n1", "refs/cortext/own"); !strings.HasPrefix(out, "[session] Pause: API design\n\n") || !strings.Contains(out, "\nCortext-Messages: 1-") {
		t.Errorf("committed %q", out)
	}
	files := s.run("git", "ls-tree", "-r", "--name-only", "refs/cortext/own")
	log := regexp.MustCompile(`.*/\.session/messages\.jsonl`).FindString(files)
	if out := s.run("git", "show", "refs/cortext/own:"+log); !strings.Contains(out, `"so it is"`) {
		t.Errorf("committed %s", out)
	}
	if now := s.run("git", "rev-parse", "HEAD"); now != branch {
		t.Errorf("the branch moved to %s", now)
	}
	if out := s.run("git", "status", "--short"); out != "" {
		t.Errorf("git status shows %s", out)
	}
	s.clean()
}

// answer returns what cortext added to the last prompt.
func (s *stage) answer() string {
	s.t.Helper()
	main := s.server.Main()
	for _, turn := range slices.Backward(main[len(main)-1].Turns()) {
		if i := strings.LastIndex(turn.Text, "From cortext: "); i >= 0 && turn.Role == "system" {
			return turn.Text[i:]
		}
	}
	return ""
}

// TestClaudeStatusLine: the program shows the user's own status line and ours below it, and
// ours says that a turn is saved.
func TestClaudeStatusLine(t *testing.T) {
	s := newStage(t, "--status-line")
	s.check(os.MkdirAll(filepath.Join(s.home.Dir, ".claude"), 0o700))
	file := filepath.Join(s.home.Dir, ".claude", "settings.json")
	s.check(os.WriteFile(file, []byte(`{"statusLine": {"type": "command", "command": "cat > $HOME/status-input; echo the line of mine"}}`), 0o600))
	term := s.terminal("claude")
	s.wait(term, "no conversation: /workspace.chat starts one")
	s.wait(term, "the line of mine")
	s.say(term, "/workspace.brainstorm API design", "● ok: # Brain")
	s.wait(term, "API design · 1 turn since stop · saved · ")
	s.leave(term)
	input, err := os.ReadFile(filepath.Join(s.home.Dir, "status-input"))
	s.check(err)
	for _, member := range []string{`"session_id":"`, `"transcript_path":"`, `"project_dir":"`, `"context_window_size":`} {
		if !strings.Contains(string(input), member) {
			t.Errorf("the program's input lacks %s: %s", member, input)
		}
	}
	s.clean()
}
