package claude

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestSignedIn checks that any kind of credentials suffices, and that a launch without
// any is refused.
func TestSignedIn(t *testing.T) {
	if _, err := os.Stat("/etc/claude-code/managed-settings.json"); err == nil || runtime.GOOS == "darwin" {
		t.Skip("NOT RUN: this machine may have credentials")
	}
	const none = "not signed in"
	s := newStage(t, "echo 2.1.329")
	delete(s.env, "ANTHROPIC_API_KEY")
	s.wantUnready(t, none)
	s.request.Headless = true
	s.wantUnready(t, none)
	s.request.Headless = false
	for _, name := range []string{"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"} {
		s.env[name] = "1"
		s.wantLaunch(t)
		delete(s.env, name)
	}
	s.configure(t, s.dir, `,"primaryApiKey":"k"`)
	s.wantLaunch(t)
	s.configure(t, s.dir, "")
	for _, c := range []struct {
		file, text string
		ok         bool
	}{
		{filepath.Join(s.home, ".claude", ".credentials.json"), "{}", true},
		{filepath.Join(s.home, ".claude", "settings.json"), `{"apiKeyHelper":"get-key"}`, true},
		{filepath.Join(s.home, ".claude", "settings.json"), `{"apiKeyHelper":"","env":{"PATH":"/bin"}}`, false},
		{filepath.Join(s.home, ".claude", "settings.json"), `{"apiKeyHelper":`, false},
		{filepath.Join(s.dir, ".claude", "settings.json"), `{"env":{"ANTHROPIC_API_KEY":"k"}}`, true},
		{filepath.Join(s.dir, ".claude", "settings.local.json"), `{"env":{"ANTHROPIC_AUTH_TOKEN":"k"}}`, true},
		{filepath.Join(s.dir, ".claude", "settings.local.json"), `{"env":{"CLAUDE_CODE_USE_BEDROCK":"1"}}`, true},
	} {
		s.write(t, c.file, c.text)
		if c.ok {
			s.wantLaunch(t)
		} else {
			s.wantUnready(t, none)
		}
		if err := os.Remove(c.file); err != nil {
			t.Fatal(err)
		}
	}
	s.wantUnready(t, none)
}

// TestQuestions goes through the questions that the program would ask at its start. It
// asks none for a single turn without a terminal.
func TestQuestions(t *testing.T) {
	s := newStage(t, "echo 2.1.329")
	s.wantLaunch(t)
	file := filepath.Join(s.home, ".claude.json")
	unready := func(what string) {
		t.Helper()
		s.wantUnready(t, what)
		s.request.Headless = true
		s.wantLaunch(t)
		s.request.Headless = false
	}
	for _, text := range []string{"{}", "", "not JSON", `{"hasCompletedOnboarding":false}`} {
		s.write(t, file, text)
		unready("never been started")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	unready("never been started")
	s.configure(t, s.dir, "")
	s.env["ANTHROPIC_API_KEY"] = "another-key-that-nobody-approved"
	unready("ANTHROPIC_API_KEY")
	s.env["ANTHROPIC_API_KEY"] = "short"
	unready("ANTHROPIC_API_KEY")
	// The program does not ask again about a rejected key. It compares the end of the
	// key.
	s.configure(t, s.dir, `,"customApiKeyResponses":{"rejected":["short"]}`)
	s.wantLaunch(t)
	s.configure(t, s.dir, "")
	s.env["ANTHROPIC_API_KEY"] = "other" + approvedKey[len(approvedKey)-20:]
	s.wantLaunch(t)
	s.configure(t, "/elsewhere", "")
	unready("to trust " + s.dir)
	// If a settings folder is set, the file is in it.
	s.env["CLAUDE_CONFIG_DIR"] = filepath.Join(s.home, "cfg")
	unready("never been started")
	s.write(t, filepath.Join(s.home, "cfg", ".claude.json"), `{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["`+approvedKey[len(approvedKey)-20:]+`"]}}`)
	unready("to trust " + s.dir)
}

// TestTrust checks that trust in a folder covers the folders below it, but that trust
// from above a git repository does not reach into it. Real paths count.
func TestTrust(t *testing.T) {
	s := newStage(t, "echo 2.1.329")
	root := s.dir
	inner := filepath.Join(root, "repo", "sub")
	s.mkdir(t, inner)
	trust := func(trusted, dir string, ok bool) {
		t.Helper()
		s.configure(t, trusted, "")
		s.request.Dir = dir
		if ok {
			s.wantLaunch(t)
		} else {
			s.wantUnready(t, "to trust "+dir)
		}
	}
	trust(inner, inner, true)
	trust(root, inner, true)
	trust(inner, root, false)
	trust(filepath.Join(root, "rep"), inner, false)
	trust("/", inner, true)

	s.mkdir(t, filepath.Join(root, "repo", ".git"))
	trust(root, inner, false)
	trust(filepath.Join(root, "repo"), inner, true)
	trust(filepath.Join(root, "repo"), filepath.Join(root, "repo"), true)
	trust(root, filepath.Join(root, "repo"), false)
	if err := os.Remove(filepath.Join(root, "repo", ".git")); err != nil {
		t.Fatal(err)
	}
	s.write(t, filepath.Join(root, "repo", ".git"), "gitdir: elsewhere\n") // a worktree
	trust(root, inner, false)
	trust(filepath.Join(root, "repo"), inner, true)

	link := filepath.Join(root, "link")
	if err := os.Symlink(inner, link); err != nil {
		t.Skip("NOT RUN: no symbolic links here:", err)
	}
	trust(inner, link, true)
	trust(link, link, false)
	s.configure(t, inner, "")
	s.write(t, filepath.Join(s.home, ".claude.json"), `{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["`+approvedKey[len(approvedKey)-20:]+`"]},"projects":{"`+inner+`":{"hasTrustDialogAccepted":false}}}`)
	s.request.Dir = inner
	s.wantUnready(t, "to trust")
}

// TestAbsentServers checks that a launch warns of tools whose servers are not
// configured here.
func TestAbsentServers(t *testing.T) {
	s := newStage(t, "echo 2.1.329")
	s.request.Tools = []string{
		"Read", "mcp__odd", "mcp__user__a", "mcp__project__a", "mcp__file__a", "mcp__above__a", "mcp__claude_ai_Mail__send",
		"mcp__gone__a", "mcp__gone__b", "mcp__fil__a", "mcp__file2__x__y",
	}
	s.configure(t, s.dir, `,"mcpServers":{"user":{},"claude.ai Mail":{}}`)
	sub := filepath.Join(s.dir, "sub")
	s.mkdir(t, sub)
	s.request.Dir = sub
	s.write(t, filepath.Join(sub, ".mcp.json"), `{"mcpServers":{"file":{}}}`)
	s.write(t, filepath.Join(s.dir, ".mcp.json"), `{"mcpServers":{"above":{}}}`)
	warned := func() (servers []string) {
		t.Helper()
		l, err := s.launch()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range l.Warnings {
			_, rest, _ := strings.Cut(w, "MCP server ")
			server, _, _ := strings.Cut(rest, ",")
			servers = append(servers, server)
		}
		return servers
	}
	if got, want := warned(), []string{"project", "gone", "fil", "file2"}; !slices.Equal(got, want) {
		t.Errorf("missed are %q, not %q", got, want)
	}
	s.write(t, filepath.Join(s.dir, ".mcp.json"), `{"mcpServers":`)
	if got, want := warned(), []string{"project", "above", "gone", "fil", "file2"}; !slices.Equal(got, want) {
		t.Errorf("missed are %q, not %q", got, want)
	}
	s.write(t, filepath.Join(s.home, ".claude.json"), `{"hasCompletedOnboarding":true,"customApiKeyResponses":{"approved":["`+approvedKey[len(approvedKey)-20:]+`"]},
		"projects":{"`+s.dir+`":{"hasTrustDialogAccepted":true,"mcpServers":{"project":{}}}}}`)
	if got := warned(); slices.Contains(got, "project") || !slices.Contains(got, "user") {
		t.Errorf("missed are %q", got)
	}
}
