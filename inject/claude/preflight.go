package claude

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"cortext/inject"
)

// config is the part of ~/.claude.json that matters here (FACTS.md, "Sign-in and
// trust").
type config struct {
	HasCompletedOnboarding bool   `json:"hasCompletedOnboarding"`
	PrimaryAPIKey          string `json:"primaryApiKey"`
	CustomAPIKeyResponses  struct {
		Approved []string `json:"approved"`
		Rejected []string `json:"rejected"`
	} `json:"customApiKeyResponses"`
	MCPServers map[string]inject.RawJSON `json:"mcpServers"`
	Projects   map[string]struct {
		HasTrustDialogAccepted bool                      `json:"hasTrustDialogAccepted"`
		MCPServers             map[string]inject.RawJSON `json:"mcpServers"`
	} `json:"projects"`
}

// readConfig reads the program's own settings. A file that cannot be read counts as
// empty.
func readConfig(m inject.Machine) config {
	var c config
	_ = inject.ReadJSON(filepath.Join(cmp.Or(m.Getenv("CLAUDE_CONFIG_DIR"), m.Home), ".claude.json"), &c)
	return c
}

// preflight returns an error for anything that would stop the program: a question at
// its start, or an error at the first message.
func preflight(m inject.Machine, r inject.Request) error {
	c := readConfig(m)
	if !signedIn(m, c, r.Dir) {
		return claudeCode.Unready("it is not signed in", "run claude and sign in, or set ANTHROPIC_API_KEY")
	}
	if r.Headless {
		return nil // -p asks nothing
	}
	if !c.HasCompletedOnboarding {
		return claudeCode.Unready("it has never been started by this user, and would ask its first-run questions", "run claude once, answer them, leave it with /exit")
	}
	if key := m.Getenv("ANTHROPIC_API_KEY"); key != "" && !c.answered(key) {
		return claudeCode.Unready("it would ask whether to use the ANTHROPIC_API_KEY that is set", "run claude once and answer, or unset the variable")
	}
	if !c.trusts(r.Dir) {
		return claudeCode.Unready("it has not been told to trust "+r.Dir, "run claude in that folder once, answer its question, and leave it with /exit")
	}
	return nil
}

// signedIn reports whether the program has credentials of any kind. If the system's
// keychain may hold them, it assumes so.
func signedIn(m inject.Machine, c config, dir string) bool {
	for _, name := range []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
		"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
	} {
		if m.Getenv(name) != "" {
			return true
		}
	}
	if c.PrimaryAPIKey != "" || runtime.GOOS == "darwin" {
		return true
	}
	if _, err := os.Stat(filepath.Join(configDir(m), ".credentials.json")); err == nil {
		return true
	}
	for _, file := range []string{
		filepath.Join(configDir(m), "settings.json"), filepath.Join(dir, ".claude", "settings.json"),
		filepath.Join(dir, ".claude", "settings.local.json"), "/etc/claude-code/managed-settings.json",
	} {
		if settingsSignIn(file) {
			return true
		}
	}
	return false
}

// settingsSignIn reports whether a settings file names credentials.
func settingsSignIn(file string) bool {
	var settings struct {
		APIKeyHelper string            `json:"apiKeyHelper"`
		Env          map[string]string `json:"env"`
	}
	if inject.ReadJSON(file, &settings) != nil {
		return false
	}
	for name := range settings.Env {
		if strings.HasSuffix(name, "_API_KEY") || strings.HasSuffix(name, "_TOKEN") || strings.HasPrefix(name, "CLAUDE_CODE_USE_") {
			return true
		}
	}
	return settings.APIKeyHelper != ""
}

// answered reports whether the user has approved or rejected a key. The program
// stores its last 20 characters.
func (c config) answered(key string) bool {
	end := key[max(0, len(key)-20):]
	return slices.Contains(c.CustomAPIKeyResponses.Approved, end) || slices.Contains(c.CustomAPIKeyResponses.Rejected, end)
}

// trusts reports whether the user trusts a folder: the folder itself or one above it,
// but not above its git repository (2.1.329). The program uses real paths.
func (c config) trusts(dir string) bool {
	for dir := range inject.Upwards(inject.RealPath(dir)) {
		if c.Projects[filepath.ToSlash(dir)].HasTrustDialogAccepted || c.Projects[dir].HasTrustDialogAccepted {
			return true
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
	}
	return false
}

// absent warns of MCP servers that the conversation used and that are not configured
// on this machine. Their tools are called mcp__<server>__<tool>.
func absent(m inject.Machine, r inject.Request) []string {
	known := map[string]bool{}
	add := func(servers map[string]inject.RawJSON) {
		for name := range servers {
			known[inject.ServerName(name, "_-")] = true
		}
	}
	c := readConfig(m)
	add(c.MCPServers)
	for dir := range inject.Upwards(inject.RealPath(r.Dir)) {
		add(c.Projects[dir].MCPServers)
		var file struct {
			MCPServers map[string]inject.RawJSON `json:"mcpServers"`
		}
		if inject.ReadJSON(filepath.Join(dir, ".mcp.json"), &file) == nil {
			add(file.MCPServers)
		}
	}
	return inject.WarnOfMissing(r.Tools, known, func(tool string, _ map[string]bool) (string, bool) {
		server, ok := strings.CutPrefix(tool, "mcp__")
		server, _, named := strings.Cut(server, "__")
		return server, ok && named
	})
}
