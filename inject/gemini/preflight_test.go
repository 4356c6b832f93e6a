package gemini

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSignedIn checks that the settings choose the method, and that what the method
// needs must exist.
func TestSignedIn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT RUN: this machine may have credentials in a keychain")
	}
	auth := func(kind string) string { return fmt.Sprintf(`{"security":{"auth":{"selectedType":%q}}}`, kind) }
	const none, noKey, noVertex, noGoogle = "not signed in", "GEMINI_API_KEY, which is not set", "Vertex AI", "nobody is signed in"
	home := func(name string) string { return "home:" + name }
	for _, c := range []struct {
		name, settings    string
		env               string   // NAME=value, separated by spaces
		files             []string // name, text, …
		interactive, once string   // the error of preflight; empty for none
	}{
		{name: "fresh", interactive: none, once: none},
		{name: "no JSON", settings: "{", interactive: none, once: none},
		{name: "key alone", env: "GEMINI_API_KEY=k", interactive: "it would ask how"},
		{name: "key alone, in a file", files: []string{".env", "GEMINI_API_KEY=k"}, interactive: none},
		{name: "vertex alone", env: "GOOGLE_GENAI_USE_VERTEXAI=true GOOGLE_API_KEY=k", interactive: none},
		{name: "vertex without key", env: "GOOGLE_GENAI_USE_VERTEXAI=true", interactive: none, once: noVertex},
		{name: "gca alone", env: "GOOGLE_GENAI_USE_GCA=true", interactive: none, once: noGoogle},
		{name: "gateway", env: "GOOGLE_GEMINI_BASE_URL=http://x", interactive: none},
		{name: "cloud shell", env: "CLOUD_SHELL=true", interactive: none},
		{name: "key", settings: auth("gemini-api-key"), env: "GEMINI_API_KEY=k"},
		{name: "no key", settings: auth("gemini-api-key"), interactive: noKey, once: noKey},
		{name: "key stored", settings: auth("gemini-api-key"), files: []string{home("gemini-credentials.json"), "{}"}},
		{name: "keychain", settings: auth("gemini-api-key"), env: "DBUS_SESSION_BUS_ADDRESS=unix:path=/run/bus"},
		{name: "key in .env", settings: auth("gemini-api-key"), files: []string{".env", "# keys\n export GEMINI_API_KEY = \"k\"\n"}},
		{name: "key in .env above", settings: auth("gemini-api-key"), files: []string{"../.env", "GEMINI_API_KEY=k"}},
		{name: "key in .gemini/.env", settings: auth("gemini-api-key"), files: []string{".gemini/.env", "GEMINI_API_KEY=k", ".env", ""}},
		{name: "key in ~/.gemini/.env", settings: auth("gemini-api-key"), files: []string{home(".env"), "GEMINI_API_KEY=k"}},
		{name: "key in ~/.env", settings: auth("gemini-api-key"), files: []string{home("../.env"), "GEMINI_API_KEY=k"}},
		{name: "nearer .env", settings: auth("gemini-api-key"), files: []string{"../.env", "GEMINI_API_KEY=k", ".env", "X=1"}, interactive: noKey, once: noKey},
		{name: "empty in .env", settings: auth("gemini-api-key"), files: []string{".env", "GEMINI_API_KEY=''\n#GEMINI_API_KEY=k"}, interactive: noKey, once: noKey},
		{name: "vertex project", settings: auth("vertex-ai"), env: "GOOGLE_CLOUD_PROJECT=p GOOGLE_CLOUD_LOCATION=l"},
		{name: "vertex half", settings: auth("vertex-ai"), env: "GOOGLE_CLOUD_PROJECT=p", interactive: noVertex, once: noVertex},
		{name: "google", settings: auth("oauth-personal"), files: []string{home("oauth_creds.json"), "{}"}},
		{name: "google without", settings: auth("oauth-personal"), interactive: noGoogle, once: noGoogle},
		{name: "google encrypted", settings: auth("oauth-personal"), env: "GEMINI_FORCE_ENCRYPTED_FILE_STORAGE=true"},
		{name: "another way", settings: auth("compute-default-credentials")},
		{name: "external", settings: `{"security":{"auth":{"useExternal":true}}}`},
		{name: "old settings", settings: `{"selectedAuthType":"gemini-api-key"}`, env: "GEMINI_API_KEY=k"},
		{name: "comments", settings: "{ // \"quoted\"\n/* \" */ \"a\": \"// \\\" /*\",\n" + auth("gemini-api-key")[1:], env: "GEMINI_API_KEY=k"},
		{name: "project's", files: []string{".gemini/settings.json", auth("oauth-personal")}, interactive: noGoogle, once: noGoogle},
		{name: "project's first", settings: auth("oauth-personal"), files: []string{".gemini/settings.json", auth("gemini-api-key")}, env: "GEMINI_API_KEY=k"},
		{name: "system's first", settings: auth("oauth-personal"), files: []string{"../system.json", auth("gemini-api-key")}, env: "GEMINI_API_KEY=k"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newStage(t, "echo 0.61.0")
			s.remove(t, s.user("settings.json"))
			delete(s.env, "GEMINI_API_KEY")
			for _, one := range strings.Fields(c.env) {
				name, value, _ := strings.Cut(one, "=")
				s.env[name] = value
			}
			if c.settings != "" {
				s.write(t, s.user("settings.json"), c.settings)
			}
			for i := 0; i < len(c.files); i += 2 {
				file := filepath.Join(s.dir, c.files[i])
				if name, ok := strings.CutPrefix(c.files[i], "home:"); ok {
					file = s.user(name)
				}
				s.write(t, file, c.files[i+1])
			}
			for i, want := range []string{c.interactive, c.once} {
				s.request.Headless = i == 1
				if want == "" {
					s.wantLaunch(t)
				} else {
					s.wantUnready(t, want)
				}
			}
		})
	}
}

// TestTrust checks that the longest path at or above the folder decides, and that
// without a terminal only a trusted folder works.
func TestTrust(t *testing.T) {
	const asks, denied, off = "has not been told to trust", "was told not to trust", `{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}}}`
	for _, c := range []struct {
		name, rules string // %s is the folder
		env, user   string
		version     string
		once, ask   string // the error without a terminal; the error or warning with one
	}{
		{name: "no file", once: asks, ask: asks},
		{name: "other", rules: `{"%s2":"TRUST_FOLDER","%s/sub":"TRUST_FOLDER"}`, once: asks, ask: asks},
		{name: "it", rules: `{"%s":"TRUST_FOLDER"}`},
		{name: "above", rules: `{"/":"TRUST_FOLDER"}`},
		{name: "parent of its sub", rules: `{"%s/sub":"TRUST_PARENT"}`},
		{name: "parent of it", rules: `{"%s":"TRUST_PARENT"}`},
		{name: "not it", rules: `{"/":"TRUST_FOLDER","%s":"DO_NOT_TRUST"}`, once: asks, ask: denied},
		{name: "it, not above", rules: `{"/":"DO_NOT_TRUST","%s/":"TRUST_FOLDER"}`},
		{name: "comments", rules: "{// x\n\"%s\":/* y */\"TRUST_FOLDER\"}"},
		{name: "unknown level", rules: `{"/elsewhere":"MAYBE"}`, once: "not a trust level", ask: "not a trust level"},
		{name: "no JSON", rules: `{`, once: "cannot be read", ask: "cannot be read"},
		{name: "a list", rules: `[]`, once: "cannot be read", ask: "cannot be read"},
		{name: "variable", env: "GEMINI_CLI_TRUST_WORKSPACE=true"},
		{name: "variable against", rules: `{"%s":"TRUST_FOLDER"}`, env: "GEMINI_CLI_TRUST_WORKSPACE=false", once: asks, ask: denied},
		{name: "restricted", rules: `{"%s":"TRUST_FOLDER"}`, env: "GEMINI_RESTRICTED_MODE=true", once: asks, ask: denied},
		{name: "switched off", user: off},
		{name: "older", version: "0.20.0"},
		{name: "older, on", version: "0.20.0", user: strings.ReplaceAll(off, "false", "true"), once: asks, ask: asks},
	} {
		t.Run(c.name, func(t *testing.T) {
			version := "0.61.0"
			if c.version != "" {
				version = c.version
			}
			s := newStage(t, "echo "+version)
			s.remove(t, s.user("trustedFolders.json"))
			if c.rules != "" {
				s.write(t, s.user("trustedFolders.json"), strings.ReplaceAll(c.rules, "%s", s.dir))
			}
			if c.user != "" {
				s.write(t, s.user("settings.json"), c.user)
			}
			name, value, _ := strings.Cut(c.env, "=")
			s.env[name] = value
			var older []string
			if c.version != "" {
				older = []string{"cannot start from a session"}
			}
			for i, want := range []string{c.ask, c.once} {
				s.request.Headless = i == 1
				switch {
				case want == "":
					s.wantLaunch(t, older...)
				case want == denied && !s.request.Headless:
					s.wantLaunch(t, want)
				default:
					s.wantUnready(t, want)
				}
			}
			s.request.Headless = false
			if _, err := adapter.Ready(s.machine(), s.request); err == nil != (c.ask == "") || err != nil && !strings.Contains(err.Error(), c.ask) {
				t.Errorf("ready: %v, want %q", err, c.ask)
			}
		})
	}
	s := newStage(t, "echo 0.61.0")
	s.trust(t, "/elsewhere", "TRUST_FOLDER")
	s.wantUnready(t, asks)
	s.request.Args = []string{"--skip-trust"}
	s.wantLaunch(t)
	s.request.Args = nil
	s.env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"] = filepath.Join(s.home, "t.json")
	s.write(t, s.env["GEMINI_CLI_TRUSTED_FOLDERS_PATH"], `{"/":"TRUST_FOLDER"}`)
	s.wantLaunch(t)
	s.env["GEMINI_CLI_HOME"] = filepath.Join(s.home, "other") // not signed in there
	s.wantUnready(t, "it would ask how to sign in")
}

// TestElsewhere checks that a launch below the workspace warns of missing hooks, unless
// the user has them too.
func TestElsewhere(t *testing.T) {
	s := newStage(t, "echo 0.61.0")
	s.request.Dir = filepath.Join(s.dir, "sub")
	s.mkdir(t, s.request.Dir)
	s.wantLaunch(t) // no hooks there
	s.write(t, filepath.Join(s.dir, ".gemini", "settings.json"), "{}")
	s.wantLaunch(t, "subfolder")
	s.write(t, s.user("settings.json"), signedIn[:len(signedIn)-1]+`,"hooks":{"BeforeAgent":[{"hooks":[{"command":"cortext hook gemini BeforeAgent"}]}]}}`)
	s.wantLaunch(t)
	s.request.Dir = s.dir
	s.wantLaunch(t)
}

// TestAbsent checks that each server that was used but is not configured is reported
// once. It expects an ambiguous tool name to be ignored.
func TestAbsent(t *testing.T) {
	s := newStage(t, "echo 0.61.0")
	s.request.Tools = []string{
		"Read", "read_file", "run_shell_command", "mcp", "mcp_", "mcp_x", "mcp__x", "mcp____x", "server_tool",
		"mcp__github__search", "mcp__github__get_issue", "mcp_github_list", "mcp_my_data_query", "mcp__other.one__x",
	}
	const is = "which is not set up here"
	s.wantLaunch(t, "server github, "+is, "server my, "+is, "server other.one, "+is)
	s.write(t, s.user("settings.json"), `{"mcpServers":{"github":{}},`+signedIn[1:])
	s.wantLaunch(t, "server my,", "server other.one,")
	s.write(t, filepath.Join(s.dir, ".gemini", "settings.json"), "{ // ours\n\"mcpServers\":{\"my_data\":{\"command\":\"x\"}}}")
	s.wantLaunch(t, "server other.one,")
	s.write(t, s.user("extensions/e/gemini-extension.json"), `{"mcpServers":{"other.one":{}}}`)
	s.wantLaunch(t)
}
