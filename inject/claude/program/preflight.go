package program

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
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
	MCPServers map[string]json.RawMessage `json:"mcpServers"`
	Projects   map[string]struct {
		HasTrustDialogAccepted bool                       `json:"hasTrustDialogAccepted"`
		MCPServers             map[string]json.RawMessage `json:"mcpServers"`
	} `json:"projects"`
}

// readConfig reads the program's own settings; anything unreadable is empty.
func readConfig(m inject.Machine) config {
	file := filepath.Join(m.Home, ".claude.json")
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		file = filepath.Join(dir, ".claude.json")
	}
	var c config
	b, err := os.ReadFile(file)
	if err == nil {
		_ = json.Unmarshal(b, &c) // a member of another type counts as absent
	}
	return c
}

// preflight finds what would stop the program: a question at its start, or an error at
// the first message.
func preflight(m inject.Machine, r inject.Request) error {
	c := readConfig(m)
	unready := func(what, way string) error {
		return &inject.PreflightError{Agent: "Claude Code", What: what, Fix: way}
	}
	if !signedIn(m, c, r.Dir) {
		return unready("it is not signed in", "run claude and sign in, or set ANTHROPIC_API_KEY")
	}
	if r.Headless {
		return nil // -p asks nothing
	}
	if !c.HasCompletedOnboarding {
		return unready("it has never been started by this user, and would ask its first-run questions", "run claude once, answer them, leave it with /exit")
	}
	if key := m.Getenv("ANTHROPIC_API_KEY"); key != "" && !c.answered(key) {
		return unready("it would ask whether to use the ANTHROPIC_API_KEY that is set", "run claude once and answer, or unset the variable")
	}
	if !c.trusts(r.Dir) {
		return unready("it has not been told to trust "+r.Dir, "run claude in that folder once and answer its question, leave it with /exit")
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
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &settings) != nil {
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
	for _, list := range [][]string{c.CustomAPIKeyResponses.Approved, c.CustomAPIKeyResponses.Rejected} {
		for _, known := range list {
			if known == end {
				return true
			}
		}
	}
	return false
}

// realPath returns a folder's path as the program records it.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// trusts reports whether the user trusts a folder: the folder itself or one above it,
// but not above its git repository (2.1.329). The program uses real paths.
func (c config) trusts(dir string) bool {
	dir = realPath(dir)
	for {
		if c.Projects[filepath.ToSlash(dir)].HasTrustDialogAccepted || c.Projects[dir].HasTrustDialogAccepted {
			return true
		}
		up := filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || up == dir {
			return false
		}
		dir = up
	}
}

// absent warns of MCP servers that the conversation used and that are not configured
// on this machine. Their tools are called mcp__<server>__<tool>.
func absent(m inject.Machine, r inject.Request) []string {
	servers := map[string]bool{}
	c := readConfig(m)
	for name := range c.MCPServers {
		servers[name] = true
	}
	for dir := realPath(r.Dir); ; dir = filepath.Dir(dir) {
		for name := range c.Projects[dir].MCPServers {
			servers[name] = true
		}
		var file struct {
			MCPServers map[string]json.RawMessage `json:"mcpServers"`
		}
		if b, err := os.ReadFile(filepath.Join(dir, ".mcp.json")); err == nil && json.Unmarshal(b, &file) == nil {
			for name := range file.MCPServers {
				servers[name] = true
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	known := map[string]bool{}
	for name := range servers {
		known[inject.ServerName(name, "_-")] = true
	}
	var warnings []string
	said := map[string]bool{}
	for _, tool := range r.Tools {
		server, ok := strings.CutPrefix(tool, "mcp__")
		if server, _, ok2 := strings.Cut(server, "__"); ok && ok2 && !known[server] && !said[server] {
			said[server] = true
			warnings = append(warnings, "the conversation used tools of the MCP server "+server+", which is not set up here")
		}
	}
	return warnings
}
