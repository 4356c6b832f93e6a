//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/cmd/internal/agenttest"
)

// inTerminal runs the program in a terminal, in the folder dir.
func inTerminal(t *testing.T, dir string, args ...string) *agenttest.Terminal {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return commandInTerminal(t, dir, exec.Command(filepath.Join(bin, "cortext"), args...))
}

// commandInTerminal runs a command in a terminal, in the folder dir.
func commandInTerminal(t *testing.T, dir string, cmd *exec.Cmd) *agenttest.Terminal {
	t.Helper()
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "CORTEXT_CLAUDE="+filepath.Join(dir, "nowhere"), "CORTEXT_SESSION=")
	term, err := agenttest.Start(cmd, 120, 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	return term
}

// answer waits for a question and types the answer.
func answer(t *testing.T, term *agenttest.Terminal, question, text string) {
	t.Helper()
	if err := term.WaitFor(question, patience); err != nil {
		t.Fatal(err)
	}
	if err := term.Type(text); err != nil {
		t.Fatal(err)
	}
	if err := term.Key("Enter"); err != nil {
		t.Fatal(err)
	}
}

// TestInitAsks: on a terminal init says what it will do, asks for what the flags leave
// open, and says what is missing. The second time there is nothing to ask.
func TestInitAsks(t *testing.T) {
	bin := t.TempDir()
	for _, name := range []string{"claude", "gemini"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho 2.1.329\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func(dir, home string, args ...string) *agenttest.Terminal {
		cmd := exec.Command("/usr/bin/env", append([]string{"PATH=" + bin, "HOME=" + home, "XDG_STATE_HOME=", "CORTEXT_CLAUDE=", "CORTEXT_GEMINI=", "CORTEXT_OPENCODE=", filepath.Join(binDir, "cortext"), "init"}, args...)...)
		return commandInTerminal(t, dir, cmd)
	}
	if _, err := built(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		agents, all, commit string
		want, not           []string
	}{
		{"", "", "", []string{"commit: off\n", ".claude", ".gemini"}, []string{"capture: all", ".opencode"}},
		{"claude", "y", "y", []string{"commit: stop\n", "capture: all\n", ".claude"}, []string{".gemini"}},
		{"opencode, foo", "no", "no", []string{"commit: off\n", ".opencode"}, []string{"capture: all", ".claude"}},
	} {
		dir, home := t.TempDir(), t.TempDir()
		term := run(dir, home)
		question := "For which agents? [claude,gemini]"
		if err := term.WaitFor(question, patience); err != nil {
			t.Fatalf("%v\n%s", err, term.Screen())
		}
		for _, line := range []string{"  make .workspace/: config.yaml, 8 prompts\n", "make .claude/: 14 commands, 5 hooks in settings.json\n", "  make ~/.gemini/: 4 hooks in settings.json\n", "  link ~/.local/state/cortext/bin/ to this program\n"} {
			if !strings.Contains(term.Screen(), strings.TrimSpace(line)) {
				t.Errorf("%q is not in\n%s", line, term.Screen())
			}
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("before the answers there is %v, %v", entries, err)
		}
		answer(t, term, question, c.agents)
		if strings.Contains(c.agents, "foo") {
			answer(t, term, `there is no agent "foo", only claude, opencode, gemini, or none`, "opencode")
		}
		answer(t, term, "Capture all sessions", c.all)
		answer(t, term, "when it is stopped? [y/N]", c.commit)
		if err := errors.Join(term.WaitFor("/workspace.brainstorm and a topic", patience), term.Wait()); err != nil {
			t.Fatalf("%v\n%s", err, term.Screen())
		}
		said := strings.Join(strings.Fields(term.Screen()), " ")
		for _, text := range []string{"OpenCode is not installed: run npm install -g opencode-ai", "cortext is not on your PATH. The agents find it.", "Next: commit these files"} {
			if !strings.Contains(said, text) {
				t.Errorf("%q: it does not say %q:\n%s", c.agents, text, term.Screen())
			}
		}
		config, err := os.ReadFile(filepath.Join(dir, ".workspace/config.yaml"))
		has := string(config)
		for name := range tree(t, dir) {
			has += " " + name
		}
		for _, text := range c.want {
			if err != nil || !strings.Contains(has, text) {
				t.Errorf("%q: %v, %q is missing in\n%s", c.agents, err, text, has)
			}
		}
		for _, text := range c.not {
			if strings.Contains(has, text) {
				t.Errorf("%q: %q is in\n%s", c.agents, text, has)
			}
		}
		again := run(dir, home)
		if err := again.WaitFor("up to date", patience); err != nil || strings.Contains(again.Screen(), "?") {
			t.Errorf("the second time: %v\n%s", err, again.Screen())
		}
		_ = again.Wait()
	}

	// Ctrl-C at a question leaves everything unchanged.
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	term := run(dir, t.TempDir(), "--agent", "claude")
	if err := term.WaitFor("Capture all sessions", patience); err != nil || strings.Contains(term.Screen(), "For which agents") {
		t.Fatalf("%v\n%s", err, term.Screen())
	}
	if line := "  set merge.cortext in this clone's git configuration\n"; !strings.Contains(term.Screen(), line) {
		t.Errorf("%q is not in\n%s", line, term.Screen())
	}
	if err := term.Key("C-c"); err != nil {
		t.Fatal(err)
	}
	if err := term.Wait(); err == nil {
		t.Error("broken off, it is called success")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("broken off, it leaves %v, %v", entries, err)
	}
	if config, err := os.ReadFile(filepath.Join(dir, ".git/config")); err != nil || strings.Contains(string(config), "cortext") {
		t.Errorf("broken off, it leaves %s, %v", config, err)
	}
	term = run(dir, t.TempDir(), "--yes")
	if err := errors.Join(term.WaitFor("Next: ", patience), term.Wait()); err != nil || strings.Contains(term.Screen(), "?") {
		t.Errorf("--yes: %v\n%s", err, term.Screen())
	}
}

// TestNumberedListEnds: a numbered list has twenty entries at most, and words find the others.
func TestNumberedListEnds(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	for i := range 23 {
		must(t, "-C", dir, "new", "plan", fmt.Sprintf("topic number%d", i))
	}
	term := onDumbTerminal(t, dir, "resume")
	if err := term.WaitFor("Which one?", patience); err != nil {
		t.Fatal(err)
	}
	screen := term.Screen()
	for _, text := range []string{"20  plan / topic number3 ", "and 3 more", "(1-20, or search terms"} {
		if !strings.Contains(screen, text) {
			t.Errorf("there is no %q in\n%s", text, screen)
		}
	}
	if strings.Contains(screen, "number2 ") {
		t.Errorf("it lists more than twenty:\n%s", screen)
	}
	answer(t, term, "Which one?", "21")
	answer(t, term, "there is no number 21, only 1 to 20", "number1")
	answer(t, term, "(1-11, or search terms", "number0")
	if err := term.WaitFor("run npm install -g @anthropic-ai/claude-code", patience); err != nil {
		t.Fatal(err)
	}
}

// TestNumberedList: on a terminal that cannot draw a full screen the user chooses by number
// or words, and confirms a completed conversation. Titles are shown, not interpreted.
// Digits mean a number and nothing else.
func TestNumberedList(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	newPlans(t, dir)
	must(t, "-C", dir, "status", "third thing", "completed")

	term := onDumbTerminal(t, dir, "resume")
	if err := term.WaitFor("Which one?", patience); err != nil {
		t.Fatal(err)
	}
	for _, row := range term.Cells() {
		if slices.ContainsFunc(row, func(c agenttest.Cell) bool { return c.Bold }) {
			t.Error("a dumb terminal gets escape sequences")
			break
		}
	}
	screen := term.Screen()
	order := []string{"1  plan / second ", `\x1b[31mtopic`, "2  plan / first topic", "3  plan / third thing", "(completed"}
	at := 0
	for _, text := range order {
		i := strings.Index(screen, text)
		if i < at {
			t.Fatalf("%q stands at %d in\n%s", text, i, screen)
		}
		at = i
	}
	answer(t, term, "Which one?", "7")
	answer(t, term, "there is no number 7, only 1 to 3", "2")
	if err := term.WaitFor("run npm install -g @anthropic-ai/claude-code", patience); err != nil {
		t.Fatal(err)
	}

	term = onDumbTerminal(t, dir, "resume", "topic")
	answer(t, term, "1-2, or search terms", "nothing like it")
	answer(t, term, `no conversation matches "nothing like it"`, "first")
	if err := term.WaitFor("run npm install -g @anthropic-ai/claude-code", patience); err != nil {
		t.Fatal(err)
	}
	term = onDumbTerminal(t, dir, "resume", "third thing")
	answer(t, term, "is completed. Resume it?", "n")
	if err := term.Wait(); err == nil || strings.Contains(term.Screen(), "PATH") {
		t.Errorf("after a no: %v\n%s", err, term.Screen())
	}
	term = onDumbTerminal(t, dir, "resume")
	answer(t, term, "Which one?", "")
	if err := term.Wait(); err == nil {
		t.Error("leaving the picker is called success")
	}

	// Ctrl-C ends the command. At a yes-or-no question it means no.
	for _, c := range []struct {
		args []string
		code int
	}{{[]string{"resume"}, 130}, {[]string{"resume", "third thing"}, 1}} {
		term = onDumbTerminal(t, dir, c.args...)
		if err := term.WaitFor("? ", patience); err != nil {
			t.Fatal(err)
		}
		if err := term.Key("C-c"); err != nil {
			t.Fatal(err)
		}
		if err := term.Wait(); err == nil || err.Error() != fmt.Sprintf("exit status %d", c.code) {
			t.Errorf("%q ended by Ctrl-C: %v", c.args, err)
		}
	}
}

// TestResumeAsksForBranch: if a conversation was continued in two sessions, as in two
// clones, resume asks once which of them to continue. A rewind asks nothing.
func TestResumeAsksForBranch(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	line := func(session, role, id, parent, text string, second int) string {
		if parent != "null" {
			parent = `"` + parent + `"`
		}
		content := `"` + text + `"`
		if role == "assistant" {
			content = fmt.Sprintf(`[{"type":"text","text":"%s"}],"id":"m%s"`, text, id)
		}
		return fmt.Sprintf(`{"type":"%s","message":{"role":"%[1]s","content":%s},"uuid":"%s","parentUuid":%s,"sessionId":"%s","timestamp":"2025-11-22T10:00:%02d.000Z"}`+"\n", role, content, id, parent, session, second)
	}
	first := filepath.Join(dir, "s1.jsonl")
	text := line("s1", "user", "u1", "null", "explain the cache", 0) + line("s1", "assistant", "a1", "u1", "hi", 1) +
		line("s1", "user", "u2", "a1", "in the first", 2) + line("s1", "assistant", "a2", "u2", "yes", 3) +
		line("s1", "user", "u3", "a1", "after a rewind", 4) + line("s1", "assistant", "a3", "u3", "yes", 5)
	if err := os.WriteFile(first, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "-C", dir, "import", first)
	term := onDumbTerminal(t, dir, "resume", "cache")
	if err := term.WaitFor("run npm install -g @anthropic-ai/claude-code", patience); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(term.Screen(), "Which branch?") {
		t.Errorf("a rewind is a question:\n%s", term.Screen())
	}

	// What a merge brings from another clone.
	logs, err := filepath.Glob(filepath.Join(dir, "conversations/*/*/.session/messages.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	raw, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	theirs := `{"id":"u9","parent_id":"ma1","timestamp":"2025-11-22T10:00:06.000Z","role":"user","content":"in the other clone","source":"s9"}` + "\n" +
		`{"id":"m9","parent_id":"u9","timestamp":"2025-11-22T10:00:07.000Z","role":"assistant","content":"yes","source":"s9"}` + "\n"
	sessionFile := filepath.Join(filepath.Dir(logs[0]), "session.json")
	sess, err := os.ReadFile(sessionFile)
	if err == nil {
		err = os.WriteFile(logs[0], append(raw, theirs...), 0o600)
	}
	if err == nil {
		err = os.WriteFile(sessionFile, []byte(strings.Replace(string(sess), `"native_id":"s1"}`, `"native_id":"s1"},{"agent":"claude","native_id":"s9"}`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	term = onDumbTerminal(t, dir, "resume", "cache")
	if err := errors.Join(term.WaitFor("Which branch? [3]", patience), term.Key("C-c")); err != nil {
		t.Fatal(err)
	}
	_ = term.Wait()
	term = onDumbTerminal(t, dir, "resume", "cache") // without an answer it asks again
	answer(t, term, "Which branch? [3]", "7")
	answer(t, term, "there is no branch 7, only 1 to 3", "1")
	if err := term.WaitFor("run npm install -g @anthropic-ai/claude-code", patience); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"from the beginning", "after a rewind", "resumed by default: in the other clone"} {
		if !strings.Contains(term.Screen(), words) {
			t.Errorf("%q is not on the screen:\n%s", words, term.Screen())
		}
	}
	term = onDumbTerminal(t, dir, "resume", "cache")
	if err := term.WaitFor("run npm install -g @anthropic-ai/claude-code", patience); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(term.Screen(), "Which branch?") {
		t.Error("the question comes twice")
	}
}

// onDumbTerminal starts cortext in a terminal that cannot move its cursor.
func onDumbTerminal(t *testing.T, dir string, args ...string) *agenttest.Terminal {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return commandInTerminal(t, dir, exec.Command("/usr/bin/env", append([]string{"TERM=dumb", filepath.Join(bin, "cortext")}, args...)...))
}

// TestCommitAsks: programs that git runs for a commit may ask the user at the terminal.
// Without a user they fail at once, instead of being stopped with the index locked.
func TestCommitAsks(t *testing.T) {
	for _, attended := range []bool{true, false} {
		dir := t.TempDir()
		git := func(args ...string) string {
			t.Helper()
			out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("git %q: %v\n%s", args, err, out)
			}
			return string(out)
		}
		git("init", "--quiet")
		git("config", "user.name", "a")
		git("config", "user.email", "a@example.com")
		git("commit", "--quiet", "--allow-empty", "-m", "base")
		must(t, "-C", dir, "init", "--commit", "stop")
		must(t, "-C", dir, "new", "plan", "first topic")
		hook := "#!/bin/sh\nexec </dev/tty || exit 1\nprintf 'which ticket? ' >&2\nread x\necho \"for $x\" >>\"$1\"\n"
		if err := os.WriteFile(filepath.Join(dir, ".git/hooks/prepare-commit-msg"), []byte(hook), 0o700); err != nil {
			t.Fatal(err)
		}
		var term *agenttest.Terminal
		if attended {
			term = inTerminal(t, dir, "stop")
			answer(t, term, "which ticket?", "T-17")
		} else {
			bin, err := built()
			if err != nil {
				t.Fatal(err)
			}
			term = commandInTerminal(t, dir, exec.Command("sh", "-c", `exec "$0" stop </dev/null`, filepath.Join(bin, "cortext")))
		}
		_ = term.Wait()
		log := git("log", "--format=%B")
		if done := strings.Contains(log, "for T-17"); done != attended {
			t.Errorf("attended %t: the log is %q\n%s", attended, log, term.Screen())
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git/index.lock")); err == nil {
			t.Errorf("attended %t: the index stays locked", attended)
		}
	}
}

// TestAgentKilled: after an agent is killed, the terminal is as it was before. An agent
// ended by Ctrl-C, which may reach it as a signal while it is ending, was left by the
// user.
func TestAgentKilled(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	must(t, "-C", dir, "new", "plan", "topic")
	agent := filepath.Join(dir, "agent")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\ntest \"$1\" = --version && echo 1.0.185 && exit\nstty raw -echo\nprintf '\\033[?1049hFULL SCREEN'\nkill -$SIGNAL $$\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	for sig, code := range map[string]string{"KILL": "1", "INT": "0"} {
		term := commandInTerminal(t, dir, exec.Command("sh", "-c", `export HOME="$PWD" SIGNAL=`+sig+` CORTEXT_OPENCODE="$PWD/agent"; "$0" resume topic --agent opencode; echo "code $?"; stty -a`, filepath.Join(bin, "cortext")))
		if err := term.WaitFor("opost", patience); err != nil {
			t.Fatal(err)
		}
		screen := term.Screen()
		if !strings.Contains(screen, "code "+code) || strings.Contains(screen, "FULL SCREEN") || strings.Contains(screen, "-icanon") || strings.Contains(screen, "-echo ") || strings.Contains(screen, "-opost") {
			t.Errorf("after SIG%s:\n%s", sig, screen)
		}
	}
}

// TestBeginFails: a new conversation is paused if its launch fails.
func TestBeginFails(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	agent := filepath.Join(dir, "agent")
	bin, err := built()
	if err == nil {
		err = os.WriteFile(agent, []byte("#!/bin/sh\necho 1.18.33\n"), 0o755)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, ".workspace/local/cache"), 0o700)
	}
	if err == nil { // where the session to import is written
		err = os.WriteFile(filepath.Join(dir, ".workspace/local/cache/launch"), nil, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	term := commandInTerminal(t, dir, exec.Command("sh", "-c", `export HOME="$PWD" CORTEXT_OPENCODE="$PWD/agent"; "$0" --new plan topic --agent opencode; echo "code $?"`, filepath.Join(bin, "cortext")))
	if err := term.WaitFor("code 1", patience); err != nil || !strings.Contains(term.Screen(), `error: make ".workspace/local/cache/launch"`) {
		t.Fatalf("%v\n%s", err, term.Screen())
	}
	if list := must(t, "-C", dir, "list", "--json"); !strings.Contains(list, `"status":"paused"`) {
		t.Error(list)
	}
}

// TestConfigEdit: an editor gets the file, and what it wrote is checked and stays. A new
// file of the user's lists the settings without setting any.
func TestConfigEdit(t *testing.T) {
	if _, err := built(); err != nil {
		t.Fatal(err)
	}
	dir, home := t.TempDir(), t.TempDir()
	editor := filepath.Join(home, "my editor")
	run := func(visual, script, says string, args ...string) (*agenttest.Terminal, error) {
		t.Helper()
		if err := os.WriteFile(editor, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/usr/bin/env", append([]string{"HOME=" + home, "XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "EDITOR=false", "VISUAL=" + visual, filepath.Join(binDir, "cortext")}, args...)...)
		term := commandInTerminal(t, dir, cmd)
		if err := term.WaitFor(says, patience); err != nil {
			t.Errorf("%q %q: %v\n%s", script, args, err, term.Screen())
		}
		return term, term.Wait()
	}
	quoted := "'" + editor + "' --wait"
	for _, c := range []struct {
		visual, script string
		args           []string
		says           string
		fails          bool
	}{
		{quoted, "", []string{"init", "--yes"}, "Next: ", false},
		{quoted, `test "$1" = --wait && test -s "$2"`, []string{"config", "edit"}, ".workspace/config.yaml is unchanged", false},
		{quoted, `sed -i 's/^idle_minutes: 5/idle_minutes: 6/' "$2"`, []string{"config", "edit"}, ".workspace/config.yaml is changed and has no problems", false},
		{quoted, `printf 'idle_minutes: 6\ncommit: sometimes\ncomit: stop\n' > "$2"`, []string{"config", "edit"}, `.workspace/config.yaml:2: commit is "sometimes", not off, stop or ref`, true},
		{quoted, `exit 3`, []string{"config", "edit"}, ".workspace/config.yaml is as the editor left it", true},
		{quoted, `rm "$2"`, []string{"config", "edit", "--user"}, "~/.config/cortext/config.yaml is gone", false},
		{quoted, `grep -q '^#summarizer: extractive' "$2" && echo 'commit: stop' >> "$2"`, []string{"config", "edit", "--user"}, "~/.config/cortext/config.yaml is changed and has no problems", false},
		{quoted, "", []string{"config", "get", "commit"}, "stop", false},
		{"", "", []string{"config", "edit"}, "as the editor left it: false", true}, // EDITOR
	} {
		if term, err := run(c.visual, c.script, c.says, c.args...); (err != nil) != c.fails {
			t.Errorf("%q %q: %v\n%s", c.script, c.args, err, term.Screen())
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".workspace/config.yaml")); err != nil || !strings.Contains(string(text), "sometimes") {
		t.Errorf("what was written is lost: %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(home, ".config/cortext/config.yaml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
