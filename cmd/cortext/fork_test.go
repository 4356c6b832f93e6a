//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFork forks a conversation at a prompt and resumes the fork, in each agent: what is
// said there goes into the fork alone. Then another clone's turns become the newest branch
// of the old conversation, and what is said on the first branch follows its last message.
func TestFork(t *testing.T) {
	for _, p := range players() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := newStageFor(t, []string{p.name})
			s.calls("topic-of-it", p, "begun")
			s.play(p.begin(s, "workspace.brainstorm", "topic-of-it"))
			resume := func(args ...string) { s.run("cortext", append(append(args, "--"), p.args...)...) }
			s.calls("turn-1", p, "answer-1")
			resume("resume", "topic-of-it", "-p", "turn-1")
			old := s.show("topic-of-it")
			at := 1 + old.place("turn-1")

			s.calls("turn-2", p, "answer-2")
			resume("fork", old.Session.ID, "--at", fmt.Sprint(at), "--title", "another", "-p", "turn-2")
			if sent := s.sent(); !strings.Contains(sent, "begun") || strings.Contains(sent, "answer-1") {
				t.Errorf("the fork's payload is\n%s", sent)
			}
			forked := s.show("another")
			s.once(forked, "user: /workspace.brainstorm topic-of-it", "assistant: begun", "user: turn-2", "assistant: answer-2")
			if len(forked.Tools) != 2 || len(forked.Session.Sources) != 1 {
				t.Errorf("%d tools, sources %+v", len(forked.Tools), forked.Session.Sources)
			}
			s.unchanged(old)

			s.append(old, `{"id":"there-1","parent_id":%q,"timestamp":"2126-01-01T00:00:00.000Z","role":"user","content":"turn-there"}`, old.Messages[at-2].ID)
			s.append(old, `{"id":"there-2","parent_id":%q,"timestamp":"2126-01-01T00:00:01.000Z","role":"assistant","content":"answer-there"}`, "there-1")
			s.calls("turn-3", p, "answer-3")
			resume("resume", old.Session.ID, "--branch", "1", "-p", "turn-3")
			if sent := s.sent(); !strings.Contains(sent, "answer-1") || strings.Contains(sent, "answer-there") {
				t.Errorf("the branch's payload is\n%s", sent)
			}
			c := s.show(old.Session.ID)
			said := c.place("turn-3")
			if last := old.Messages[len(old.Messages)-1].ID; said < 0 || c.Messages[said].ParentID != last {
				t.Errorf("turn-3 does not follow %s: %+v", last, c.Messages)
			}
			s.run("cortext", "sync")
			if again := s.show("another"); len(again.Messages) != len(forked.Messages) {
				t.Errorf("the fork has %d messages, had %d", len(again.Messages), len(forked.Messages))
			}
			s.clean()
		})
	}
}

// place returns the index of the message with a content, or -1.
func (c shown) place(content string) int {
	for i, m := range c.Messages {
		if m.Content == content {
			return i
		}
	}
	return -1
}

// sent returns all texts of the last request to the model.
func (s *stage) sent() string {
	s.t.Helper()
	main := s.server.Main()
	if len(main) == 0 {
		s.t.Fatal("nothing was sent to the model")
	}
	var all strings.Builder
	for _, turn := range main[len(main)-1].Turns() {
		all.WriteString(turn.Text + "\n")
	}
	return all.String()
}

// unchanged checks that a conversation has the messages that it had.
func (s *stage) unchanged(before shown) {
	s.t.Helper()
	if now := s.show(before.Session.ID); len(now.Messages) != len(before.Messages) || now.Session.Status != "paused" {
		s.t.Errorf("%d messages, had %d; %s", len(now.Messages), len(before.Messages), now.Session.Status)
	}
}

// append adds a line to the messages of a conversation, as a merge does.
func (s *stage) append(c shown, line, parent string) {
	s.t.Helper()
	logs, err := filepath.Glob(filepath.Join(s.project, "conversations/*/*-"+c.Session.ID[len(c.Session.ID)-4:], ".session/messages.jsonl"))
	if err != nil || len(logs) != 1 {
		s.t.Fatal(logs, err)
	}
	f, err := os.OpenFile(logs[0], os.O_WRONLY|os.O_APPEND, 0)
	s.check(err)
	_, err = fmt.Fprintf(f, line+"\n", parent)
	s.check(err)
	s.check(f.Close())
}
