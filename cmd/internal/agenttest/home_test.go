package agenttest

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func newHome(t *testing.T, s *Server) *Home {
	t.Helper()
	h, err := NewHome(filepath.Join(t.TempDir(), "home"), s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHomeEnv(t *testing.T) {
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "of-the-user")
	s := serve(t)
	h := newHome(t, s)
	values := map[string]string{}
	for _, e := range h.Env() {
		k, v, _ := strings.Cut(e, "=")
		values[k] = v
	}
	for _, k := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "GIT_CONFIG_GLOBAL"} {
		if !strings.HasPrefix(values[k], h.Dir) {
			t.Errorf("%s=%q is outside the home", k, values[k])
		}
		if _, err := os.Stat(values[k]); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
	for _, k := range []string{"ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"} {
		if values[k] != s.URL {
			t.Errorf("%s=%q", k, values[k])
		}
	}
	if raw, err := os.ReadFile(filepath.Join(values["XDG_CONFIG_HOME"], "opencode", "opencode.json")); !strings.Contains(string(raw), s.URL+"/v1") {
		t.Errorf("%v: opencode's settings are %s", err, raw)
	}
	if _, ok := values["ANTHROPIC_AUTH_TOKEN"]; ok {
		t.Error("the test's own environment is passed on")
	}
}

func TestHomeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err) // the tests need Go and git
	}
	h := newHome(t, serve(t))
	dir := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "first"}, {"rev-parse", "--abbrev-ref", "HEAD"}} {
		cmd := exec.Command(git, args...)
		cmd.Dir, cmd.Env = dir, h.Env()
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		if args[0] == "rev-parse" && strings.TrimSpace(string(out)) != "main" {
			t.Errorf("branch %q", out)
		}
	}
}

func TestTrustClaude(t *testing.T) {
	h := newHome(t, serve(t))
	name := filepath.Join(h.Dir, ".claude.json")
	if err := os.WriteFile(name, []byte(`{"kept":1,"projects":{"/other":{"kept":2}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("NOT RUN: no symbolic links here:", err)
	}
	if err := h.TrustClaude(link); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Kept                   int
		HasCompletedOnboarding bool
		CustomAPIKeyResponses  struct{ Approved []string } `json:"customApiKeyResponses"`
		Projects               map[string]struct {
			Kept                   int
			HasTrustDialogAccepted bool
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	real, err = filepath.EvalSymlinks(real)
	if err != nil {
		t.Fatal(err)
	}
	if got.Kept != 1 || got.Projects["/other"].Kept != 2 {
		t.Errorf("settings that were there are gone: %s", raw)
	}
	if !got.HasCompletedOnboarding || !got.Projects[real].HasTrustDialogAccepted ||
		len(got.CustomAPIKeyResponses.Approved) != 1 || !strings.HasSuffix(apiKey, got.CustomAPIKeyResponses.Approved[0]) {
		t.Errorf("settings %s", raw)
	}
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := h.TrustClaude(link); err == nil {
		t.Error("broken settings were overwritten")
	}
}

func TestTrustGemini(t *testing.T) {
	h := newHome(t, serve(t))
	real, other := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Skip("NOT RUN: no symbolic links here:", err)
	}
	want := map[string]any{}
	for given, dir := range map[string]string{link: real, other: other} {
		if err := h.TrustGemini(given); err != nil {
			t.Fatal(err)
		}
		dir, err := filepath.EvalSymlinks(dir)
		if err != nil {
			t.Fatal(err)
		}
		want[dir] = "TRUST_FOLDER"
	}
	got, err := readSettings(filepath.Join(h.Dir, ".gemini", "trustedFolders.json"))
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("trusted %v, %v; want %v", got, err, want)
	}
}
