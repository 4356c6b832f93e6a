package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// binDir is a folder for the programs, created for the test run.
var binDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cortext-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binDir = dir
	os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")) // leave the user's own state and settings alone
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// built builds the programs once for all tests that run them and returns their folder.
// They are built as for users: without the race detector, which makes each start ten
// times as slow. If GOCOVERDIR is set, they record there which code of cmd/internal the
// scripts run.
var built = sync.OnceValues(func() (string, error) {
	args := []string{"build", "-o", binDir + string(filepath.Separator)}
	if os.Getenv("GOCOVERDIR") != "" {
		args = append(args, "-cover", "-coverpkg=cortext/cmd/...") // with main, which writes the counts
	}
	out, err := exec.Command("go", append(args, ".", "../cortext-hook", "../cortext-opencode", "../cortext-picker", "../cortext-web", "../cortext-zstd", "../cortext-serve")...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, out)
	}
	return binDir, err
})

// TestScripts runs testdata/script/*.txtar: the real program on real files with
// real git.
func TestScripts(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	runScripts(t, bin, "*")
}

// TestScriptsHook runs the hook scripts again, with cortext-hook in place of cortext
// hook.
func TestScriptsHook(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir()
	shim := fmt.Sprintf("#!/bin/sh\nif [ \"$1\" = hook ]; then shift; exec '%s/cortext-hook' \"$@\"; fi\nexec '%[1]s/cortext' \"$@\"\n", bin)
	if err := os.WriteFile(filepath.Join(path, "cortext"), []byte(shim), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hook*", "counts", "events", "remind", "stop*", "summing", "trust", "unanswered"} {
		runScripts(t, path+string(os.PathListSeparator)+bin, name)
	}
}

// runScripts runs the scripts with a name, with the programs in one or several folders.
func runScripts(t *testing.T, bin, name string) {
	t.Helper()
	fixtures, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/script/" + name + ".txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts are called %s: %v", name, err)
	}
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			// Scripts put paths into JSON: with slashes, on Windows, too.
			home := filepath.ToSlash(filepath.Join(e.WorkDir, "home"))
			e.Setenv("WORK", filepath.ToSlash(e.WorkDir))
			e.Setenv("TESTDATA", filepath.ToSlash(fixtures))
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", home)
			e.Setenv("USERPROFILE", home) // the home on Windows
			e.Setenv("GOCOVERDIR", os.Getenv("GOCOVERDIR"))
			for _, v := range []string{
				"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
				"GIT_CONFIG_NOSYSTEM=1",
			} {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			return os.MkdirAll(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"lines":    lines,
			"truncate": truncate,
			"exits":    exits,
			"turns":    writeTurns,
			"folder":   setFolder,
			"request":  request,
			"turn":     turnOver,
		},
		Condition: func(name string) (bool, error) {
			if name == "root" { // root ignores file modes
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// lines FILE N checks that FILE has N lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: lines file n")
	}
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); args[1] != strconv.Itoa(got) {
		ts.Fatalf("%s has %d lines, want %s", args[0], got, args[1])
	}
}

// truncate FILE N cuts off the last N bytes.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: truncate file n")
	}
	name := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	cut, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(name, []byte(text[:len(text)-cut]), 0o600))
}

// folder NAME WORDS sets the variable NAME to the path of the only conversation whose
// folder is called HHMM-WORDS-xxxx, since most ids end randomly.
func setFolder(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: folder name words")
	}
	paths, err := filepath.Glob(ts.MkAbs("conversations/*/[0-9][0-9][0-9][0-9]-" + args[1] + "-????"))
	ts.Check(err)
	if len(paths) != 1 {
		ts.Fatalf("folders called %s: %v, want one", args[1], paths)
	}
	rel, err := filepath.Rel(ts.MkAbs("."), paths[0])
	ts.Check(err)
	ts.Setenv(args[0], filepath.ToSlash(rel))
	ts.Setenv(args[0]+"_ID", filepath.Base(rel))
}

// turns FILE N writes a Claude Code transcript with N turns, an hour apart.
func writeTurns(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: turns file n")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(transcriptOf(n)), 0o600))
}

// transcriptOf returns a Claude Code transcript with n turns, an hour apart.
func transcriptOf(n int) string {
	var b strings.Builder
	at, parent := time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC), "null"
	for i := 1; i <= n; i++ {
		line := func(role, id, text string) {
			at = at.Add(30 * time.Minute)
			fmt.Fprintf(&b, `{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"turns","timestamp":%q,"message":{"role":%[1]q,"id":"m-%[2]s","model":"m","content":%[5]q}}`+"\n", role, id, parent, at.Format(time.RFC3339), text)
			parent = strconv.Quote(id)
		}
		line("user", fmt.Sprintf("u-%d", i), fmt.Sprintf("Please change handler%d in cmd/serve/file_%d.go.", i, i))
		line("assistant", fmt.Sprintf("a-%d", i), fmt.Sprintf("I changed handler%d in cmd/serve/file_%d.go and ran the tests of its package. They passed, and nothing else uses it.", i, i))
	}
	return b.String()
}

// exits CODE cortext ARGS… checks the exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exits code program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("%v ended with %s, want exit code %s", args[1:], got, args[0])
	}
}
