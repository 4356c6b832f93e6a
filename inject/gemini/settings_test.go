package gemini

import (
	"path/filepath"
	"testing"
)

// TestModel checks that arguments take precedence over variables, and variables over
// settings: the system's, then the folder's if it is trusted.
func TestModel(t *testing.T) {
	s := newStage(t, "echo 0.61.0")
	s.env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] = filepath.Join(s.home, "defaults.json")
	want := func(want string, args ...string) {
		t.Helper()
		s.request.Args = args
		if got := adapter.Model(s.machine(), s.request); got != want {
			t.Errorf("with %q the model is %q, not %q", args, got, want)
		}
	}
	want("")
	s.write(t, s.env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"], `{"model":{"name":"auto"}}`)
	want("auto")
	s.write(t, s.user("settings.json"), `{"model":"gemini-2.0-flash"}`) // as in old versions
	want("gemini-2.0-flash")
	s.env["MINE"] = "gemini-2.5-flash"
	s.write(t, s.user("settings.json"), `{/* mine */"model":{"name":"${MINE}","maxSessionTurns":3}}`)
	want("gemini-2.5-flash")
	project := filepath.Join(s.dir, ".gemini", "settings.json")
	s.write(t, project, `{"model":{"name":"gemini-2.5-pro"}}`)
	want("gemini-2.5-pro")
	s.trust(t, s.dir, "DO_NOT_TRUST")
	want("gemini-2.5-flash")
	s.trust(t, filepath.Dir(s.dir)+"/elsewhere", "TRUST_FOLDER")
	want("gemini-2.5-pro") // it will ask, and then be trusted or not start
	s.write(t, s.env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"], `{"model":{"name":"gemini-3-pro-preview"}}`)
	want("gemini-3-pro-preview")
	s.write(t, filepath.Join(s.dir, ".env"), "export GEMINI_MODEL='gemma-4-31b'\n")
	want("gemma-4-31b")
	s.env["GEMINI_MODEL"] = "gemini-3-flash"
	want("gemini-3-flash")
	want("pro", "--model", "pro")
	want("flash", "-m=pro", "-m", "flash")
}
