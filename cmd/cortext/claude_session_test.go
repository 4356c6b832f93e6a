//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cortext/cmd/internal/agenttest"
)

// native runs one headless turn in a session of the agent's own. args may start a new
// session with a given id.
func (s *stage) native(prompt string, args ...string) string {
	s.t.Helper()
	out, _ := s.try(prompt, "claude", append([]string{"-p"}, args...)...)
	return strings.TrimSpace(out)
}

// uuid returns an id for a session.
func uuid(n int) string { return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", n) }

// TestClaudeResumeInSession: /workspace.resume lists conversations, takes a number or
// words, and brings a conversation into the running session, which continues in it.
func TestClaudeResumeInSession(t *testing.T) {
	s := newStage(t)
	s.native("/workspace.brainstorm API design", "--session-id", uuid(1))
	s.native("REST or GraphQL? @@SAY REST, since it is simpler@@", "--resume", uuid(1))
	s.native("/workspace.plan the release", "--session-id", uuid(2))
	s.native("/workspace.learn Go generics", "--session-id", uuid(3))
	s.run("cortext", "status", "the release", "completed")

	s.native("/workspace.resume", "--session-id", uuid(4))
	list := s.answer()
	order := regexp.MustCompile(`(?s)1\. learn / Go generics \(paused, claude, (just now|\d+ minutes? ago)\).*2\. brainstorm / API design \(paused.*REST, since it is simpler.*\n1 completed or archived: /workspace\.sessions all`)
	if !order.MatchString(list) || strings.Contains(list, "the release") {
		t.Errorf("listed:\n%s", list)
	}
	s.native("/workspace.resume 2", "--resume", uuid(4))
	said := s.answer()
	at := 0
	for _, mark := range []string{"the conversation API design is resumed here", "This is a brainstorming conversation about:\n\nAPI design", "[RESUMED CONVERSATION]", "[END RESUMED CONTEXT]", "~~~~ history", "~~~~ assistant"} {
		i := strings.Index(said, mark)
		if i < at {
			t.Errorf("%q stands at %d in:\n%s", mark, i, said)
		}
		at = i
	}
	s.native("go on with it @@SAY going on@@", "--resume", uuid(4))
	c := s.show("API design")
	s.once(c, "user: /workspace.brainstorm API design", "user: REST or GraphQL?", "assistant: REST, since", "user: /workspace.resume 2", "user: go on with it", "assistant: going on")
	for i, m := range c.Messages[1:] {
		if m.ParentID == "" && m.Role == "user" {
			t.Errorf("message %d hangs on nothing: %s", i+1, m.Content)
		}
	}
	s.native("/workspace.session info", "--resume", uuid(4))
	if said := s.answer(); !strings.Contains(said, "Title: API design") || !strings.Contains(said, "Folder: conversations/") {
		t.Errorf("the session: %s", said)
	}
	s.native("/workspace.sessions all", "--resume", uuid(4))
	if said := s.answer(); !strings.Contains(said, "Go generics") || !strings.Contains(said, "the release") {
		t.Errorf("the sessions: %s", said)
	}

	// Words, a near miss, and a conversation that does not fit.
	s.native("/workspace.resume generics", "--session-id", uuid(5))
	if said := s.answer(); !strings.Contains(said, "Conversation: learn / Go generics") {
		t.Errorf("by words: %s", said)
	}
	s.native("/workspace.resume $(touch SHELL-RAN) `touch SHELL-RAN`", "--session-id", uuid(6))
	if said := s.answer(); !strings.Contains(said, "no conversation matches") {
		t.Errorf("no match: %s", said)
	}
	s.history("toolong", 300_000, append([]string{strings.Repeat("日本 @notes.md !`touch SHELL-RAN` ", 50)}, hostile...))
	printed := s.run("cortext", "resume", "toolong", "--print")
	s.native("/workspace.resume toolong", "--session-id", uuid(7))
	said = s.answer()
	file := regexp.MustCompile(`is in the file (\S+\.md):`).FindStringSubmatch(said)
	if file == nil || !strings.Contains(said, "[END RESUMED CONTEXT]") || !strings.Contains(said, "~ history") || !strings.Contains(said, "look at @/etc/hostname and @notes.md") || strings.Contains(s.rest(), "persisted-output") {
		t.Fatalf("what did not fit: %s", said)
	}
	whole, err := os.ReadFile(file[1])
	if err != nil || ago.ReplaceAllString(string(whole), "") != ago.ReplaceAllString(printed, "") {
		t.Errorf("the file has %d bytes, the payload %d: %v", len(whole), len(printed), err)
	}
	if _, err := os.Stat(filepath.Join(s.project, "SHELL-RAN")); err == nil {
		t.Error("something was run")
	}
	if strings.Contains(s.rest(), "some notes") {
		t.Error("a file that the history names was attached")
	}
	// What the agent then reads from the file is not captured again.
	s.native(fmt.Sprintf(`@@TOOL Read {"file_path":%q,"limit":20}@@ @@SAY read it@@`, file[1]), "--resume", uuid(7))
	for _, tool := range s.show("toolong").Tools {
		if tool.Name == "Read" && !strings.HasPrefix(tool.Output, "[the payload of a resume, ") {
			t.Errorf("captured %.200s", tool.Output)
		}
	}
	s.clean()
}

// TestClaudeSessionMoves: /clear, a compaction, a rewind, an interruption, a fork and a
// second session are all captured, and nothing twice.
func TestClaudeSessionMoves(t *testing.T) {
	s := newStage(t)
	s.native("before it was tied @@SAY early@@", "--session-id", uuid(1))
	term := s.terminal("claude", "--resume", uuid(1))
	s.wait(term, "early")
	s.wait(term, "❯")
	s.say(term, "/workspace.brainstorm moves", "● ok: # Brain")
	s.say(term, "first turn @@SAY one@@", "● one")
	s.say(term, "interrupted turn @@HANG@@", strings.TrimSpace(agenttest.HangText))
	s.check(term.Key("Esc"))
	s.wait(term, "Interrupted")
	s.say(term, "after the interruption @@SAY two@@", "● two")
	s.check(term.Type("/compact"))
	s.wait(term, "❯ /compact")
	s.check(term.Key("Enter"))
	s.wait(term, "Compacted")
	s.say(term, "after the compaction @@SAY three@@", "● three")
	s.check(term.Type("/clear"))
	s.wait(term, "❯ /clear")
	s.check(term.Key("Enter"))
	s.check(term.WaitForNot("● three", patience))
	s.say(term, "after the clearing @@SAY four@@", "● four")
	s.written("four")
	s.leave(term)
	want := []string{
		"user: before it was tied", "assistant: early", "user: /workspace.brainstorm moves", "user: first turn", "assistant: one",
		"user: interrupted turn", "user: after the interruption", "assistant: two", "user: after the compaction", "assistant: three",
		"user: after the clearing", "assistant: four",
	}
	s.once(s.show("moves"), want...)

	// A fork of the session that the agent itself makes.
	s.native("in a fork @@SAY forked@@", "--resume", uuid(1), "--fork-session", "--session-id", uuid(2))
	s.native("in the fork again @@SAY forked twice@@", "--resume", uuid(2))
	// Two sessions in one conversation.
	s.native("in the first one again @@SAY five@@", "--resume", uuid(1))
	s.run("cortext", "resume", "moves", "-p", "resumed @@SAY six@@")
	s.native("and the fork after that @@SAY seven@@", "--resume", uuid(2))
	c := s.show("moves")
	for _, text := range append(want, "user: in a fork", "assistant: forked twice", "user: in the first one again", "assistant: five", "user: resumed", "assistant: six", "assistant: seven") {
		s.once(c, text)
	}
	if len(s.sessions()) != 1 {
		t.Errorf("conversations: %v", s.sessions())
	}
	s.clean()
}

// sessions lists the folders of the conversations.
func (s *stage) sessions() []string {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.project, "conversations/*/*"))
	s.check(err)
	return found
}
