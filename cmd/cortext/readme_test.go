//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	helpRow  = regexp.MustCompile(`(?m)^  ([a-z]+) +(.*)$`)
	tableRow = regexp.MustCompile("(?m)^\\| `([a-z]+)[^`]*` \\| (.*) \\|$")
	codeSpan = regexp.MustCompile("(?s)```.*?```|`[^`\n]+`")
	calling  = regexp.MustCompile(`\bcortext(?: -C \S+)? ([a-z]+)([^\n#]*)`)
	longFlag = regexp.MustCompile(`--[a-z][a-z-]*`)
	anyFlag  = regexp.MustCompile(`(?:^|\s)(--?[a-zA-Z][a-z-]*)`)
)

// helpRows returns the commands in cortext --help, each with its name and what it does. They
// come in groups, between the usage and the flags.
func helpRows(t *testing.T) [][]string {
	_, list, _ := strings.Cut(must(t, "--help"), "\nUsage:\n")
	_, list, _ = strings.Cut(list, "\n\n")
	list, _, _ = strings.Cut(list, "\nFlags:\n")
	return helpRow.FindAllStringSubmatch(list, -1)
}

// TestReadmeCommands: the README's table and cortext --help name the same commands and say
// the same about each.
func TestReadmeCommands(t *testing.T) {
	_, table, _ := strings.Cut(page(t, "README.md"), "\n## Commands\n")
	described := map[string]string{}
	for _, row := range tableRow.FindAllStringSubmatch(table, -1) {
		described[row[1]] = row[2]
	}
	rows := helpRows(t)
	for _, row := range rows {
		name, short := row[1], row[2]
		if short == "" || !strings.HasPrefix(described[name], short) {
			t.Errorf("%s: the README has %q, --help %q", name, described[name], short)
		}
		delete(described, name)
	}
	if len(rows) == 0 || len(described) > 0 {
		t.Errorf("%d commands in --help; it lacks %v", len(rows), described)
	}
}

// gitCommand matches a line that calls git, whose flags are not ours.
var gitCommand = regexp.MustCompile(`(?m)^git .*$`)

// TestPagesShowFlags: each command that a page shows exists, with the flags shown.
func TestPagesShowFlags(t *testing.T) {
	helps := map[string]string{}
	var all strings.Builder
	for _, row := range helpRows(t) {
		name := row[1]
		helps[name] = must(t, name, "--help")
		_, commands, _ := strings.Cut(helps[name], "\nCommands:\n")
		commands, _, _ = strings.Cut(commands, "\n\n")
		for _, sub := range helpRow.FindAllStringSubmatch(commands, -1) {
			helps[name] += must(t, name, sub[1], "--help")
		}
		all.WriteString(helps[name])
	}
	helps["hook"] = must(t, "hook", "--help") // hidden
	has := func(help, flag string) bool {
		return regexp.MustCompile(`(?m)^ +(-\w, )?` + flag + `(,| |$)`).MatchString(help)
	}
	for _, name := range []string{"README.md", "cmd/README.md", "inject/README.md", "resume/README.md", "store/README.md"} {
		text := page(t, name)
		shown := 0
		for _, code := range codeSpan.FindAllString(text, -1) {
			for _, call := range calling.FindAllStringSubmatch(code, -1) {
				shown++
				command, rest := call[1], call[2]
				rest, _, _ = strings.Cut(rest, " -- ")
				if helps[command] == "" {
					t.Errorf("%s shows %q: there is no such command", name, call[0])
				}
				for _, flag := range anyFlag.FindAllStringSubmatch(rest, -1) {
					if !has(helps[command], flag[1]) {
						t.Errorf("%s shows %q: cortext %s --help has no %s", name, call[0], command, flag[1])
					}
				}
			}
			for _, flag := range longFlag.FindAllString(gitCommand.ReplaceAllString(code, ""), -1) {
				if flag != "--help" && !has(all.String(), flag) {
					t.Errorf("%s shows %s, which no command has", name, flag)
				}
			}
		}
		if shown == 0 {
			t.Errorf("%s shows no command", name)
		}
		for _, row := range tableRow.FindAllStringSubmatch(text, -1) {
			for _, flag := range longFlag.FindAllString(row[2], -1) {
				if !has(helps[row[1]], flag) {
					t.Errorf("%s: cortext %s --help has no %s", name, row[1], flag)
				}
			}
		}
	}
}

// page reads a page of the repository.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
