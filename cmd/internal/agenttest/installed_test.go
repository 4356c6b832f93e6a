package agenttest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestClaudeWhereInstalled(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("CORTEXT_CLAUDE", "")
	t.Setenv("CORTEXT_AGENTS", cache)
	if _, _, err := Claude(); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("nothing installed: %v", err)
	}
	want := filepath.Join(cache, "claude", ClaudeVersion, "claude")
	if err := os.MkdirAll(want, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Claude(); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("a folder in its place: %v", err)
	}
	if err := os.Remove(want); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(want, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	if path, version, err := Claude(); path != want || version != ClaudeVersion || err != nil {
		t.Errorf("found %q %q %v", path, version, err)
	}

	other := filepath.Join(cache, "claude", "9.9.9", "claude")
	if err := os.MkdirAll(filepath.Dir(other), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CORTEXT_CLAUDE", other)
	if path, version, err := Claude(); path != other || version != "9.9.9" || err != nil {
		t.Errorf("found %q %q %v", path, version, err)
	}
}

func TestDefaultCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("CORTEXT_AGENTS", "")
	t.Setenv("XDG_CACHE_HOME", cache)
	if dir, err := agentsDir(); dir != filepath.Join(cache, "cortext", "agents") || err != nil {
		t.Errorf("%q, %v", dir, err)
	}
}

// The script's table and this package name the same version.
func TestPinnedVersion(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "scripts", "install-agents.sh"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(script)) {
		fields := strings.Fields(line)
		if len(fields) != 6 || fields[0] != "claude" {
			continue
		}
		rows++
		if fields[1] != ClaudeVersion {
			t.Errorf("scripts/install-agents.sh pins claude %s, this package %s", fields[1], ClaudeVersion)
		}
	}
	if rows == 0 {
		t.Error("scripts/install-agents.sh pins no claude")
	}
}
