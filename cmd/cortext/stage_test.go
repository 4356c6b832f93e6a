//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// patience is how long a test waits for an expected event.
const patience = 90 * time.Second

// require finds each real agent, or skips the test.
var require = map[string]func(testing.TB) string{
	"claude": agenttest.RequireClaude, "opencode": agenttest.RequireOpenCode, "gemini": agenttest.RequireGemini,
}

// A stage is a project with cortext and a real agent, its own home and a model server.
type stage struct {
	t       *testing.T
	server  *agenttest.Server
	home    *agenttest.Home
	project string
	bin     string
	env     []string
}

// newStage creates a git repository that is a workspace with Claude Code's commands and
// hooks, all committed.
func newStage(t *testing.T, initArgs ...string) *stage {
	t.Helper()
	return newStageFor(t, []string{"claude"}, initArgs...)
}

// newStageFor is newStage for other agents, or several.
func newStageFor(t *testing.T, agents []string, initArgs ...string) *stage {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, project: filepath.Join(t.TempDir(), "project"), bin: t.TempDir()}
	if s.project, err = filepath.EvalSymlinks(filepath.Dir(s.project)); err != nil {
		t.Fatal(err)
	}
	s.project = filepath.Join(s.project, "project")
	s.check(os.Mkdir(s.project, 0o755))
	if s.server, err = agenttest.Serve(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.server.Close() })
	s.home, err = agenttest.NewHome(t.TempDir(), s.server)
	s.check(err)
	s.check(s.home.TrustClaude(s.project))
	s.check(s.home.TrustGemini(s.project))
	for _, name := range agents {
		s.check(os.Symlink(require[name](t), filepath.Join(s.bin, name)))
	}
	s.check(os.Symlink(filepath.Join(dir, "cortext"), filepath.Join(s.bin, "cortext")))
	s.env = append(slices.DeleteFunc(s.home.Env(), func(v string) bool { return strings.HasPrefix(v, "PATH=") }),
		"PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	s.run("git", "init", "-q")
	s.write("notes.md", "some notes\n")
	s.run("cortext", append([]string{"init", "--agent", strings.Join(agents, ",")}, initArgs...)...)
	s.run("git", "add", "-A")
	s.run("git", "commit", "-qm", "start")
	return s
}

func (s *stage) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	s.check(os.WriteFile(filepath.Join(s.project, name), []byte(text), 0o644))
}

// command prepares a program in the stage's environment.
func (s *stage) command(name string, args ...string) *exec.Cmd {
	path := filepath.Join(s.bin, name)
	if _, err := os.Lstat(path); err != nil {
		path = name
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = s.project, s.env
	return cmd
}

// run runs a program that must succeed and returns its standard output.
func (s *stage) run(name string, args ...string) string {
	s.t.Helper()
	out, _ := s.try("", name, args...)
	return out
}

// try runs a program that must succeed, with the given input.
func (s *stage) try(input, name string, args ...string) (stdout, stderr string) {
	s.t.Helper()
	cmd := s.command(name, args...)
	var out, errw bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errw
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out.String(), errw.String())
	}
	return out.String(), errw.String()
}

// terminal starts a program in its own terminal.
func (s *stage) terminal(name string, args ...string) *agenttest.Terminal {
	s.t.Helper()
	term, err := agenttest.Start(s.command(name, args...), 120, 40)
	s.check(err)
	s.t.Cleanup(func() { term.Close() })
	return term
}

// wait waits for a text on the terminal.
func (s *stage) wait(term *agenttest.Terminal, text string) {
	s.t.Helper()
	s.check(term.WaitFor(text, patience))
}

// opened checks that an agent shows the conversation it continues, and no part of the
// payload.
func (s *stage) opened(term *agenttest.Terminal, title string) {
	s.t.Helper()
	s.wait(term, "Resumed: brainstorm / "+title)
	s.wait(term, "You said last: ")
	for line := range strings.Lines(term.Screen()) {
		if line = strings.Trim(line, " ┃\n"); len(line) >= 4 && strings.Trim(line, "~") == "" {
			s.t.Errorf("the screen shows the end of the payload:\n%s", term.Screen())
		}
	}
}

// unsent checks that no model got the text that the agent showed instead of the payload.
func (s *stage) unsent() {
	s.t.Helper()
	for _, r := range s.server.Requests() {
		for _, turn := range r.Turns() {
			if strings.Contains(turn.Text, "Nothing is sent before you type") {
				s.t.Errorf("a model got what is for a person: %.500s", turn.Text)
			}
		}
	}
}

// say types a line at the agent's prompt and waits for an answer.
func (s *stage) say(term *agenttest.Terminal, line, answer string) {
	s.t.Helper()
	s.check(term.Type(line))
	s.wait(term, "❯ "+line[:min(len(line), 60)])
	s.check(term.Key("Enter"))
	s.wait(term, answer)
}

// written waits until an answer is in the agent's own files. Claude Code 2.1.329 may
// never write an answer that it shows, if the user leaves at once and the machine is busy
// (1 of 56 runs, six at a time); then it cannot be captured.
func (s *stage) written(answer string) {
	s.t.Helper()
	for end := time.Now().Add(patience); len(s.agentFiles("assistant: "+answer)) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("the agent has not written %q", answer)
		}
	}
}

// leave ends the agent as a user does.
func (s *stage) leave(term *agenttest.Terminal) {
	s.t.Helper()
	s.check(term.Type("/exit"))
	s.wait(term, "❯ /exit")
	s.check(term.Key("Enter"))
	if err := term.Wait(); err != nil {
		s.t.Fatalf("%v; the screen:\n%s", err, term.Screen())
	}
}

// shown is the output of cortext show --json.
type shown struct {
	Session struct {
		ID           string
		Title        string
		Status       string
		MessageCount int `json:"message_count"`
		Sources      []struct {
			NativeID string `json:"native_id"`
		}
	}
	Messages []struct {
		ID, Role, Content, Source string
		ParentID                  string `json:"parent_id"`
	}
	Tools []struct{ ID, Name, Output string }
}

func (s *stage) show(query string) (c shown) {
	s.t.Helper()
	s.check(json.Unmarshal([]byte(s.run("cortext", "show", query, "--json")), &c))
	return c
}

// clean checks that the workspace has no damage and the work tree changed only in
// conversations/ and .claude/.
func (s *stage) clean() {
	s.t.Helper()
	if out := s.run("cortext", "check"); out != "no damage\n" {
		s.t.Error(out)
	}
	for line := range strings.Lines(s.run("git", "status", "--porcelain")) {
		name := strings.TrimSpace(line[2:])
		if !slices.ContainsFunc([]string{"conversations/", ".claude/", ".opencode/", ".gemini/"}, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			s.t.Errorf("git status: %s", line)
		}
	}
	if left, err := filepath.Glob(filepath.Join(s.project, ".workspace/local/cache/launch/*")); err != nil || len(left) > 0 {
		s.t.Errorf("left behind: %v, %v", left, err)
	}
	if log, err := os.ReadFile(filepath.Join(s.project, ".workspace/local/cache/hook.log")); err == nil {
		s.t.Errorf("a hook failed: %s", log)
	}
}

// once checks that each text ("user: go on") begins exactly one message of a
// conversation, in this order, and that no id occurs twice.
func (s *stage) once(c shown, texts ...string) {
	s.t.Helper()
	ids := map[string]bool{}
	var contents []string
	for _, m := range c.Messages {
		if ids[m.ID] {
			s.t.Errorf("message %s stands there twice", m.ID)
		}
		ids[m.ID] = true
		contents = append(contents, m.Role+": "+m.Content)
		if strings.Contains(m.Content, "Below, oldest first, is the record") || strings.Contains(m.Content, "No response requested") {
			s.t.Errorf("what cortext put there was captured: %.200s", m.Content)
		}
	}
	at := 0
	for _, text := range texts {
		n := 0
		for i, content := range contents {
			if strings.HasPrefix(content, text) {
				if n++; i < at {
					s.t.Errorf("%q stands too early", text)
				}
				at = i
			}
		}
		if n != 1 {
			s.t.Errorf("%q stands there %d times in:\n%s\nThe agents' own files with these words: %q", text, n, strings.Join(contents, "\n"), s.agentFiles(text))
		}
	}
}

// agentFiles lists the files below the home folder with a string that contains a text
// ("user: go on"). What an agent has not written cannot be captured.
func (s *stage) agentFiles(text string) (files []string) {
	s.t.Helper()
	_, words, _ := strings.Cut(text, ": ")
	begin := []byte(`"` + words)
	s.check(filepath.WalkDir(s.home.Dir, func(path string, d fs.DirEntry, err error) error {
		var b []byte
		if err == nil && d.Type().IsRegular() {
			b, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the agent deleted it
		}
		if bytes.Contains(b, begin) {
			files = append(files, fmt.Sprintf("%s (%d times)", path, bytes.Count(b, begin)))
		}
		return err
	}))
	return files
}

// payload returns the first user turn of the last request, which a resume put there.
func (s *stage) payload() string {
	s.t.Helper()
	main := s.server.Main()
	if len(main) == 0 {
		s.t.Fatal("nothing was sent to the model")
	}
	for _, turn := range main[len(main)-1].Turns() {
		if turn.Role == "user" {
			return turn.Text
		}
	}
	s.t.Fatal("the request has no user turn")
	return ""
}
