package agenttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The agent versions that tests run, which scripts/install-agents.sh installs.
const (
	ClaudeVersion   = "2.1.329" // Claude Code
	OpenCodeVersion = "1.18.33" // OpenCode
	GeminiVersion   = "0.61.0"  // Gemini CLI
)

// ErrNotInstalled is returned if an agent's pinned version is not installed.
var ErrNotInstalled = errors.New("agent not installed: run scripts/install-agents.sh")

// Claude returns the pinned Claude Code. It looks where scripts/install-agents.sh
// installs it: in $CORTEXT_AGENTS, else in the user's cache folder. CORTEXT_CLAUDE
// selects another program, in a folder named after its version, such as
// "scripts/install-agents.sh --newest" prints.
func Claude() (path, version string, err error) { return installed("claude", ClaudeVersion) }

// OpenCode returns the pinned OpenCode, as [Claude] does, or $CORTEXT_OPENCODE.
func OpenCode() (path, version string, err error) { return installed("opencode", OpenCodeVersion) }

// Gemini returns the pinned Gemini CLI, as [Claude] does, or $CORTEXT_GEMINI. It is a
// script for node, which must be on the PATH.
func Gemini() (path, version string, err error) { return installed("gemini", GeminiVersion) }

// RequireClaude returns the pinned Claude Code or skips the test. With
// CORTEXT_REQUIRE_ALL=1 it fails the test instead.
func RequireClaude(t testing.TB) (path string) {
	t.Helper()
	path, _, err := Claude()
	return require(t, path, err)
}

// RequireOpenCode returns the pinned OpenCode, as [RequireClaude] does.
func RequireOpenCode(t testing.TB) (path string) {
	t.Helper()
	path, _, err := OpenCode()
	return require(t, path, err)
}

// RequireGemini returns the pinned Gemini CLI, as [RequireClaude] does.
func RequireGemini(t testing.TB) (path string) {
	t.Helper()
	path, _, err := Gemini()
	return require(t, path, err)
}

func require(t testing.TB, path string, err error) string {
	t.Helper()
	if err == nil {
		return path
	}
	if os.Getenv("CORTEXT_REQUIRE_ALL") == "1" {
		t.Fatal(err)
	}
	t.Skipf("NOT RUN with the real agent: %v", err)
	return ""
}

// installed returns the path of an agent in its pinned version, or the program in the
// variable CORTEXT_<AGENT> and its version.
func installed(agent, pinned string) (path, version string, err error) {
	path, version = os.Getenv("CORTEXT_"+strings.ToUpper(agent)), pinned
	if path != "" {
		version = filepath.Base(filepath.Dir(path))
	} else {
		cache, err := Dir()
		if err != nil {
			return "", "", err
		}
		path = filepath.Join(cache, agent, version, agent)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", "", fmt.Errorf("%s %s: %w (%w)", agent, version, ErrNotInstalled, err)
	}
	if !info.Mode().IsRegular() {
		return "", "", fmt.Errorf("%s %s: %w (%s is not a file)", agent, version, ErrNotInstalled, path)
	}
	return path, version, nil
}

// Dir returns the folder that scripts/install-agents.sh installs into.
func Dir() (string, error) {
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
