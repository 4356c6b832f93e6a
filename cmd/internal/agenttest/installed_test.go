package agenttest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhereInstalled(t *testing.T) {
	for _, c := range []struct {
		agent, version string
		find           func() (path, version string, err error)
	}{
		{"claude", ClaudeVersion, Claude},
		{"opencode", OpenCodeVersion, OpenCode},
		{"gemini", GeminiVersion, Gemini},
	} {
		t.Run(c.agent, func(t *testing.T) {
			cache := t.TempDir()
			variable := "CORTEXT_" + strings.ToUpper(c.agent)
			t.Setenv(variable, "")
			t.Setenv("CORTEXT_AGENTS", cache)
			if _, _, err := c.find(); !errors.Is(err, ErrNotInstalled) {
				t.Errorf("nothing installed: %v", err)
			}
			want := filepath.Join(cache, c.agent, c.version, c.agent)
			if err := os.MkdirAll(want, 0o700); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.find(); !errors.Is(err, ErrNotInstalled) {
				t.Errorf("a folder in its place: %v", err)
			}
			if err := os.Remove(want); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(want, nil, 0o700); err != nil {
				t.Fatal(err)
			}
			if path, version, err := c.find(); path != want || version != c.version || err != nil {
				t.Errorf("found %q %q %v", path, version, err)
			}

			other := filepath.Join(cache, c.agent, "9.9.9", c.agent)
			if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(other, nil, 0o700); err != nil {
				t.Fatal(err)
			}
			t.Setenv(variable, other)
			if path, version, err := c.find(); path != other || version != "9.9.9" || err != nil {
				t.Errorf("found %q %q %v", path, version, err)
			}
		})
	}
}

func TestDefaultCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("CORTEXT_AGENTS", "")
	t.Setenv("XDG_CACHE_HOME", cache)
	if dir, err := Dir(); dir != filepath.Join(cache, "cortext", "agents") || err != nil {
		t.Errorf("%q, %v", dir, err)
	}
}

// TestPinnedVersions: the script's table and this package have the same versions, and every
// platform has a program for every agent.
func TestPinnedVersions(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "scripts", "install-agents.sh"))
	if err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{"claude": ClaudeVersion, "opencode": OpenCodeVersion, "gemini": GeminiVersion}
	runs := map[string]bool{}
	for line := range strings.Lines(string(script)) {
		fields := strings.Fields(line)
		if len(fields) != 6 || !strings.HasPrefix(fields[5], "sha512-") {
			continue
		}
		agent, version, platform, file := fields[0], fields[1], fields[2], fields[4]
		if version != versions[agent] {
			t.Errorf("scripts/install-agents.sh pins %s %s, this package %q", agent, version, versions[agent])
		}
		if file != "-" {
			runs[agent+" "+platform] = true
		}
	}
	for agent := range versions {
		for _, platform := range []string{"linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64"} {
			if !runs[agent+" any"] && !runs[agent+" "+platform] {
				t.Errorf("scripts/install-agents.sh pins no %s for %s", agent, platform)
			}
		}
	}
}
