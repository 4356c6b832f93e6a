package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
)

// A stage is a machine where a stand-in for the program can be started, in a folder
// that its user trusts.
type stage struct {
	home, dir string
	env       map[string]string
	request   inject.Request
}

const signedIn = `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`

func newStage(t *testing.T, versionLine string) *stage {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the stand-in for the agent is a shell script")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{home: filepath.Join(root, "a [home]"), dir: filepath.Join(root, "work")}
	s.env = map[string]string{
		"CORTEXT_GEMINI": filepath.Join(root, "bin", "gemini"), "GEMINI_API_KEY": "k",
		"GEMINI_CLI_SYSTEM_SETTINGS_PATH": filepath.Join(root, "system.json"),
	}
	s.write(t, s.env["CORTEXT_GEMINI"], "#!/bin/sh\ntest \"$*\" = --version || exit 9\n"+versionLine+"\n")
	if err := os.Chmod(s.env["CORTEXT_GEMINI"], 0o700); err != nil {
		t.Fatal(err)
	}
	s.mkdir(t, s.dir)
	s.write(t, s.user("settings.json"), signedIn)
	s.trust(t, s.dir, "TRUST_FOLDER")
	s.request = inject.Request{
		Payload: "what was said <&> \u2028", Dir: s.dir, Root: s.dir, Temp: filepath.Join(root, "temp"), Time: "2025-11-22T10:00:00.000Z",
		NativeID: "11111111-2222-4333-8444-555555555555", Prompt: "-go on", Args: []string{"--model", "pro"},
	}
	return s
}

func (s *stage) user(name string) string { return filepath.Join(s.home, ".gemini", name) }

func (s *stage) machine() inject.Machine { return machine(s.home, s.env) }

func (s *stage) mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) write(t *testing.T, file, text string) {
	t.Helper()
	s.mkdir(t, filepath.Dir(file))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) trust(t *testing.T, dir, level string) {
	t.Helper()
	s.write(t, s.user("trustedFolders.json"), fmt.Sprintf("{// whom I know\n%q:%q}", dir, level))
}

func (s *stage) launch() (*inject.Launch, error) { return adapter.Launch(s.machine(), s.request) }

// wantUnready checks that the launch fails with an error that says what is wrong and
// how to fix it.
func (s *stage) wantUnready(t *testing.T, what string) {
	t.Helper()
	l, err := s.launch()
	var stopped *inject.PreflightError
	if !errors.As(err, &stopped) || l != nil {
		t.Errorf("no preflight error, but %+v, %v", l, err)
	} else if !strings.Contains(stopped.What, what) || stopped.Fix == "" {
		t.Errorf("the error is %q (%q), not %q", stopped.What, stopped.Fix, what)
	}
}

// wantLaunch checks that the launch succeeds with these warnings.
func (s *stage) wantLaunch(t *testing.T, warnings ...string) {
	t.Helper()
	l, err := s.launch()
	if err != nil {
		t.Error(err)
		return
	}
	if len(l.Warnings) != len(warnings) {
		t.Errorf("the warnings are %q, not %q", l.Warnings, warnings)
		return
	}
	for i, w := range warnings {
		if !strings.Contains(l.Warnings[i], w) {
			t.Errorf("the warning is %q, not %q", l.Warnings[i], w)
		}
	}
}

// TestMethods checks that the program's version decides how the payload reaches it.
func TestMethods(t *testing.T) {
	for _, c := range []struct {
		version  string
		imported bool
	}{
		{"1.0.0", true}, {"0.100.0", true}, {"0.62.0-nightly.20260101", true}, {"0.61.0", true}, {"0.43.0", true}, {"0.42.9", false}, {"0.10.0", false},
	} {
		s := newStage(t, "echo '"+c.version+"'")
		id := s.request.NativeID
		for _, s.request.Headless = range []bool{false, true} {
			l, err := s.launch()
			if err != nil {
				t.Errorf("%s: %v", c.version, err)
				continue
			}
			file := inject.File{Path: filepath.Join(s.request.Temp, id+".jsonl"), Data: transcriptOf(s.request)}
			args := []string{"--session-file", file.Path}
			switch {
			case c.imported && s.request.Headless:
				args = append(args, "--prompt=-go on")
			case !c.imported:
				file = inject.File{Path: s.user("commands/cortext-" + id + ".toml"), Data: payloadCommand(s.request)}
				if args = []string{"--prompt-interactive", "/cortext-" + id}; s.request.Headless {
					args = []string{"--prompt=/cortext-" + id + " -go on"}
				}
			}
			if args = append(args, "--model", "pro"); !slices.Equal(l.Args, args) || !slices.Equal(l.Files, []inject.File{file}) || len(l.Import) > 0 || l.Stdin != "" {
				t.Errorf("%s, headless %t: %+v\nnot %q with %+v", c.version, s.request.Headless, l, args, file)
			}
			if l.NativeID != "" || l.Method == "" || l.Program != s.env["CORTEXT_GEMINI"] || (len(l.Warnings) > 0) == c.imported {
				t.Errorf("%s: %+v", c.version, l)
			}
			if entries, _ := os.ReadDir(s.request.Temp); len(entries) > 0 {
				t.Error("a plan wrote files")
			}
		}
	}
	newStage(t, "echo 0.9.9").wantUnready(t, "version 0.9.9")
}

// TestUnset checks that a launch unsets git's variables only if it is called from a
// tool of the program.
func TestUnset(t *testing.T) {
	s := newStage(t, "echo 0.61.0")
	for _, inside := range []bool{false, true} {
		l, err := s.launch()
		if err != nil || !slices.Contains(l.Unset, "GEMINI_SESSION_ID") || slices.Contains(l.Unset, "GIT_CONFIG_GLOBAL") != inside {
			t.Errorf("inside %t: %+v, %v", inside, l, err)
		}
		s.env["GEMINI_CLI"] = "1"
	}
}

// TestTooMuch checks that a payload that the program would silently drop is rejected.
func TestTooMuch(t *testing.T) {
	s := newStage(t, "echo 0.61.0")
	const most = 4 * (1_048_576 - 48_576)
	for _, char := range []string{"x", "é", "決"} { // one unit each
		s.request.Payload = strings.Repeat(char, most+3)
		s.wantLaunch(t)
		s.request.Payload += char
		s.wantUnready(t, "sends nothing")
	}
	s.request.Payload = strings.Repeat("👍", most/2+1) // two units
	s.wantLaunch(t)
	s.request.Payload += "👍"
	s.wantUnready(t, "sends nothing")
	s.request.Payload, s.request.Headless = "x", true
	s.request.Prompt = strings.Repeat("x", 120_000)
	s.wantLaunch(t)
	s.request.Prompt += "x"
	if l, err := s.launch(); err == nil || l != nil || !strings.Contains(err.Error(), "command line") {
		t.Errorf("a prompt that no command line takes: %v", err)
	}
}

// TestNotGemini checks that a program that does not report a version is not started.
func TestNotGemini(t *testing.T) {
	for _, script := range []string{"echo hello", "", "echo 'version 0.61.0'", "echo 0.61", "exit 1", "echo 0.61.0; exit 3", "head -c 100000 /dev/zero"} {
		s := newStage(t, script)
		if l, err := s.launch(); err == nil || l != nil || len(err.Error()) > 2000 {
			t.Errorf("%q is started: %+v, %.100v", script, l, err)
		}
	}
	s := newStage(t, "echo 0.61.0")
	s.env["CORTEXT_GEMINI"] = filepath.Join(s.home, "nowhere")
	s.wantUnready(t, "is not on this machine's PATH")
	s.env["CORTEXT_GEMINI"] = s.user("settings.json") // not a program
	s.wantUnready(t, "is not on this machine's PATH")
}

// TestPackage checks that the version comes from the program's own package, and that a
// script is not started without node.
func TestPackage(t *testing.T) {
	s := newStage(t, "echo 0.61.0")
	real := filepath.Join(s.home, "lib", "bundle", "gemini.js")
	s.write(t, real, "#!/usr/bin/env -S node --no-warnings=DEP0040\n")
	s.remove(t, s.env["CORTEXT_GEMINI"])
	if err := os.Chmod(real, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, s.env["CORTEXT_GEMINI"]); err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(s.home, "node")
	s.mkdir(t, node)
	t.Setenv("PATH", node)
	s.wantUnready(t, "Node.js")
	s.write(t, filepath.Join(node, "node"), "#!/bin/sh\necho 0.10.0\n") // only run if the package has no version
	if err := os.Chmod(filepath.Join(node, "node"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", node+string(filepath.ListSeparator)+"/usr/bin"+string(filepath.ListSeparator)+"/bin")
	s.write(t, filepath.Join(s.home, "lib", "package.json"), `{"name":"@google/gemini-cli","version":"0.61.0"}`)
	s.wantLaunch(t)
	for _, other := range []string{`{"name":"other","version":"0.61.0"}`, `{"name":"@google/gemini-cli"}`, "x"} {
		s.write(t, filepath.Join(s.home, "lib", "package.json"), other)
		if v, err := versionOf(s.env["CORTEXT_GEMINI"]); err != nil || v != (inject.Version{0, 10, 0}) {
			t.Errorf("with %s the version is %v, %v", other, v, err)
		}
	}
}

// TestTranscript checks that a launch writes a session that the program resumes
// (FACTS.md, "Resuming a session"), with the payload unchanged.
func TestTranscript(t *testing.T) {
	for _, c := range []struct{ payload, text, shown string }{
		{"", "", "[RESUMED CONVERSATION]"},
		{"# Plan\n\n[RESUMED", "# Plan\n\n[RESUMED", "Resumed: plan / x\nSummary: y"},
		{"<&> \u2028 \x00 \"\\ 👍 !{rm} @{x} {{args}} $& bob@example.com", "<&> \u2028 \x00 \"\\ 👍 !{rm} @{x} {{args}} $& bob@example.com", "[RESUMED CONVERSATION]"},
		{"/plan", "[cortext]\n/plan", "[RESUMED CONVERSATION]"},
		{" \n\ufeff?", "[cortext]\n \n\ufeff?", "[RESUMED CONVERSATION]"},
		{"<session_context>", "[cortext]\n<session_context>", "[RESUMED CONVERSATION]"},
		{"<hook_context>", "[cortext]\n<hook_context>", "[RESUMED CONVERSATION]"},
		{"a /plan", "a /plan", "[RESUMED CONVERSATION]"},
		{"bad \xff\xfe", "bad \ufffd\ufffd", "[RESUMED CONVERSATION]"},
		{strings.Repeat("~", 100_000), strings.Repeat("~", 100_000), "[RESUMED CONVERSATION]"},
	} {
		r := inject.Request{Payload: c.payload, Dir: "/w", NativeID: "id", Time: "2025-11-22T10:00:00.000Z"}
		if c.shown != "[RESUMED CONVERSATION]" {
			r.Shown = c.shown
		}
		lines := strings.SplitAfter(transcriptOf(r), "\n")
		if len(lines) != 3 || lines[2] != "" {
			t.Fatalf("%d lines", len(lines)-1)
		}
		var head map[string]string
		var turn struct {
			ID, Timestamp, Type     string
			Content, DisplayContent []map[string]string
		}
		if err := errors.Join(json.Unmarshal([]byte(lines[0]), &head), json.Unmarshal([]byte(lines[1]), &turn)); err != nil {
			t.Fatal(err)
		}
		if head["sessionId"] != "id" || head["projectHash"] == "" || head["kind"] != "main" || head["startTime"] != r.Time || head["lastUpdated"] != r.Time {
			t.Errorf("the header is %q", head)
		}
		if turn.ID != inject.PayloadID(c.text) || turn.Timestamp != r.Time || turn.Type != "user" ||
			fmt.Sprint(turn.Content) != fmt.Sprint([]map[string]string{{"text": c.text}}) ||
			fmt.Sprint(turn.DisplayContent) != fmt.Sprint([]map[string]string{{"text": c.shown}}) {
			t.Errorf("%.80q becomes %.300s", c.payload, lines[1])
		}
	}
}
