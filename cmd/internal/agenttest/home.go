package agenttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// apiKey is a key of the right look that opens nothing.
const apiKey = "sk-ant-dummy-0000000000000000000000000000"

// gitconfig lets git commit without the user's own configuration.
const gitconfig = `[user]
	name = Test Person
	email = person@example.invalid
[init]
	defaultBranch = main
`

// Home is a home folder of an agent's own, apart from the user's.
type Home struct {
	Dir string // absolute, symlinks resolved

	url string
}

// NewHome lays out a home folder in dir, made if it is not there, for agents
// that ask the server for their turns.
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
	return h, nil
}

// Env returns the whole environment for a program in this home. Of the test's
// own only PATH is passed on. What is appended to it wins.
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
	}
}

// TrustClaude writes what makes Claude Code show none of its first-run dialogs,
// among them whether it may work in projectDir. Other settings are kept.
func (h *Home) TrustClaude(projectDir string) error {
	project, err := realPath(projectDir)
	if err != nil {
		return fmt.Errorf("agenttest: trust: %w", err)
	}
	name := filepath.Join(h.Dir, ".claude.json")
	settings := map[string]any{}
	raw, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("agenttest: trust: %w", err)
	}
	if err == nil {
		if err := json.Unmarshal(raw, &settings); err != nil {
			return fmt.Errorf("agenttest: trust: %s: %w", name, err)
		}
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
	raw, err = json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return fmt.Errorf("agenttest: trust: %w", err)
	}
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		return fmt.Errorf("agenttest: trust: %w", err)
	}
	return nil
}

// object returns the object at key, put there if there is none.
func object(in map[string]any, key string) map[string]any {
	if o, ok := in[key].(map[string]any); ok {
		return o
	}
	o := map[string]any{}
	in[key] = o
	return o
}

// realPath is the absolute path without symlinks, by which agents know a folder.
func realPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
