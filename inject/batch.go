package inject

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// CommandOf returns the command that runs an agent's program. On Windows npm installs a batch
// file that starts the program, and cmd.exe, which runs batch files, reads their arguments as
// a shell line: it replaces %NAME%, cuts at a line break, and runs what follows an &. So the
// command runs what the batch file starts.
func CommandOf(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	if runtime.GOOS == "windows" {
		var err error
		if program, args, err = throughBatch(program, args); err != nil {
			return nil, err
		}
	}
	return exec.CommandContext(ctx, program, args...), nil
}

// The lines of npm's batch files that say what they start: node with a script, whose first
// line may have options for node, or a program. Batch files that set variables are not among
// them.
const (
	startsScript  = `"%_prog%" +([^"%]*?) *"%dp0%\\([^"%]+)" +%\*`
	startsProgram = `(?m)^"%dp0%\\([^"%]+\.exe)" +%\*`
	setsVariable  = `(?m)^@SET `
	runsNode      = `SET "_prog=node"`
)

// throughBatch returns what to run in place of a program and its arguments: the same, or what
// npm's batch file starts. The error says that another batch file would get other arguments.
func throughBatch(program string, args []string) (string, []string, error) {
	if ext := strings.ToLower(filepath.Ext(program)); ext != ".cmd" && ext != ".bat" {
		return program, args, nil
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return "", nil, err
	}
	at := func(name string) string {
		return filepath.Join(filepath.Dir(program), filepath.FromSlash(strings.ReplaceAll(name, `\`, "/")))
	}
	script := regexp.MustCompile(startsScript).FindSubmatch(text)
	switch own := regexp.MustCompile(startsProgram).FindSubmatch(text); {
	case regexp.MustCompile(setsVariable).Match(text):
	case own != nil:
		return at(string(own[1])), args, nil
	case script != nil && strings.Contains(string(text), runsNode):
		node := at("node.exe")
		if _, err := os.Stat(node); err != nil {
			if node, err = exec.LookPath("node"); err != nil {
				return "", nil, fmt.Errorf("%s runs on Node.js: %w", program, err)
			}
		}
		return node, append(append(strings.Fields(string(script[1])), at(string(script[2]))), args...), nil
	}
	for _, arg := range args {
		if !unchangedByBatch(arg) {
			return "", nil, fmt.Errorf("%s is a batch file, which does not get the argument %.60q unchanged: put the text into a file and name that, or install the agent with npm", program, arg)
		}
	}
	return program, args, nil
}

// unchangedByBatch reports whether cmd.exe gives an argument to a batch file as it is. os/exec
// quotes an argument that has a space, and quotes protect some characters.
func unchangedByBatch(arg string) bool {
	special := "\"%\r\n"
	if !strings.ContainsAny(arg, " \t") {
		special += "&|<>^()"
	}
	return !strings.ContainsAny(arg, special)
}
