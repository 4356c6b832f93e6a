package agenttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// ClaudeVersion is the version of Claude Code that tests run, the one that
// scripts/install-agents.sh brings.
const ClaudeVersion = "2.1.329"

// ErrNotInstalled is returned when an agent's pinned version is not there.
var ErrNotInstalled = errors.New("agent not installed: run scripts/install-agents.sh")

// Claude returns the pinned Claude Code. It is looked for where
// scripts/install-agents.sh puts it: under $CORTEXT_AGENTS, else in the user's
// cache folder. CORTEXT_CLAUDE names a binary to run instead, in a folder named
// after its version, such as "scripts/install-agents.sh --newest" prints.
func Claude() (path, version string, err error) {
	path, version = os.Getenv("CORTEXT_CLAUDE"), ClaudeVersion
	if path != "" {
		version = filepath.Base(filepath.Dir(path))
	} else {
		cache, err := agentsDir()
		if err != nil {
			return "", "", err
		}
		path = filepath.Join(cache, "claude", version, "claude")
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", "", fmt.Errorf("claude %s: %w (%w)", version, ErrNotInstalled, err)
	}
	if !info.Mode().IsRegular() {
		return "", "", fmt.Errorf("claude %s: %w (%s is not a file)", version, ErrNotInstalled, path)
	}
	return path, version, nil
}

// RequireClaude returns the pinned Claude Code or skips the test; with
// CORTEXT_REQUIRE_ALL=1 the test fails instead.
func RequireClaude(t testing.TB) (path string) {
	t.Helper()
	path, _, err := Claude()
	if err == nil {
		return path
	}
	if os.Getenv("CORTEXT_REQUIRE_ALL") == "1" {
		t.Fatal(err)
	}
	t.Skipf("NOT RUN with the real agent: %v", err)
	return ""
}

// agentsDir is the folder that scripts/install-agents.sh installs into.
func agentsDir() (string, error) {
	if dir := os.Getenv("CORTEXT_AGENTS"); dir != "" {
		return dir, nil
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("agenttest: cache folder: %w", err)
		}
		cache = filepath.Join(home, ".cache")
	}
	return filepath.Join(cache, "cortext", "agents"), nil
}
