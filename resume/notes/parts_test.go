package notes

import (
	"strings"
	"testing"
)

// A part is a line that a conversation's notes must have, or must not have anywhere
// ("-").
type part struct {
	why, want string
	lines     []string
}

func checkParts(t *testing.T, parts []part) {
	t.Helper()
	for _, p := range parts {
		got := describe(notesOf(historyOf(p.lines...)))
		want, not := strings.CutPrefix(p.want, "-")
		if not == strings.Contains(got, "\n"+want) || not && strings.Contains(got, want) {
			t.Errorf("%s: want %q in\n%s", p.why, p.want, got)
		}
	}
}

func TestNotesParts(t *testing.T) {
	checkParts(t, []part{{"a failure that names itself nowhere is no open error", "-error", []string{"u: Do it", sh("make", "3", "Exit code 3\n\nsomething odd\nand more")}},
		{"nor is one without output", "-error", []string{"u: Do it", sh("make", "3", "Exit code 3")}},
		{"no errors at all", "error 2 m2: make: fatal: x", []string{"u: Do it", sh("make", "3", "0 errors, no error\nfatal: x")}},
		{"a pipe that hides a failure", "failed (0) 2 m2: make | tail", []string{"u: Do it", sh("make | tail", "0", "error: x")}},
		{"output that looks like one", "ok (0) 2 m2: make", []string{"u: Do it", sh("make", "0", "error: x")}},
		{"what Gemini CLI writes of none", "ok (0) 2 m2: make | tail", []string{"u: Do it", sh("make | tail", "0", "Output: x\nError: (none)")}},
		{"nothing found", "-grep", []string{"u: Do it", sh("grep -rn x .", "1", "")}},
		{"nowhere to look", "failed (1) 2 m2: ls x", []string{"u: Do it", sh("ls x", "1", "ls: x: No such file or directory")}},
		{"what could not be looked at before", "-failed", []string{"u: Do it", sh("ls x", "1", "ls: x: No such file or directory"), "u: Go on"}},
		{"a look that succeeded later", "-error", []string{"u: Do it", sh("ls x", "1", "No such file"), sh("ls x", "0", "")}},
		{"two that a path may mean", "deleted 2 m2 x1: x/a", []string{"u: Do it", `t: Write {"file_path":"/p/x/a"} -> ok | `, `t: Write {"file_path":"/q/x/a"} -> ok | `, sh("rm x/a", "0", "")}},
		{"one that a path may mean", "deleted 2 m2 x2: /p/x/a", []string{"u: Do it", `t: Write {"file_path":"/p/x/a"} -> ok | `, sh("rm ./x/a", "0", "")}},
		{"a name alone", "deleted 2 m2 x1: a", []string{"u: Do it", `t: Write {"file_path":"/p/a"} -> ok | `, sh("rm a", "0", "")}},
		{"deletion that failed", "-deleted", []string{"u: Do it", sh("rm a", "1", "rm: a: Permission denied")}},
		{"a write without a path", "-error", []string{"u: Do it", `t: Write {"content":"x"} -> no | no path`}},
		{"the same command again", "ok (0) 2 m2: make", []string{"u: Do it", sh("make", "2", ""), sh("make", "0", "")}},
		{"a call without a result", "-error", []string{"u: Do it", `t: Write {"file_path":"a"} -> ? | `}},
		{"feedback of OpenCode's user, which a command could print", "-use the other one", []string{"u: Do it", `t: bash {"command":"make"} -> no | The user rejected permission to use this specific tool call with the following feedback: use the other one`}},
		{"feedback of OpenCode's user", "refused 2 m2: make", []string{"u: Do it", `t: bash {"command":"make"} -> no | The user rejected permission to use this specific tool call with the following feedback: use the other one`}},
		{"a command without a line", "-ok", []string{"u: Do it", sh("  ", "0", "")}},
		{"a bare command", "-topic", []string{"u: /review", "u: hello", "u: "}},
		{"a bare command is said", "last user 1 m1: /review", []string{"u: /review"}},
		{"a long prompt", "topic 1 m1: It is slow. Make it fast. " + strings.TrimSpace(strings.Repeat("Very fast. ", 20)), []string{"u: It is slow.\n\n```\n" + strings.Repeat("code\n", 50) + "```\nMake it fast. " + strings.Repeat("Very fast. ", 20) + strings.Repeat("x", 300)}},
		{"nothing but code", "topic 1 m1: ``` " + strings.Repeat("code ", 50), []string{"u: ```\n" + strings.Repeat("code\n", 100) + "```"}},
	})
}
