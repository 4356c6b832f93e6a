package notes

import (
	"strings"
	"testing"
)

// TestErrors checks that an error is open until the same command or another approach
// succeeds, or until the user has asked for two other things.
func TestErrors(t *testing.T) {
	checkParts(t, []part{
		{"the same elsewhere", "-error", []string{"u: Do it", sh("node assets/build.js 2>&1", "1", "error: x"), sh("cd assets && node build.js", "0", "")}},
		{"another file", "error 2 m2: node a/build.js: error: x", []string{"u: Do it", sh("node a/build.js", "1", "error: x"), sh("node a/run.js", "0", "")}},
		{"a few lines for once", "-error", []string{"u: Do it", sh("head x | python3 -c 'a && b'", "1", "JSONDecodeError: x"), sh("python3 -c 'c'", "0", "")}},
		{"a step of what was done then", "-error", []string{"u: Do it", sh("git add a && git add b", "128", "fatal: x"), sh("git add c && git commit -m x", "0", "")}},
		{"a long chain is for its end", "-error", []string{"u: Do it", sh("echo x && touch "+long(400)+" && git push", "1", "error: x"), sh("git push", "0", "")}},

		{"a place", "error 2 m2: task x: a.go:6:2: \"x\" imported and not used", []string{"u: Do it", sh("task x", "1", "a.go:6:2: \"x\" imported and not used")}},
		{"no file to read", "-error", []string{"u: Do it", `t: Read {"file_path":"/p/a"} -> no | File does not exist.`, `t: Glob {} -> no | No such folder`, `t: Skill {} -> no | failed`, sh("ls x", "2", "No such file or directory")}},

		{"another approach", "-error", []string{"u: Do it", sh("curl -f a.example -o x", "22", "curl: (22) error: 404"), sh("curl -f b.example -o x", "0", "")}},
		{"tried in another way", "-hook failed", []string{"u: Do it", sh("git commit -m a", "1", "error: hook failed"), sh("git commit --no-verify -m b", "1", "fatal: no")}},
		{"other tests", "error 2 m2: go test ./a | tail: FAIL a", []string{"u: Do it", sh("go test ./a | tail", "0", "FAIL\ta"), sh("go test ./b", "0", "ok")}},
		{"two turns later", "-error", []string{"u: Do it", sh("make", "2", "error: x"), "u: now the other one", "a: Done.", "u: go on"}},
		{"a look settles nothing", "error 2 m2: ssh h reboot: error: x", []string{"u: Do it", sh("ssh h reboot", "1", "error: x"), sh("ssh h 'ls /'", "0", "")}},
		{"the same of other things", "error 2 m2: npm install left-pad-x: npm error 404", []string{"u: Do it", sh("npm install left-pad-x", "1", "npm error 404"), sh("npm install react", "0", "")}},
		{"another address", "error 2 m2: curl -fO a.example/x: curl: (22) error: 404", []string{"u: Do it", sh("curl -fO a.example/x", "22", "curl: (22) error: 404"), sh("curl -fO b.example/y", "0", "")}},
		{"seen, not changed", "error 2 m2: sed -i s/a/b/ c.txt: sed: can't read c.txt: No such file or directory", []string{"u: Do it", sh("sed -i s/a/b/ c.txt", "2", "sed: can't read c.txt: No such file or directory"), sh("sed -n 1p c.txt", "0", "")}},
		{"another verb below the first", "error 2 m2: docker compose up -d: Error: no such image", []string{"u: Do it", sh("docker compose up -d", "1", "Error: no such image"), sh("docker compose ps", "0", "")}},
		{"what the work went on without", "-error", []string{"u: Do it", sh("docker compose up -d", "1", "Error: no such image"), sh("mkdir a", "0", ""), sh("mkdir b", "0", ""), sh("mkdir c", "0", ""), sh("mkdir d", "0", ""), sh("git add .", "0", "")}},
		{"tests, whatever else worked", "error 2 m2: go test ./a: FAIL a", []string{"u: Do it", sh("go test ./a", "1", "FAIL\ta"), sh("mkdir a", "0", ""), sh("mkdir b", "0", ""), sh("mkdir c", "0", ""), sh("mkdir d", "0", ""), sh("git add .", "0", "")}},
		{"a change that was not made, whatever else worked", "error 2 m2: /p/a: no such text", []string{"u: Do it", `t: Edit {"file_path":"/p/a"} -> no | no such text`, sh("mkdir a", "0", ""), sh("mkdir b", "0", ""), sh("mkdir c", "0", ""), sh("mkdir d", "0", ""), sh("git add .", "0", "")}},
		{"no success at all", "error 2 m2: make: error: x", []string{"u: Do it", sh("make", "2", "error: x"), "u: now the other one", sh("git push", "0", "")}},
		{"another deed of the program", "error 2 m2: git push: error: x", []string{"u: Do it", sh("git push", "1", "error: x"), "u: now the other one", sh("git -C /p add a", "0", "")}},
		{"another tool", "error 2 m2: deploy: x", []string{"u: Do it", "t: deploy {} -> no | x", "t: test {} -> ok | "}},
		{"a tool, a turn later", "-error", []string{"u: Do it", "t: deploy {} -> no | x", "u: now the other one"}},

		{"a file that another tool wrote then", "-error", []string{"u: Do it", sh("mkdir -p ~/a && cat <<E > ~/a/b.desktop\nx\nE", "2", "syntax error"), `t: write_file {"file_path":"/home/dev/a/b.desktop"} -> ok | Successfully created and wrote to new file: /home/dev/a/b.desktop.`}},
		{"a file that a command wrote then", "-error", []string{"u: Do it", `t: Write {"file_path":"/p/a/b"} -> no | EACCES`, sh("cat > a/b <<E\nx\nE", "0", "")}},
		{"another file than that", "error 2 m2: /p/a/b: EACCES", []string{"u: Do it", `t: Write {"file_path":"/p/a/b"} -> no | EACCES`, sh("cat > c/b <<E\nx\nE", "0", "")}},
		{"a look that was to be kept", "-error", []string{"u: Do it", sh("ssh h list > a/x", "1", "a/x: No such file or directory"), sh("ssh h list > b/x", "0", "")}},
	})
}

// TestComplaint checks which line of a call's output says what is wrong.
func TestComplaint(t *testing.T) {
	for _, tc := range []struct{ why, command, output, want string }{
		{"behind a warning", "ssh h x", "** WARNING: connection is not using a post-quantum key exchange algorithm.\nash: x: not found", "ash: x: not found"},
		{"only a warning", "ssh h x", "** WARNING: it may fail.\nwarning: invalid", ""},
		{"what was typed", "cat >> c <<EOF\n  LogLevel ERROR\nEOF", "bash: line 1: cat\nLogLevel ERROR\nbash: syntax error: unexpected end of file", "bash: syntax error: unexpected end of file"},
		{"a heading", "opkg x", "Collected errors:\n * x: no package", "Collected errors: * x: no package"},
		{"a heading of nothing", "opkg x", "Collected errors:\n\n", "Collected errors:"},
		{"a place, before the sum", "task lint", "[lint:go] a/b.go:116:2: missing cases in switch (exhaustive)\n[lint:go] 1 issues:\n[lint:go] * exhaustive: 1", "[lint:go] a/b.go:116:2: missing cases in switch (exhaustive)"},
		{"a place and the name of a rule", "git commit", "validation failed:\\n[DIALYZER]\nTotal errors: 1\nlib/a_b.ex:58:13:pattern_match\nThe pattern can never match", "lib/a_b.ex:58:13:pattern_match"},
		{"an error in a line", "mypy .", "checking failed modules\na.py:3: note: see\na.py:12: error: x", "a.py:12: error: x"},
		{"what a test logs", "go test -v", "--- FAIL: TestX\n a_test.go:12: first step\n a_test.go:14: no", "--- FAIL: TestX"},
		{"a place of a warning", "cc a.c", "a.c:3:5: warning: unused\na.c:4:5: undefined: y", "a.c:4:5: undefined: y"},
		{"what was typed, in other spaces", "cat > c <<EOF\nAn\terror  message\nEOF\nx", "Command: cat > c <<EOF\nAn\terror  message\nEOF\nx\nOutput: x: cannot do it", "x: cannot do it"},
		{"what the command says of its own", "echo \"--- errors ---\"; ls *.c | xargs basename", "--- errors ---\nbasename: missing operand", "basename: missing operand"},
		{"only what the command says of its own", "make -s || (echo 'make failed'; exit 1)", "x\nmake failed", "make failed"},
		{"nothing of the kind", "x", "Exit code 3\nsome\nthing", "some"},
	} {
		h := historyOf("u: x", sh(tc.command, "1", tc.output))
		heading, line := errorLine(h.Tools["c0"])
		if got := strings.TrimSpace(heading + " " + line); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.why, got, tc.want)
		}
	}
}

func long(n int) string { return strings.Repeat("long/", n/5) + "x" }
