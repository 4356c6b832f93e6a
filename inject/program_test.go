package inject_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
)

// TestProgram finds a stand-in for the program, asks for its version and runs it.
func TestProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: the stand-in for the agent is a shell script")
	}
	file := filepath.Join(t.TempDir(), "agent")
	p := inject.Program{Product: "The Agent", Command: "no-such-agent", Variable: "AGENT", Package: "the-agent"}
	m := func(name string) inject.Machine {
		return inject.Machine{Getenv: func(variable string) string { return map[string]string{"AGENT": name}[variable] }}
	}
	var stopped *inject.PreflightError
	for _, name := range []string{"", file} {
		if _, err := p.Find(m(name)); !errors.As(err, &stopped) || !stopped.Missing || !strings.Contains(stopped.Fix, "npm install -g the-agent, or set AGENT") {
			t.Errorf("%q: %v", name, err)
		}
	}
	script := "#!/bin/sh\ncase $1 in --version) echo \"1.2.3 (The Agent)\";; fail) echo wrong >&2; exit 1;; pwd) pwd >&2;; esac\n"
	if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Find(m(file)); got != file || err != nil {
		t.Errorf("found %s, %v", got, err)
	}
	if v, err := p.Version(file); v != (inject.Version{1, 2, 3}) || err != nil {
		t.Errorf("version %s, %v", v, err)
	}
	if stderr, err := inject.Run(t.Context(), filepath.Dir(file), file, "fail"); stderr != "wrong\n" || err == nil {
		t.Errorf("it says %q, %v", stderr, err)
	}
	if stderr, err := inject.Run(t.Context(), "/", file, "pwd"); stderr != "/\n" || err != nil {
		t.Errorf("it ran in %q, %v", stderr, err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho hello\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Version(file); err == nil || !strings.Contains(err.Error(), "is it The Agent? name the right program in AGENT") {
		t.Errorf("%v", err)
	}
	if !inject.IsOnPath("sh") || inject.IsOnPath("no-such-agent") {
		t.Error("what is on the PATH")
	}
	if err := p.Unready("what", "fix"); !errors.As(err, &stopped) || stopped.Agent != "The Agent" || stopped.What != "what" || stopped.Fix != "fix" {
		t.Errorf("%+v", stopped)
	}
}

func TestMCPServer(t *testing.T) {
	known := map[string]bool{"my_server": true}
	for tool, want := range map[string]string{
		"bash": "", "mcp__a__b": "a", "mcp__a": "", "mcp_a_b": "a", "mcp_my_server_b": "my_server", "mcp_a": "", "mcp_a_": "", "mcp___b": "",
	} {
		if got, ok := inject.MCPServer(tool, known); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %t", tool, got, ok)
		}
	}
	warnings := inject.WarnOfMissing([]string{"mcp_a_b", "bash", "mcp_my_server_b", "mcp__a__c"}, known, inject.MCPServer)
	if want := []string{"the conversation used tools of the MCP server a, which is not set up here"}; !reflect.DeepEqual(warnings, want) {
		t.Errorf("%q", warnings)
	}
}

// TestFolders checks that only regular files are listed, and that a missing folder is
// empty.
func TestFolders(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"p/chats/b.json", "p/chats/a.json", "p/chats/c.txt", "q/d.json"} {
		write(t, filepath.Join(root, name), "{}")
	}
	if err := os.MkdirAll(filepath.Join(root, "p/chats/folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	isJSON := func(f os.DirEntry) bool { return filepath.Ext(f.Name()) == ".json" && f.Type().IsRegular() }
	files, err := inject.ProjectFiles(root, "chats", isJSON)
	if want := []string{filepath.Join(root, "p/chats/a.json"), filepath.Join(root, "p/chats/b.json")}; err != nil || !slices.Equal(files, want) {
		t.Errorf("files %q, %v", files, err)
	}
	files, err = inject.FilesIn(filepath.Join(root, "p/chats"))
	if err != nil || len(files) != 3 {
		t.Errorf("files %q, %v", files, err)
	}
	for _, dir := range []string{"nosuch", "q/d.json", "q/d.json/below"} {
		if files, err := inject.FilesIn(filepath.Join(root, dir)); err != nil || files != nil {
			t.Errorf("%s: %q, %v", dir, files, err)
		}
	}
	if dirs := slices.Collect(inject.Upwards(filepath.FromSlash("/a/b"))); !slices.Equal(dirs, []string{filepath.FromSlash("/a/b"), filepath.FromSlash("/a"), filepath.FromSlash("/")}) {
		t.Errorf("upwards %q", dirs)
	}
}
