package inject

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npmScript is what npm 10 installs for a script, npmProgram for a program (cmd-shim 6).
const (
	npmHead = "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n"

	npmScript = npmHead + "\r\nIF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \"_prog=node\"\r\n  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\n" +
		"endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\" --no-warnings=DEP0040 \"%dp0%\\node_modules\\@google\\gemini-cli\\bundle\\gemini.js\" %*\r\n"

	npmProgram = npmHead + "\"%dp0%\\node_modules\\@anthropic-ai\\claude-code\\bin\\claude.exe\"   %*\r\n"
)

func TestThroughBatch(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	args := []string{"--prompt=a \"b\" %PATH%\n& calc", ""}
	node := file("node.exe", "")
	script := filepath.Join(dir, "node_modules", "@google", "gemini-cli", "bundle", "gemini.js")
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"gemini.cmd", npmScript, []string{node, "--no-warnings=DEP0040", script}},
		{"plain.CMD", strings.Replace(npmScript, " --no-warnings=DEP0040 ", "  ", 1), []string{node, script}},
		{"claude.cmd", npmProgram, []string{filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code", "bin", "claude.exe")}},
		{"agent.exe", npmProgram, []string{filepath.Join(dir, "agent.exe")}},
		{"agent", npmScript, []string{filepath.Join(dir, "agent")}},
	} {
		program, got, err := throughBatch(file(c.name, c.text), args)
		if got = append([]string{program}, got...); err != nil || !slices.Equal(got, append(c.want, args...)) {
			t.Errorf("%s: %q, %v, want %q", c.name, got, err, append(c.want, args...))
		}
	}
	for name, text := range map[string]string{
		"own.bat":      "@echo %*\r\n",
		"variable.cmd": strings.Replace(npmScript, "@ECHO off", "@SET A=b", 1),
		"python.cmd":   strings.Replace(npmScript, "_prog=node", "_prog=python", 1),
	} {
		name = file(name, text)
		for _, arg := range []string{"", "--resume", `C:\a b\c (1).jsonl`, "one & two", "it's @here!"} {
			if program, got, err := throughBatch(name, []string{arg}); program != name || !slices.Equal(got, []string{arg}) || err != nil {
				t.Errorf("%s %q: %s %q, %v", name, arg, program, got, err)
			}
		}
		for _, arg := range []string{"a&b", "a(b", `say "hi"`, "100 %", "a b\nc", "a b\rc"} {
			if _, _, err := throughBatch(name, []string{"--resume", arg}); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s %q: %v", name, arg, err)
			}
		}
	}
	if _, _, err := throughBatch(filepath.Join(dir, "none.cmd"), nil); err == nil {
		t.Error("a batch file that is not there")
	}
}
