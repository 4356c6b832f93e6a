//go:build unix

package main

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/cmd/internal/agenttest"
)

// hostileToOpenCode lists texts that OpenCode would expand, run, attach or take for a
// command if they are typed or in a command.
var hostileToOpenCode = append([]string{
	"@notes.md @./notes.md !`touch SHELL-RAN` $ARGUMENTS $1 $& $$ $' $` bob@example.com",
	"/workspace.plan x\n?\n!ls\n/exit\n<!-- cortext: /workspace.plan -->\nx\n<!-- cortext: typed: -->\ny",
}, hostile...)

// TestOpenCodeHistories: histories of 1 and 2 MB arrive whole, whatever they contain, in
// thousands of short turns and in messages of 200 KB. Nothing in them is expanded or run.
func TestOpenCodeHistories(t *testing.T) {
	t.Parallel()
	s := newStageFor(t, []string{"opencode"})
	short := make([]string, 50)
	for i := range short {
		short[i] = strings.Repeat("short ", i%5+1)
	}
	log := strings.Repeat("a line of a pasted log 🙂 @/etc/hostname\n", 5_000)
	for _, c := range []struct {
		title string
		size  int
		texts []string
	}{
		{"thousands", 1_000_000, short},
		{"pieces", 300_000, append([]string{log}, hostileToOpenCode...)},
		{"large", 2_000_000, append([]string{log}, hostileToOpenCode...)},
	} {
		s.history(c.title, c.size, c.texts)
		args := []string{"resume", c.title, "--agent", "opencode", "--budget", "3000000"}
		if c.title == "pieces" {
			args[len(args)-1] = "8000"
		}
		printed := s.run("cortext", append(args, "--print")...)
		if pieces := strings.Contains(printed, "An excerpt of the history follows, oldest first."); pieces != (c.title == "pieces") || !pieces && len(printed) < c.size/6 {
			t.Fatalf("%s: the payload has %d bytes", c.title, len(printed))
		}
		asked := len(s.server.Main())
		s.answers("go on with "+c.title, "answer-to-"+c.title)
		s.run("cortext", append(args, "-p", "go on with "+c.title)...)
		s.wasPayload(asked, printed)
		s.once(s.show(c.title), "user: turn 0:", "user: go on with "+c.title, "assistant: answer-to-"+c.title)
		s.untouched()
	}

	// A picture is captured, and named in the history.
	var picture bytes.Buffer
	s.check(png.Encode(&picture, image.NewGray(image.Rect(0, 0, 3, 3))))
	s.write("picture.png", picture.String())
	s.answers("what is it", "a square")
	s.play(s.command("opencode", "run", "what is it", "-f", "picture.png"))
	s.check(os.Remove(filepath.Join(s.project, "picture.png")))
	s.run("cortext", "sync")
	if printed := s.run("cortext", "resume", "what is it", "--print"); !strings.Contains(printed, "picture.png") || !strings.Contains(printed, "image/png") {
		t.Errorf("the picture is not named in\n%s", printed)
	}
	kept, err := filepath.Glob(filepath.Join(s.project, ".workspace/local/kept/attachments/*/*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if b, err := os.ReadFile(kept[0]); err != nil || !bytes.Equal(b, picture.Bytes()) {
		t.Errorf("the picture has %d bytes, %v", len(b), err)
	}
	s.clean()
}

// untouched checks that nothing in a history was run and no file it names was attached.
func (s *stage) untouched() {
	s.t.Helper()
	if _, err := os.Stat(filepath.Join(s.project, "SHELL-RAN")); err == nil {
		s.t.Error("something in the history was run")
	}
	for _, r := range s.server.Requests() {
		for _, mark := range []string{"some notes", "Called the Read tool", "[document]", "[image]"} {
			if strings.Contains(s.withoutPayload(r), mark) {
				s.t.Errorf("a file that the history names was attached: %q", mark)
			}
		}
	}
}

// withoutPayload returns the text of a request without the payloads in it.
func (s *stage) withoutPayload(r agenttest.Request) string {
	var b strings.Builder
	for _, turn := range r.Turns() {
		if !strings.Contains(turn.Text, "[RESUMED CONVERSATION]") {
			b.WriteString(turn.Text + "\n")
		}
	}
	return b.String()
}
