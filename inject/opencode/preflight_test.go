package opencode

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
)

// TestSettingsPlaces goes through the settings that apply to a folder, each of which
// overrides those before it.
func TestSettingsPlaces(t *testing.T) {
	s := newStage(t, "echo 1.18.33")
	work := filepath.Dir(s.dir)
	custom, dir := filepath.Join(s.home, "custom.json"), filepath.Join(s.home, "dir")
	model := func() string { return readConfig(machine(s.home, s.env), s.dir).Model }
	s.write(t, filepath.Join(filepath.Dir(work), "opencode.json"), `{"model":"above/the-repository"}`)
	if got := model(); got != "" {
		t.Errorf("the model is %q", got)
	}
	for _, c := range []struct{ file, variable, value string }{
		{".config/opencode/config.json", "", ""},
		{".config/opencode/opencode.json", "", ""},
		{".config/opencode/opencode.jsonc", "", ""},
		{custom, "OPENCODE_CONFIG", custom},
		{filepath.Join(work, "opencode.json"), "", ""},
		{filepath.Join(work, "opencode.jsonc"), "", ""},
		{filepath.Join(s.dir, "opencode.json"), "", ""},
		{filepath.Join(s.dir, ".opencode", "opencode.jsonc"), "", ""},
		{filepath.Join(work, ".opencode", "opencode.json"), "", ""},
		{".opencode/opencode.json", "", ""},
		{filepath.Join(dir, "opencode.json"), "OPENCODE_CONFIG_DIR", dir},
		{"", "OPENCODE_CONFIG_CONTENT", `{"model":"of/content"}`},
	} {
		want := "of/content"
		if c.file != "" {
			if !filepath.IsAbs(c.file) {
				c.file = filepath.Join(s.home, c.file)
			}
			want = "of/" + filepath.Base(filepath.Dir(c.file)) + filepath.Base(c.file)
			s.write(t, c.file, `{"model":"`+want+`"}`)
		}
		s.env[c.variable] = c.value
		if got := model(); got != want {
			t.Errorf("%s%s: the model is %q", c.file, c.variable, got)
		}
	}
	delete(s.env, "OPENCODE_CONFIG_CONTENT")
	delete(s.env, "OPENCODE_CONFIG_DIR")
	s.env["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
	if got := model(); got != "of/.opencodeopencode.json" {
		t.Errorf("without the project the model is %q", got)
	}
	s.env["XDG_CONFIG_HOME"] = filepath.Join(s.home, "xdg")
	s.write(t, filepath.Join(s.home, "xdg/opencode/opencode.json"), `{"mcp":{"there":{}}}`)
	if c := readConfig(machine(s.home, s.env), s.dir); !c.Servers["there"] {
		t.Errorf("the settings are %+v", c)
	}
}

func TestWithoutComments(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"a": "//x /* y */ ,}", /* z */ "b": [1, 2, ], // end` + "\n}", `{"a":"//x /* y */ ,}","b":[1,2]}`},
		{"\ufeff{\"a\\\"//\": 1,\n // b\n}", `{"a\"//":1}`},
		{`{"a": {"b": [[],],},}//`, `{"a":{"b":[[]]}}`},
		{"{} // x", "{}"},
		{"[,]", "[]"}, {`{"a": 1,,}`, ""}, {`{"a": "x`, ""}, {"{} /* open", ""}, {`{"a": "x\`, ""}, {"{\"a\n\": 1}", ""}, {"/", ""}, {`"`, ""}, {`{"a" 1}`, ""},
	} {
		var v any
		err := json.Unmarshal(withoutComments(c.text), &v)
		got, _ := json.Marshal(v)
		if err != nil {
			got = nil
		}
		if string(got) != c.want {
			t.Errorf("%q is %s (%v)", c.text, got, err)
		}
	}
}

func TestPreflight(t *testing.T) {
	s := newStage(t, "echo 1.18.33")
	s.wantLaunch(t) // a new user: the program has models that need no key
	for _, text := range []string{`{"model": "a/b", `, "{'a': 1}", "nothing"} {
		s.project(t, text)
		s.wantUnready(t, filepath.Join(s.dir, "opencode.json")+" is not JSON")
	}
	s.env["KIND"] = "true"
	for _, text := range []string{"", " \n", "{// c\n\"share\": \"disabled\",}", `{"model": 7, "provider": [], "x": {env:KIND}}`, `[]`} {
		s.project(t, text)
		s.wantLaunch(t)
	}
	for _, text := range []string{`{"enabled_providers": ["acme"]}`, `{"disabled_providers": ["opencode"]}`, `{"enabled_providers": []}`} {
		s.project(t, text)
		s.wantUnready(t, "not signed in")
	}
	s.project(t, `{"enabled_providers": ["acme"]}`)
	auth := filepath.Join(s.home, ".local/share/opencode/auth.json")
	for _, c := range []struct {
		text string
		ok   bool
	}{{`{"acme":{"type":"api"}}`, true}, {`{"other":{"type":"api"}}`, false}, {`{"https://x":{"type":"wellknown"}}`, true}, {"{", false}} {
		s.write(t, auth, c.text)
		if c.ok {
			s.wantLaunch(t)
		} else {
			s.wantUnready(t, "not signed in")
		}
	}
	for name, value := range map[string]string{"OPENCODE_AUTH_CONTENT": `{"acme":{}}`, "OPENAI_API_KEY": "k", "ACME_KEY": "k"} {
		s.write(t, filepath.Join(s.home, ".cache/opencode/models.json"), `{"acme":{"env":["ACME_KEY"]}}`)
		s.env[name] = value
		s.wantLaunch(t)
		delete(s.env, name)
	}
	for _, text := range []string{`{"enabled_providers": ["own"], "provider": {"own": {}}}`, `{"enabled_providers": [], "plugin": ["x"]}`, `{"enabled_providers": ["opencode"]}`} {
		s.project(t, text)
		s.wantLaunch(t)
	}
}

// TestChosenModel checks that only a model that is certain to exist is used, since a
// session without a terminal continues with the model stored in it.
func TestChosenModel(t *testing.T) {
	s := newStage(t, "echo 1.18.33")
	want := func(want string, args ...string) {
		t.Helper()
		m := machine(s.home, s.env)
		if got := chosenModel(m, readConfig(m, s.dir), args); got != want {
			t.Errorf("with %q the model is %q, not %q", args, got, want)
		}
	}
	want("")
	s.write(t, filepath.Join(s.home, ".local/state/opencode/model.json"), `{"recent":[{"providerID":"acme","modelID":"big/1"},{"providerID":"other","modelID":"x"}]}`)
	want("") // it may not exist any more
	models := filepath.Join(s.home, ".cache/opencode/models.json")
	s.write(t, models, `{"acme":{"env":["ACME_KEY"],"models":{"big/1":{}}}}`)
	want("")
	s.env["ACME_KEY"] = "k"
	want("acme/big/1")
	delete(s.env, "ACME_KEY")
	s.write(t, filepath.Join(s.home, ".local/share/opencode/auth.json"), `{"acme":{"type":"oauth"}}`)
	want("acme/big/1")
	s.project(t, `{"disabled_providers":["acme"]}`)
	want("")
	s.write(t, models, `{"acme":{"models":{"small":{}}}}`)
	s.project(t, `{}`)
	want("")
	s.project(t, `{"provider":{"acme":{"models":{"big/1":{}}}}}`)
	want("acme/big/1")
	s.project(t, `{"model":"own/model"}`)
	want("own/model")
	want("a/b", "--agent", "plan", "-m", "a/b")
	want("a/b", "--model", "a/b")
	want("a/b", "--model=a/b")
	want("a/b", "-m=a/b", "-m")
	want("own/model", "-m")
	s.project(t, `{"model":"own/model","agent":{"plan":{"model":"own/planner"},"build":{"model":"own/builder"}}}`)
	want("own/planner", "--agent", "plan")
	want("own/builder")
	want("own/model", "--agent", "other")
	want("a/b", "-m", "a/b")
	s.project(t, `{"model":"own/model","default_agent":"plan","agent":{"plan":{"model":"own/planner"}}}`)
	want("own/planner")
	want("own/model", "--agent", "build")
}

// TestWindow checks that the window for a model without its provider is the smallest
// one from a usable provider.
func TestWindow(t *testing.T) {
	s := newStage(t, "echo 1.18.33")
	want := func(want int, model string) {
		t.Helper()
		if got := adapter.Window(machine(s.home, s.env), s.request, model); got != want {
			t.Errorf("%s: %d, not %d", model, got, want)
		}
	}
	want(0, "")
	want(0, "acme/m")
	s.write(t, filepath.Join(s.home, ".cache/opencode/models.json"), `{
		"acme":{"env":["ACME_KEY"],"models":{"m":{"limit":{"context":200000}}}},
		"cheap":{"env":["CHEAP_KEY"],"models":{"m":{"limit":{"context":8000}},"x/y":{"limit":{"context":5000}}}}}`)
	want(200_000, "acme/m")
	want(8_000, "cheap/m")
	want(0, "m") // not signed in to either
	s.env["ACME_KEY"] = "k"
	want(200_000, "m")
	s.env["CHEAP_KEY"] = "k"
	want(8_000, "m")
	want(5_000, "x/y")
	want(5_000, "cheap/x/y")
	s.project(t, `{"disabled_providers":["cheap"],"provider":{"own":{"models":{"m":{"limit":{"context":65536}}}}}}`)
	want(65_536, "own/m")
	want(65_536, "m")
	want(0, "x/y")
	want(0, "")
}

// TestTooLarge checks that the warning suggests a budget that fits, and only appears if
// the model's size is known.
func TestTooLarge(t *testing.T) {
	s := newStage(t, "echo 1.18.33")
	models := filepath.Join(s.home, ".cache/opencode/models.json")
	s.write(t, models, `{"acme":{"models":{"m":{"limit":{"context":100000,"output":8000}}}}}`)
	for _, c := range []struct {
		settings string
		words    int
		budget   string // "": no warning
	}{
		{`{"model":"acme/m"}`, 50_000, ""},
		{`{"model":"acme/m"}`, 87_000, ""},
		{`{"model":"acme/m"}`, 89_000, "--budget 66000 fits"},
		{`{"model":"acme/unknown"}`, 1_000_000, ""},
		{`{}`, 1_000_000, ""},
		{`{"model":"acme/m","provider":{"acme":{"models":{"m":{"limit":{"context":1000000}}}}}}`, 500_000, ""},
		{`{"model":"own/m","provider":{"own":{"models":{"m":{"limit":{"context":8000}}}}}}`, 9_000, "or fail"},
		{`{"model":"own/m","provider":{"own":{"models":{"m":{"limit":{"context":-1}}}}}}`, 9_000, ""},
	} {
		s.project(t, c.settings)
		s.request.Payload = strings.Repeat(" word", c.words)
		warnings := s.wantLaunch(t).Warnings
		if c.budget == "" && len(warnings) > 0 || c.budget != "" && (len(warnings) != 1 || !strings.HasSuffix(warnings[0], c.budget)) {
			t.Errorf("%s, %d words: %q", c.settings, c.words, warnings)
		}
	}
}

func TestAbsentServers(t *testing.T) {
	s := newStage(t, "echo 1.18.33")
	s.project(t, `{"mcp":{"my server":{"type":"local"},"with_line":{},"off":{"enabled":false},"on":{"enabled":true}}}`)
	for _, c := range []struct {
		tools []string
		want  []string // servers reported as absent
	}{
		{nil, nil},
		{[]string{"bash", "todowrite", "github_search", "mcp", "mcp_", "mcp__", "mcp__x", "mcp_x", "Read"}, nil},
		{[]string{"mcp__my_server__a", "mcp__on__b", "mcp_on_b", "mcp_with_line_c", "mcp_my_server_d_e"}, nil},
		{[]string{"mcp__jira__a", "mcp__jira__b", "mcp__off__c", "mcp_linear_d", "mcp_jira_e"}, []string{"jira", "off", "linear"}},
	} {
		s.request.Tools = c.tools
		var got []string
		for _, warning := range s.wantLaunch(t).Warnings {
			_, name, _ := strings.Cut(warning, "MCP server ")
			name, _, _ = strings.Cut(name, ",")
			got = append(got, name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: absent are %q, not %q", c.tools, got, c.want)
		}
	}
}

// TestHostileSettings checks that the launch is either planned or refused, whatever the
// user's files contain.
func TestHostileSettings(t *testing.T) {
	s := newStage(t, "echo 1.18.33")
	deep := strings.Repeat("[", 200_000)
	texts := []string{deep, deep + strings.Repeat("]", 200_000), "null", "7", `"`, "\x00", `{"provider":null,"mcp":null}`, `{"provider":{"a":null,"b":7},"mcp":{"x":null}}`,
		`{"enabled_providers":null}`, `{"recent":[null]}`, `{"recent":{}}`, `{"a":{"env":7,"models":[]}}`, strings.Repeat(`{"a":`, 100_000), "/*", "//", "{env:}"}
	for _, text := range texts {
		for _, file := range []string{".config/opencode/opencode.json", ".local/state/opencode/model.json", ".local/share/opencode/auth.json", ".cache/opencode/models.json"} {
			s.write(t, filepath.Join(s.home, file), text)
		}
		if _, err := s.launch(); err != nil {
			if _, ok := err.(*inject.PreflightError); !ok {
				t.Errorf("%.40q: %v", text, err)
			}
		}
	}
}
