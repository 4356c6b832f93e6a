package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"cortext/inject"
)

// machine returns a machine with these variables and its own home.
func machine(home string, env map[string]string) inject.Machine {
	return inject.Machine{Home: home, Getenv: func(name string) string { return env[name] }}
}

// A stage is a machine where a stand-in for the program can be started.
type stage struct {
	home, dir string
	env       map[string]string
	request   inject.Request
}

const at = "2025-11-22T10:00:00.123Z"

func newStage(t *testing.T, script string) *stage {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the stand-in for the agent is a shell script")
	}
	root := t.TempDir()
	s := &stage{home: filepath.Join(root, "home"), dir: filepath.Join(root, "work", "sub")}
	s.env = map[string]string{"CORTEXT_OPENCODE": filepath.Join(root, "opencode")}
	s.write(t, s.env["CORTEXT_OPENCODE"], "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(s.env["CORTEXT_OPENCODE"], 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{s.home, s.dir, filepath.Join(root, "work", ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.request = inject.Request{
		Payload: "what was said <&> \u2028", Dir: s.dir, Temp: filepath.Join(root, "temp"), Time: at,
		NativeID: "11111111-2222-4333-8444-555555555555", Prompt: "/go on !`date`\n", Args: []string{"--agent", "plan"},
	}
	return s
}

func (s *stage) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// project writes the project's settings.
func (s *stage) project(t *testing.T, text string) {
	t.Helper()
	s.write(t, filepath.Join(s.dir, "opencode.json"), text)
}

func (s *stage) launch() (*inject.Launch, error) {
	return adapter.Launch(machine(s.home, s.env), s.request)
}

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

func (s *stage) wantLaunch(t *testing.T) *inject.Launch {
	t.Helper()
	l, err := s.launch()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestMethods checks that the program's version and, without a terminal, a known model
// decide how the payload reaches the program.
func TestMethods(t *testing.T) {
	const imported, plain, stdin, read, none = "imported", "imported, with plugins", "stdin", "read", ""
	for _, c := range []struct {
		version                     string
		interactive, turn, nameless string // methods; nameless: a turn with an unknown model
	}{
		{"1.19.0", imported, imported, stdin},
		{"2.0.1", imported, imported, stdin},
		{"1.18.33", imported, imported, stdin},
		{"1.14.34", imported, imported, stdin},
		{"1.14.33", plain, plain, stdin},
		{"1.3.2", plain, plain, stdin},
		{"1.2.20", plain, plain, stdin},
		{"1.2.15", read, stdin, stdin},
		{"1.2.0", read, stdin, stdin},
		{"1.1.65", plain, plain, stdin},
		{"1.1.11", plain, plain, stdin},
		{"1.1.10", read, stdin, stdin},
		{"1.0.185", read, stdin, stdin},
		{"1.0.0", none, stdin, stdin},
		{"0.0.0-dev-202511220000", imported, imported, stdin},
	} {
		s := newStage(t, "test \"$*\" = --version || exit 9\necho '"+c.version+"'")
		for _, model := range []string{"", "acme/large"} {
			s.project(t, fmt.Sprintf(`{"model": %q}`, model))
			for _, s.request.Headless = range []bool{false, true} {
				method := c.interactive
				if s.request.Headless {
					if method = c.turn; model == "" {
						method = c.nameless
					}
				}
				if method == none {
					s.wantUnready(t, "version "+c.version)
					continue
				}
				s.checkMethod(t, c.version, s.wantLaunch(t), method, model)
			}
		}
		if entries, _ := os.ReadDir(s.request.Temp); len(entries) > 0 {
			t.Error("a plan wrote files")
		}
	}
}

func (s *stage) checkMethod(t *testing.T, v string, l *inject.Launch, method, model string) {
	t.Helper()
	r := s.request
	now, _ := time.Parse(time.RFC3339, at)
	id := sessionID(r.NativeID, now)
	var before, args []string
	var files []inject.File
	stdin, warnings := "", 0
	switch method {
	case "imported", "imported, with plugins":
		file := filepath.Join(r.Temp, r.NativeID+".json")
		if before = []string{"import", file}; method == "imported" {
			before = []string{"--pure", "import", file}
		}
		if args = []string{"-s", id}; r.Headless {
			args, stdin = []string{"run", "-s", id}, r.Prompt
		}
		var own inject.Version
		_, _ = fmt.Sscanf(v, "%d.%d.%d", &own[0], &own[1], &own[2])
		files = []inject.File{{Path: file, Data: payloadDocument(r, now, own.String(), model)}}
	case "stdin":
		id = ""
		args, stdin = []string{"run", "--title", "Resumed conversation"}, r.Payload+"\n\n"+r.Prompt
	case "read":
		id, warnings = "", 1
		files = []inject.File{{Path: filepath.Join(r.Temp, r.NativeID+".md"), Data: r.Payload}}
		args = l.Args[:2]
		if args[0] != "--prompt" || !strings.Contains(args[1], files[0].Path) || len(args[1]) > 4096 || strings.HasPrefix(args[1], "/") {
			t.Errorf("%s: the prompt is %q", v, args)
		}
	}
	args = append(slices.Clip(args), r.Args...)
	if !slices.Equal(l.Import, before) || !slices.Equal(l.Args, args) || l.Stdin != stdin || !slices.Equal(l.Files, files) {
		t.Errorf("%s, headless %t: %q, then %q < %q with %+v\nnot %q, then %q < %q with %+v", v, r.Headless, l.Import, l.Args, l.Stdin, l.Files, before, args, stdin, files)
	}
	if l.NativeID != id || len(l.Warnings) != warnings || l.Program != s.env["CORTEXT_OPENCODE"] || l.Method == "" || !slices.Contains(l.Unset, sessionVariable) {
		t.Errorf("%s, headless %t: %+v", v, r.Headless, l)
	}
}

// TestNotOpenCode checks that a program that does not report a version is not started.
func TestNotOpenCode(t *testing.T) {
	for _, script := range []string{"echo hello", "", "echo 'version 1.18.33'", "echo 1.18", "exit 1", "echo 1.18.33; exit 3", "head -c 100000 /dev/zero"} {
		s := newStage(t, script)
		if l, err := s.launch(); err == nil || l != nil || len(err.Error()) > 2000 {
			t.Errorf("%q is started: %+v, %.100v", script, l, err)
		}
	}
	s := newStage(t, "echo 1.18.33")
	s.request.Time = "today"
	if l, err := s.launch(); err == nil || l != nil {
		t.Errorf("without a time it is %+v", l)
	}
	s.env["CORTEXT_OPENCODE"] = filepath.Join(s.home, "nowhere")
	s.wantUnready(t, "is not on this machine's PATH")
	s.env["CORTEXT_OPENCODE"] = s.dir // not a program
	s.wantUnready(t, "is not on this machine's PATH")
}

// TestDocument checks that a launch writes a session that opencode import accepts
// (FACTS.md, "Resuming a session"), with the payload unchanged.
func TestDocument(t *testing.T) {
	now, _ := time.Parse(time.RFC3339, at)
	payloads := []string{"", "a\nb", "<&> \u2028 \x00 \"\\ 👍 !`x` @y $ARGUMENTS $& {{args}}\n/z", strings.Repeat("~", 100_000), "bad \xff\xfe\xed\xa0\x80 end"}
	for _, payload := range payloads {
		for _, modelName := range []string{"", "acme/large/2"} {
			r := inject.Request{Payload: payload, Dir: "/w", NativeID: "11111111-2222-4333-8444-555555555555"}
			var d struct {
				Info struct {
					ID, Slug, ProjectID, Directory, Title, Version string
					Time                                           struct{ Created, Updated int64 }
					Metadata                                       struct{ Cortext struct{ Payload string } }
				}
				Messages []struct {
					Info struct {
						ID, SessionID, Role, Agent string
						Time                       map[string]int64
						Model                      struct{ ProviderID, ModelID string }
					}
					Parts []struct{ ID, MessageID, SessionID, Type, Text string }
				}
			}
			if err := json.Unmarshal([]byte(payloadDocument(r, now, "1.18.33", modelName)), &d); err != nil {
				t.Fatal(err)
			}
			ms := now.UnixMilli()
			i := d.Info
			if i.ID != sessionID(r.NativeID, now) || i.Slug == "" || i.ProjectID == "" || i.Directory != "/w" || i.Title == "" || i.Version != "1.18.33" || i.Time.Created != ms || i.Time.Updated != ms {
				t.Errorf("the session is %+v", i)
			}
			if len(d.Messages) != 1 || len(d.Messages[0].Parts) != 1 {
				t.Fatalf("%d messages", len(d.Messages))
			}
			m, p := d.Messages[0].Info, d.Messages[0].Parts[0]
			if m.SessionID != i.ID || m.Role != "user" || m.Agent != nobody || len(m.Time) != 1 || m.Time["created"] != ms || p.MessageID != m.ID || p.SessionID != i.ID || p.Type != "text" {
				t.Errorf("the message is %+v with %.200v", m, p)
			}
			if p.Text != valid(payload) || !isPayloadMessage(m.ID, p.Text) || i.Metadata.Cortext.Payload != inject.PayloadID(p.Text) {
				t.Errorf("%.80q becomes %.200q in %s", payload, p.Text, m.ID)
			}
			r.Shown = "Resumed: x"
			var shown struct {
				Messages []struct {
					Info  struct{ ID string }
					Parts []struct {
						ID, Text           string
						Synthetic, Ignored bool
					}
				}
			}
			if err := json.Unmarshal([]byte(payloadDocument(r, now, "1.18.33", modelName)), &shown); err != nil {
				t.Fatal(err)
			}
			if parts := shown.Messages[0].Parts; len(parts) != 2 || shown.Messages[0].Info.ID != m.ID || parts[0].ID == parts[1].ID || parts[0].Text != p.Text || !parts[0].Synthetic || parts[0].Ignored ||
				parts[1].Text != r.Shown || parts[1].Synthetic || !parts[1].Ignored {
				t.Errorf("%.80q with what is shown becomes %+.300v", payload, parts)
			}
			if want := strings.Join([]string{m.Model.ProviderID, m.Model.ModelID}, "/"); modelName != "" && want != modelName || want == "/" {
				t.Errorf("the model %q becomes %+v", modelName, m.Model)
			}
		}
	}
}

// valid returns the text with each invalid UTF-8 byte replaced.
func valid(text string) string { return string([]rune(text)) }

func TestTitle(t *testing.T) {
	const head, end = "[RESUMED CONVERSATION]\nYou are continuing.\n\n", "\nMessages: 2\n[END RESUMED CONTEXT]\n"
	for _, c := range []struct{ payload, want string }{
		{"# Plan\n\n" + head + "Conversation: plan / Löwe 👍" + end, "plan / Löwe 👍"},
		{"Conversation: no\n" + head + "Last active: now" + end + "Conversation: no\n", "Resumed conversation"},
		{head + "Conversation:  \x1b[31m\t" + end, "[31m"},
		{head + "Conversation: " + end, "Resumed conversation"},
		{head + "Conversation: " + strings.Repeat("ä", 200) + end, strings.Repeat("ä", 99) + "…"},
		{"", "Resumed conversation"},
	} {
		if got := titleOf(c.payload); got != c.want {
			t.Errorf("%.60q is called %q, not %q", c.payload, got, c.want)
		}
	}
}

// TestIDs checks that ids have the program's format and sort like its own. Version
// 1.18.33 made the first id of each kind at the given time.
func TestIDs(t *testing.T) {
	const uuid = "11111111-2222-4333-8444-555555555555"
	form := regexp.MustCompile(`^(ses|msg|prt)_[0-9a-f]{12}[0-9A-Za-z]{14}$`)
	now := time.UnixMilli(1795300845226)
	if got := payloadMessageID("x", now); got[:16] != "msg_20044e6aa000" || got >= "msg_20044e6aa001oMBoK789I0N8tR" {
		t.Errorf("the message is %s", got)
	}
	if got := sessionID(uuid, time.UnixMilli(1795301033680)); got[:16] != "ses_dffb8392ffff" || got <= "ses_dffb8392fffec7ybByAjeUWtWE" {
		t.Errorf("the session is %s", got)
	}
	last := [2]string{payloadMessageID("x", now), sessionID(uuid, now)}
	for i := range 500 {
		now = now.Add(time.Duration(1+i*i) * time.Millisecond)
		next := [2]string{payloadMessageID("x", now), sessionID(uuid, now)}
		if next[0] <= last[0] || next[1] >= last[1] || !form.MatchString(next[0]) || !form.MatchString(next[1]) {
			t.Fatalf("%q follows %q", next, last)
		}
		last = next
	}
	if sessionID(uuid, now) == sessionID("21111111-2222-4333-8444-555555555555", now) || len(sessionID("", now)) != 30 {
		t.Error("the UUID does not tell sessions apart")
	}
	id := payloadMessageID("payload", now)
	for _, c := range []struct {
		id, text string
		want     bool
	}{
		{id, "payload", true},
		{payloadMessageID("payload", now.AddDate(-1, 0, 0)), "payload", true},
		{id, "payload2", false}, {id, "", false}, {id[:29], "payload", false}, {"prt" + id[3:], "payload", false},
		{id + "0", "payload", false}, {"", "payload", false}, {"msg_", "", false}, {"msg_20044e6aa001oMBoK789I0N8tR", "payload", false},
	} {
		if got := isPayloadMessage(c.id, c.text); got != c.want {
			t.Errorf("%q with %q: %t", c.id, c.text, got)
		}
	}
}
