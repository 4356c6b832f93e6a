package agenttest

import (
	"fmt"
	"os"
	"path/filepath"
)

// apiKey is a dummy key of the right form.
const apiKey = "sk-ant-dummy-0000000000000000000000000000"

// gitconfig lets git commit without the user's configuration.
const gitconfig = `[user]
	name = Test Person
	email = person@example.invalid
[init]
	defaultBranch = main
`

// Home is a separate home folder for agents.
type Home struct {
	Dir string // absolute, symlinks resolved

	url string
}

// NewHome sets up a home folder in dir, which it creates if needed, for agents that use
// the server s.
func NewHome(dir string, s *Server) (*Home, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("agenttest: home: %w", err)
	}
	dir, err := realPath(dir)
	if err != nil {
		return nil, fmt.Errorf("agenttest: home: %w", err)
	}
	h := &Home{Dir: dir, url: s.URL}
	for _, sub := range []string{".config", ".cache", ".local/share", ".local/state", "run", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("agenttest: home: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte(gitconfig), 0o600); err != nil {
		return nil, fmt.Errorf("agenttest: home: %w", err)
	}
	for name, settings := range map[string]map[string]any{
		".config/opencode/opencode.json": openCodeSettings(s.URL),
		".gemini/settings.json":          geminiSettings(),
	} {
		if err := writeSettings(filepath.Join(dir, name), settings); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Env returns the complete environment for a program in this home. It passes on only PATH
// from the test. Variables appended to it take precedence.
func (h *Home) Env() []string {
	in := func(sub string) string { return filepath.Join(h.Dir, sub) }
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + h.Dir,
		"XDG_CONFIG_HOME=" + in(".config"),
		"XDG_CACHE_HOME=" + in(".cache"),
		"XDG_DATA_HOME=" + in(".local/share"),
		"XDG_STATE_HOME=" + in(".local/state"),
		"XDG_RUNTIME_DIR=" + in("run"),
		"TMPDIR=" + in("tmp"),
		"TERM=xterm-256color",
		"LANG=C.UTF-8",
		"GIT_CONFIG_GLOBAL=" + in(".gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1",
		"ANTHROPIC_BASE_URL=" + h.url,
		"ANTHROPIC_API_KEY=" + apiKey,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"IS_SANDBOX=1",
		// OpenCode: no registry, because with a plugin it would wait for npm.
		"OPENCODE_DISABLE_MODELS_FETCH=1",
		"OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_LSP_DOWNLOAD=1",
		"npm_config_registry=http://127.0.0.1:9/",
		"npm_config_fetch_retries=0",
		// Gemini CLI.
		"GOOGLE_GEMINI_BASE_URL=" + h.url,
		"GEMINI_API_KEY=dummy",
		"GEMINI_CLI_NO_RELAUNCH=1",
	}
}

// TrustClaude writes the settings that make Claude Code skip its first-run dialogs,
// including the one about trusting projectDir. It keeps other settings.
func (h *Home) TrustClaude(projectDir string) error {
	project, err := realPath(projectDir)
	if err != nil {
		return fmt.Errorf("agenttest: trust: %w", err)
	}
	name := filepath.Join(h.Dir, ".claude.json")
	settings, err := readSettings(name)
	if err != nil {
		return err
	}
	settings["hasCompletedOnboarding"] = true
	settings["theme"] = "dark"
	settings["officialMarketplaceAutoInstallAttempted"] = true
	// A key is approved by its last 20 characters.
	settings["customApiKeyResponses"] = map[string]any{
		"approved": []string{apiKey[len(apiKey)-20:]},
		"rejected": []string{},
	}
	projects := object(settings, "projects")
	object(projects, project)["hasTrustDialogAccepted"] = true
	return writeSettings(name, settings)
}

// TrustGemini writes the settings that make Gemini CLI trust dir without asking. Other
// folders keep theirs. Without trust, gemini -p ends with exit code 55; --skip-trust is
// an alternative.
func (h *Home) TrustGemini(dir string) error {
	project, err := realPath(dir)
	if err != nil {
		return fmt.Errorf("agenttest: trust: %w", err)
	}
	name := filepath.Join(h.Dir, ".gemini", "trustedFolders.json")
	folders, err := readSettings(name)
	if err != nil {
		return err
	}
	folders[project] = "TRUST_FOLDER"
	return writeSettings(name, folders)
}

// object returns the object at key and creates it if needed.
func object(in map[string]any, key string) map[string]any {
	if o, ok := in[key].(map[string]any); ok {
		return o
	}
	o := map[string]any{}
	in[key] = o
	return o
}

// realPath returns the absolute path without symbolic links, by which agents identify a
// folder.
func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
