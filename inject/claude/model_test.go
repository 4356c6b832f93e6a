package claude

import (
	"path/filepath"
	"testing"

	"cortext/inject"
)

// TestModel checks that arguments take precedence over variables, and variables over
// settings, and that the nearest settings win.
func TestModel(t *testing.T) {
	root := t.TempDir()
	s := &stage{home: filepath.Join(root, "home"), dir: filepath.Join(root, "work", "sub"), env: map[string]string{}}
	s.request = inject.Request{Dir: s.dir, Root: s.dir}
	want := func(want string, args ...string) {
		t.Helper()
		s.request.Args = args
		if got := adapter.Model(machine(s.home, s.env), s.request); got != want {
			t.Errorf("with %q the model is %q, not %q", args, got, want)
		}
	}
	want("")
	s.write(t, filepath.Join(s.home, ".claude/settings.json"), `{"model":"claude-opus-4-5","env":{"X":"y"}}`)
	want("claude-opus-4-5")
	s.write(t, filepath.Join(s.dir, ".claude/settings.json"), `{"model":"haiku"}`)
	want("haiku")
	s.write(t, filepath.Join(s.dir, ".claude/settings.local.json"), `{"model":"sonnet[1m]","permissions":{}}`)
	want("sonnet[1m]")
	want("claude-fable-5", "--settings", `{"model":"claude-fable-5"}`)
	want("sonnet[1m]", "--settings", "nowhere.json")
	s.write(t, filepath.Join(s.dir, "own.json"), `{"model":"claude-opus-5"}`)
	want("claude-opus-5", "--settings=own.json")
	s.env["ANTHROPIC_MODEL"] = "claude-haiku-4-5"
	want("claude-haiku-4-5")
	want("opus", "--model", "opus")
	want("opus[1m]", "-p", "--model=opus[1m]")
	want("", "--model", "default")
	want("sonnet", "--model", "opusplan")
	want("claude-haiku-4-5", "--", "--model", "opus")

	s.env["ANTHROPIC_DEFAULT_SONNET_MODEL"], s.env["ANTHROPIC_DEFAULT_HAIKU_MODEL"] = "claude-sonnet-4-5", "us.anthropic.claude-haiku-4-5-v1:0"
	want("claude-sonnet-4-5", "--model", "Sonnet")
	want("claude-sonnet-4-5[1m]", "--model", "sonnet[1m]")
	want("claude-sonnet-4-5", "--model", "opusplan")
	want("us.anthropic.claude-haiku-4-5-v1:0", "--model", "haiku")
	want("claude-sonnet-5", "--model", "claude-sonnet-5")

	// The program sets the variables in its settings for itself.
	s.write(t, filepath.Join(s.dir, ".claude/settings.json"), `{"env":{"ANTHROPIC_MODEL":"claude-opus-4-6"}}`)
	want("claude-opus-4-6")

	// Below the workspace, a launch passes the workspace's settings.
	s.env = map[string]string{}
	s.request.Root = filepath.Join(root, "work")
	s.write(t, filepath.Join(s.request.Root, ".claude/settings.json"), `{"model":"claude-opus-4-1"}`)
	s.write(t, filepath.Join(s.dir, ".claude/settings.json"), `not JSON`)
	want("claude-opus-4-1")

	s.env["CLAUDE_CONFIG_DIR"], s.request.Root = filepath.Join(root, "other"), s.dir
	s.write(t, filepath.Join(s.dir, ".claude/settings.local.json"), `{"model":7}`)
	want("")
	s.write(t, filepath.Join(root, "other", "settings.json"), `{"model":"opus"}`)
	want("opus")
}
