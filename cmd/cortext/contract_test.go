//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// contractFile is the golden file of TestContract.
const contractFile = "testdata/contract.golden"

// TestContract lists what other programs and users' files depend on: the keys of --json,
// the answers to hooks, the files that init writes, the marks by which our text is found
// again, settings, and exit codes. The list is built from the programs' output and the
// sources. A change to it breaks existing files and programs; if that is intended, run
// the test with -update.
func TestContract(t *testing.T) {
	c := newContract(t)
	c.init()
	c.documents()
	c.json()
	c.payload()
	c.hooks()
	c.settings()
	c.exitCodes()
	c.structs()
	c.marks()

	got := c.list.Bytes()
	if *update {
		if err := os.WriteFile(contractFile, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	had, has := sectioned(want), sectioned(got)
	for _, line := range had {
		if !slices.Contains(has, line) {
			t.Errorf("gone: %s", line)
		}
	}
	for _, line := range has {
		if !slices.Contains(had, line) {
			t.Errorf("new:  %s", line)
		}
	}
	t.Errorf("the contract is not that of %s: if that is meant, run go test ./cmd/cortext -run '^TestContract$' -update", contractFile)
}

// sectioned returns the lines of a list, each after the title of its section.
func sectioned(list []byte) (lines []string) {
	for part := range strings.SplitSeq(strings.TrimSpace(string(list)), "\n\n") {
		title, rest, _ := strings.Cut(strings.TrimPrefix(part, "# "), "\n")
		for line := range strings.SplitSeq(rest, "\n") {
			lines = append(lines, title+": "+line)
		}
	}
	return lines
}

// A contractRun is a workspace that the program created, and the list of its output.
type contractRun struct {
	*testing.T
	list     bytes.Buffer
	bin, dir string // folders of the programs and of the workspace
	env      []string
}

func newContract(t *testing.T) *contractRun {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	c := &contractRun{T: t, bin: bin, dir: t.TempDir()}
	home := t.TempDir()
	claude := filepath.Join(home, "claude")
	if err := os.WriteFile(claude, []byte("#!/bin/sh\necho '2.1.329 (Claude Code)'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c.env = []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "PATH=" + bin + ":" + os.Getenv("PATH"),
		"GIT_CONFIG_NOSYSTEM=1", "CORTEXT_CLAUDE=" + claude, "ANTHROPIC_API_KEY=x"}
	c.exec(0, "", "git", "init", "-q", ".")
	return c
}

// exec runs a program, checks its exit code, and returns its output.
func (c *contractRun) exec(code int, input, name string, args ...string) string {
	c.Helper()
	if name == "cortext" {
		name = filepath.Join(c.bin, name)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.env, strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		c.Fatalf("%s %q: %v, want exit code %d\n%s%s", name, args, err, code, out, &stderr)
	}
	return string(out)
}

// section adds lines to the list, sorted and without duplicates.
func (c *contractRun) section(title string, lines []string) {
	c.Helper()
	if len(lines) == 0 {
		c.Fatalf("%s: there is nothing", title)
	}
	slices.Sort(lines)
	fmt.Fprintf(&c.list, "\n# %s\n%s\n", title, strings.Join(slices.Compact(lines), "\n"))
}

// keyPaths returns the paths of the members of a JSON value, such as "[].title".
func keyPaths(value any, path string) (list []string) {
	switch value := value.(type) {
	case map[string]any:
		for k, v := range value {
			member := path + "." + k
			list = append(append(list, member), keyPaths(v, member)...)
		}
	case []any:
		for _, v := range value {
			list = append(list, keyPaths(v, path+"[]")...)
		}
	}
	return list
}

// parsed returns the keys of printed JSON, of one value or several.
func (c *contractRun) parsed(text string) (list []string) {
	c.Helper()
	for dec := json.NewDecoder(strings.NewReader(text)); ; {
		var value any
		if err := dec.Decode(&value); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			c.Fatalf("%v in %q", err, text)
		}
		list = append(list, keyPaths(value, "")...)
	}
}

// init creates the workspace, and lists its files and the settings that name our hooks.
func (c *contractRun) init() {
	out := c.exec(0, "", "cortext", "init", "--agent", "claude,gemini,opencode", "--plugin", "--yes", "--json")
	var files []string
	err := fs.WalkDir(os.DirFS(c.dir), ".", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir
		}
		if !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		c.Fatal(err)
	}
	c.section("Files of init", files)
	c.section("Attributes", strings.Split(strings.TrimSpace(c.read(".gitattributes")), "\n"))
	c.section("init --json", c.parsed(out))
	for _, agent := range []string{"claude", "gemini"} {
		name := "." + agent + "/settings.json"
		lines := c.parsed(c.read(name))
		for _, command := range regexp.MustCompile(`cortext(?:-hook)? hook \w+ \w+|cortext-hook \w+ \w+`).FindAllString(c.read(name), -1) {
			lines = append(lines, "calls "+command)
		}
		c.section(name, lines)
	}
}

func (c *contractRun) read(name string) string {
	c.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil {
		c.Fatal(err)
	}
	return string(text)
}

// documents lists the initial document of each conversation type.
func (c *contractRun) documents() {
	types, err := filepath.Glob(filepath.Join(c.dir, ".workspace/commands/*.md"))
	if err != nil || len(types) == 0 {
		c.Fatal(types, err)
	}
	for _, file := range types {
		typ := strings.TrimSuffix(filepath.Base(file), ".md")
		path := strings.TrimSpace(c.exec(0, "", "cortext", "new", typ, "Example"))
		var lines []string
		for line := range strings.Lines(c.read(filepath.Join(path, typ+".md"))) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, regexp.MustCompile(`\d{4}-\d\d-\d\d`).ReplaceAllString(line, "DATE"))
			}
		}
		c.section(typ+".md", lines)
	}
}

// json runs each command that has --json.
func (c *contractRun) json() {
	agents, err := filepath.Abs("../../testdata/agents/claude/2.1.329")
	if err != nil {
		c.Fatal(err)
	}
	long := filepath.Join(c.dir, "long.jsonl")
	if err := os.WriteFile(long, []byte(transcriptOf(60)), 0o600); err != nil {
		c.Fatal(err)
	}
	program := filepath.Join(c.dir, ".workspace/hooks/session-start.d/10-say")
	if err := os.MkdirAll(filepath.Dir(program), 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		c.Fatal(err)
	}
	driven := map[string]bool{"init": true}
	for _, args := range []string{
		"init --dry-run --agent claude --json",
		"new plan Release --json",
		"current --json",
		"import " + agents + "/brainstorm/transcript.jsonl " + agents + "/subagent/transcript.jsonl " + long + " --json",
		"list --json",
		"show api-design --json",
		"resume api --list --json",
		"chat api --list --json",
		"resume api --print --budget 1200 --json",
		"resume api --dry-run -p go --budget 1200 --json",
		"context api --budget 1200 --json",
		"compact handler --json",
		"title release Launch --json",
		"status launch paused --json",
		"tag draft api --json",
		"tag --json",
		"untag draft api --json",
		"note text api --json",
		"set ticket=1 api --json",
		"archive api --json",
		"unarchive api --json",
		"stats --by day --json",
		"search API --json",
		"stop api --json",
		"fork handler1 --title Copied --json",
		"redact Copied --pattern handler1 --yes --json",
		"export api -o api.json --json",
		"import api.json --keep-ids --json",
		"sync --json",
		"config --json",
		"trust --json",
		"version --json",
	} {
		name, _, _ := strings.Cut(args, " ")
		driven[name] = true
		c.section(strings.NewReplacer(agents+"/", "", c.dir+"/", "").Replace(args), c.parsed(c.exec(0, "", "cortext", strings.Fields(args)...)))
	}
	var api struct{ Session struct{ ID string } }
	if err := json.Unmarshal([]byte(c.exec(0, "", "cortext", "show", "api", "--json")), &api); err != nil {
		c.Fatal(err)
	}
	c.exec(0, "", "git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "a change", "--trailer", "Cortext-Session: "+api.Session.ID)
	for _, args := range []string{"log api --json", "why HEAD --json"} {
		name, _, _ := strings.Cut(args, " ")
		driven[name] = true
		c.section(args, c.parsed(c.exec(0, "", "cortext", strings.Fields(args)...)))
	}
	c.exec(0, "", "git", "update-ref", "-d", "HEAD")
	logs, err := filepath.Glob(filepath.Join(c.dir, "conversations/*/*-release-*/.session/session.json"))
	if err != nil || len(logs) != 1 {
		c.Fatal(logs, err)
	}
	if err := os.WriteFile(logs[0], []byte("{"), 0o600); err != nil {
		c.Fatal(err)
	}
	driven["check"] = true
	c.section("check --json", c.parsed(c.exec(1, "", "cortext", "check", "--json")))
	c.section("check --all --json", c.parsed(c.exec(1, "", "cortext", "check", "--all", "--json")))
	driven["repair"] = true
	c.section("repair --json", c.parsed(c.exec(0, "", "cortext", "repair", "--json")))
	c.section("repair --undo --json", c.parsed(c.exec(0, "", "cortext", "repair", "--undo", "--json")))

	driven["serve"] = true // it does not end by itself: testdata/script/serve.txtar drives it

	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+) `).FindAllStringSubmatch(c.exec(0, "", "cortext", "--help"), -1) {
		if strings.Contains(c.exec(0, "", "cortext", m[1], "--help"), "--json") != driven[m[1]] {
			c.Errorf("cortext %s has --json and is not run here, or has it no more", m[1])
		}
	}
}

// payload lists the text by which a payload is recognized: its first and last lines, and
// the labels between them.
func (c *contractRun) payload() {
	for _, budget := range []string{"1200", "100000"} {
		_, text, ok := strings.Cut("\n"+c.exec(0, "", "cortext", "resume", "api", "--print", "--budget", budget), "\n[")
		block, rest, closed := strings.Cut("["+text, "~~~~")
		if !ok || !closed {
			c.Fatalf("no block in %q", text)
		}
		lines := []string{strings.TrimSpace("~~~~" + strings.SplitN(rest, "\n", 2)[0])}
		for line := range strings.Lines(block) {
			line = regexp.MustCompile(`\d+`).ReplaceAllString(strings.TrimSpace(line), "N")
			if label := regexp.MustCompile(`^[A-Z][a-z ]+: `).FindString(line); label != "" {
				line = label + "…"
			}
			if line != "" && line[0] != '-' {
				lines = append(lines, line)
			}
		}
		c.section("resume --print --budget "+budget, lines)
	}
}

// hooks calls the hooks as the agents do.
func (c *contractRun) hooks() {
	for _, call := range []string{"claude UserPromptSubmit", "gemini BeforeAgent", "opencode Prompted"} {
		input, err := json.Marshal(map[string]string{"session_id": "s1", "cwd": c.dir, "prompt": "/workspace.sessions"})
		if err != nil {
			c.Fatal(err)
		}
		out := c.exec(0, string(input), "cortext", append([]string{"hook"}, strings.Fields(call)...)...)
		lines := []string{"plain text"}
		if out == "" {
			c.Errorf("hook %s says nothing", call)
		}
		if json.Valid([]byte(out)) {
			lines = c.parsed(out)
		}
		c.section("hook "+call, lines)
	}
}

// settings lists the keys of config.yaml with their defaults, and checks that each is
// known.
func (c *contractRun) settings() {
	const file = ".workspace/config.yaml"
	var lines []string
	text := c.read(file)
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+): (.*)$`).FindAllStringSubmatch(text, -1) {
		lines = append(lines, m[0])
		if err := os.WriteFile(filepath.Join(c.dir, file), []byte(m[1]+": [no]\n"), 0o600); err != nil {
			c.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(c.bin, "cortext"), "current")
		cmd.Dir, cmd.Env = c.dir, c.env
		if out, _ := cmd.CombinedOutput(); !regexp.MustCompile(file + `:1: ` + m[1] + ` `).Match(out) {
			c.Errorf("no warning of a bad %s:\n%s", m[1], out)
		}
	}
	if err := os.WriteFile(filepath.Join(c.dir, file), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
	c.section(file, lines)
}

// exitCodes lists the exit codes in the help, and tries the first ones.
func (c *contractRun) exitCodes() {
	c.exec(1, "", "cortext", "-C", c.bin, "list")
	c.exec(2, "", "cortext", "list", "--nosuch")
	c.exec(3, "", "cortext", "show", "xyzzy")
	c.exec(4, "", "cortext", "show", "example")
	said := regexp.MustCompile(`Exit codes: .*`).FindString(c.exec(0, "", "cortext", "--help"))
	c.section("Exit codes", regexp.MustCompile(`\d+`).FindAllString(said, -1))
}
