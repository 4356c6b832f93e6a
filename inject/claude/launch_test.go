package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"cortext/inject"
)

// A stage is a machine where a stand-in for the program can be started, in a folder
// that its user trusts.
type stage struct {
	home, dir string
	env       map[string]string
	request   inject.Request
}

const approvedKey = "sk-ant-0123456789-0123456789-end"

func newStage(t *testing.T, versionLine string) *stage {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the stand-in for the agent is a shell script")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{home: filepath.Join(root, "home"), dir: filepath.Join(root, "work")}
	s.env = map[string]string{"CORTEXT_CLAUDE": filepath.Join(root, "claude"), "ANTHROPIC_API_KEY": approvedKey}
	s.write(t, s.env["CORTEXT_CLAUDE"], "#!/bin/sh\ntest \"$*\" = --version || exit 9\n"+versionLine+"\n")
	if err := os.Chmod(s.env["CORTEXT_CLAUDE"], 0o700); err != nil {
		t.Fatal(err)
	}
	s.mkdir(t, s.dir)
	s.configure(t, s.dir, "")
	s.request = inject.Request{
		Payload: "what was said <&> \u2028", Dir: s.dir, Temp: filepath.Join(root, "temp"), Time: "2025-11-22T10:00:00.000Z",
		NativeID: "11111111-2222-4333-8444-555555555555", Prompt: "go on", Args: []string{"--model", "opus"},
	}
	return s
}

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

// configure writes the program's own settings: trust in dir, and other members.
func (s *stage) configure(t *testing.T, dir, more string) {
	t.Helper()
	s.write(t, filepath.Join(s.home, ".claude.json"), fmt.Sprintf(
		`{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":[%q],"rejected":[]},"projects":{%q:{"hasTrustDialogAccepted":true}}%s}`,
		approvedKey[len(approvedKey)-20:], filepath.ToSlash(dir), more))
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

func (s *stage) wantLaunch(t *testing.T) {
	t.Helper()
	if _, err := s.launch(); err != nil {
		t.Error(err)
	}
}

// TestMethods checks that the program's version decides how the payload reaches it.
func TestMethods(t *testing.T) {
	const forked, among, read = "forked", "among", "read"
	for _, c := range []struct {
		version              string
		interactive, oneTurn string // methods
	}{
		{"3.0.0 (Claude Code)", forked, forked},
		{"2.10.0 (Claude Code)", forked, forked},
		{"2.1.329 (Claude Code)", forked, forked},
		{"2.1.139", forked, forked},
		{"2.1.138 (Claude Code)", among, forked},
		{"2.0.73 (Claude Code)", among, forked},
		{"2.0.72 (Claude Code)", among, among},
		{"2.0.50 (Claude Code)", among, among},
		{"2.0.0 (Claude Code)", among, among},
		{"1.0.128 (Claude Code)", read, read},
		{"1.0.95 (Claude Code)", read, read},
		{"0.2.9 (Claude Code)", read, read},
	} {
		s := newStage(t, "echo '"+c.version+"'")
		for _, s.request.Headless = range []bool{false, true} {
			want := c.interactive
			if s.request.Headless {
				want = c.oneTurn
			}
			l, err := s.launch()
			if err != nil {
				t.Errorf("%s: %v", c.version, err)
				continue
			}
			s.checkMethod(t, c.version, l, want)
			if entries, _ := os.ReadDir(s.request.Temp); len(entries) > 0 {
				t.Error("a plan wrote files")
			}
		}
	}
}

func (s *stage) checkMethod(t *testing.T, version string, l *inject.Launch, method string) {
	t.Helper()
	id := s.request.NativeID
	temp := filepath.Join(s.request.Temp, id+".jsonl")
	own := filepath.Join(s.home, ".claude", "projects", formula(s.dir), id+".jsonl")
	var args []string
	file := inject.File{Path: temp, Data: transcriptOf(s.request)}
	switch method {
	case "forked":
		args = []string{"--resume", temp, "--fork-session", "--session-id", id}
	case "among":
		args = []string{"--resume", id}
		file.Path, file.Session = own, true
	case "read":
		file = inject.File{Path: filepath.Join(s.request.Temp, id+".md"), Data: s.request.Payload}
		args = l.Args[:1]
		if !strings.Contains(args[0], file.Path) || len(args[0]) > 4096 {
			t.Errorf("%s: the prompt is %q", version, args[0])
		}
		if len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], strings.Fields(version)[0]) {
			t.Errorf("%s: the warnings are %q", version, l.Warnings)
		}
	}
	if method != "read" && (len(l.Warnings) > 0 || l.NativeID != id) || method == "read" && l.NativeID != "" {
		t.Errorf("%s: session %q, warnings %q", version, l.NativeID, l.Warnings)
	}
	stdin := ""
	if s.request.Headless {
		args, stdin = append(slices.Clip(args), "-p"), s.request.Prompt
	}
	args = append(slices.Clip(args), s.request.Args...)
	if !slices.Equal(l.Args, args) || l.Stdin != stdin || !slices.Equal(l.Files, []inject.File{file}) {
		t.Errorf("%s, headless %t: %q < %q with %+v\nnot %q with %+v", version, s.request.Headless, l.Args, l.Stdin, l.Files, args, file)
	}
	if l.Program != s.env["CORTEXT_CLAUDE"] || !slices.Contains(l.Unset, "CLAUDECODE") || !slices.Contains(l.Unset, "CLAUDE_CODE_SESSION_ID") || l.Method == "" {
		t.Errorf("%s: %q by %q without %q", version, l.Program, l.Method, l.Unset)
	}
	for _, arg := range l.Args {
		if strings.Contains(arg, s.request.Payload) {
			t.Errorf("%s: the payload is an argument", version)
		}
	}
}

// TestNotClaude checks that a program that does not report a version is not started.
func TestNotClaude(t *testing.T) {
	for _, script := range []string{"echo hello", "", "echo 'version 2.1.329'", "echo 2.1", "exit 1", "echo 2.1.329; exit 3", "head -c 100000 /dev/zero"} {
		s := newStage(t, script)
		if l, err := s.launch(); err == nil || l != nil || len(err.Error()) > 2000 {
			t.Errorf("%q is started: %+v, %.100v", script, l, err)
		}
	}
	s := newStage(t, "echo 2.1.329")
	s.env["CORTEXT_CLAUDE"] = filepath.Join(s.home, "nowhere")
	s.wantUnready(t, "is not on this machine's PATH")
	s.env["CORTEXT_CLAUDE"] = filepath.Join(s.home, ".claude.json") // not a program
	s.wantUnready(t, "is not on this machine's PATH")
}

// formula computes the name of a project's folder independently of slug, following
// FACTS.md, "Where sessions are kept": it evaluates Java's String.hashCode as one
// polynomial in 32 bits.
func formula(path string) string {
	units := utf16.Encode([]rune(path))
	name := ""
	hash := new(big.Int)
	for _, u := range units {
		hash.Add(hash.Mul(hash, big.NewInt(31)), big.NewInt(int64(u)))
		if regexp.MustCompile(`^[A-Za-z0-9]$`).MatchString(string(rune(u))) {
			name += string(rune(u))
		} else {
			name += "-"
		}
	}
	if len(units) <= 200 {
		return name
	}
	word := new(big.Int).Lsh(big.NewInt(1), 32)
	hash.Mod(hash, word)
	if hash.Bit(31) == 1 { // negative as an int32
		hash.Sub(word, hash)
	}
	return name[:200] + "-" + hash.Text(36)
}

func TestSlug(t *testing.T) {
	if got := slug("/home/dev/project"); got != "-home-dev-project" {
		t.Errorf("the folder is %q", got)
	}
	paths := []string{"/", "/a.b_c d", "/Ü/决定/👍", "/" + strings.Repeat("x", 199), "/" + strings.Repeat("x", 200), "/" + strings.Repeat("👍", 100)}
	for n := range 40 { // hashes of both signs
		paths = append(paths, fmt.Sprintf("/%0*d/%s", 200+n*7, n*n*n, strings.Repeat("é👍", n)))
	}
	for _, path := range paths {
		if got, want := slug(path), formula(path); got != want {
			t.Errorf("%q is %q, not %q", path, got, want)
		}
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip("NOT RUN: no symbolic links here:", err)
	}
	if got := slug(link); got != formula(root) {
		t.Errorf("a link to %q is %q", root, got)
	}
}

// TestTranscript checks that a launch writes a line that the program resumes (FACTS.md,
// "Resuming a session"), with the payload unchanged.
func TestTranscript(t *testing.T) {
	for _, payload := range []string{"", "a\nb", "<&> \u2028 \x00 \"\\ 👍", strings.Repeat("~", 100_000)} {
		r := inject.Request{Payload: payload, Dir: "/w", NativeID: "id", Time: "2025-11-22T10:00:00.000Z"}
		text := transcriptOf(r)
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
			t.Fatalf("not one line: %q", text)
		}
		var line struct {
			Type, UUID, Timestamp, SessionID, Cwd string
			ParentUUID                            *string
			IsSidechain                           *bool
			Message                               struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.Type != "user" || line.UUID != inject.PayloadID(payload) || line.Timestamp != r.Time || line.SessionID != "id" || line.Cwd != "/w" ||
			line.ParentUUID != nil || line.IsSidechain == nil || *line.IsSidechain || line.Message.Role != "user" || line.Message.Content != payload {
			t.Errorf("%.80q becomes %.300s", payload, text)
		}
		r.Shown = "Resumed: x\nSummary: y"
		type entry struct {
			Type, Subtype, UUID, ParentUUID, Content, Level string
			IsMeta                                          bool
			Message                                         struct{ Content string }
		}
		var list []entry
		for raw := range strings.Lines(transcriptOf(r)) {
			var l entry
			if err := json.Unmarshal([]byte(raw), &l); err != nil {
				t.Fatal(err)
			}
			list = append(list, l)
		}
		if len(list) != 2 || !list[0].IsMeta || list[0].UUID != line.UUID || list[0].Message.Content != payload ||
			list[1].Type != "system" || list[1].ParentUUID != line.UUID || list[1].Content != r.Shown || list[1].UUID == line.UUID || list[1].IsMeta {
			t.Errorf("%.80q with what is shown becomes %+.600v", payload, list)
		}
	}
}
