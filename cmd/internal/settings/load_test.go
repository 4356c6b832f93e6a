package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
)

// sources returns the sources with the given texts and variables; an empty text stands for no file.
func sources(t *testing.T, workspace, user string, env map[string]string) Sources {
	t.Helper()
	home := t.TempDir()
	getenv := func(name string) string { return env[name] }
	own := OfUser(inject.Machine{Home: home, Getenv: getenv}, filepath.Join(home, "state"))
	if user != "" {
		if err := errorsOf(os.MkdirAll(filepath.Dir(own.Path), 0o700), os.WriteFile(own.Path, []byte(user), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return Sources{Workspace: InWorkspace(open(t, workspace)), User: own, Getenv: getenv}
}

// TestLayers: each layer overrides those before it, value by value, and a value that cannot
// be used leaves the one before.
func TestLayers(t *testing.T) {
	const own = "~/.config/cortext/config.yaml"
	for name, test := range map[string]struct {
		workspace, user string
		env             map[string]string
		want            string // of idle_minutes
		origin          Origin
		warnings        []string
	}{
		"default":        {"", "", nil, "5", Origin{Layer: FromDefault}, nil},
		"workspace":      {"# x\nidle_minutes: 6\n", "", nil, "6", Origin{Layer: FromWorkspace, File: WorkspaceFile, Line: 2}, nil},
		"user":           {"idle_minutes: 6\n", "\nidle_minutes: 7\n", nil, "7", Origin{Layer: FromUser, File: own, Line: 2}, nil},
		"user alone":     {"", "idle_minutes: 7\n", nil, "7", Origin{Layer: FromUser, File: own, Line: 1}, nil},
		"variable":       {"idle_minutes: 6\n", "idle_minutes: 7\n", map[string]string{"CORTEXT_IDLE_MINUTES": "8"}, "8", Origin{Layer: FromEnvironment, Variable: "CORTEXT_IDLE_MINUTES"}, nil},
		"empty variable": {"idle_minutes: 6\n", "", map[string]string{"CORTEXT_IDLE_MINUTES": ""}, "6", Origin{Layer: FromWorkspace, File: WorkspaceFile, Line: 1}, nil},
		"bad variable": {"idle_minutes: 6\n", "", map[string]string{"CORTEXT_IDLE_MINUTES": "\x1b[31mx"}, "6", Origin{Layer: FromWorkspace, File: WorkspaceFile, Line: 1},
			[]string{`CORTEXT_IDLE_MINUTES is "\x1b[31mx", not a whole number from 0 to 100000000: using 6`}},
		"bad for the user": {"idle_minutes: 6\n", "idle_minutes: x\n", nil, "6", Origin{Layer: FromWorkspace, File: WorkspaceFile, Line: 1},
			[]string{own + `:1: idle_minutes is "x", not a whole number from 0 to 100000000: using 6`}},
		"twice for the user": {"idle_minutes: 6\n", "idle_minutes: 7\nidle_minutes: 8\n", nil, "6", Origin{Layer: FromWorkspace, File: WorkspaceFile, Line: 1},
			[]string{own + ":2: idle_minutes is set more than once: using 6"}},
		"left empty": {"idle_minutes: 6\n", "idle_minutes:\n", nil, "6", Origin{Layer: FromWorkspace, File: WorkspaceFile, Line: 1}, nil},
		"not YAML": {"idle_minutes: 6\n", "idle_minutes: 7\n\t[\nremind_turns: 4\n", nil, "7", Origin{Layer: FromUser, File: own, Line: 1},
			[]string{own + ":2: "}},
		"unknown": {"", "idle_minute: 7\n", nil, "5", Origin{Layer: FromDefault}, []string{own + `:1: unknown setting "idle_minute"`}},
	} {
		t.Run(name, func(t *testing.T) {
			l := Load(sources(t, test.workspace, test.user, test.env))
			v, err := l.Find("idle_minutes")
			if err != nil || v.Text != test.want || v.Origin != test.origin {
				t.Errorf("%q from %+v, %v; want %q from %+v", v.Text, v.Origin, err, test.want, test.origin)
			}
			if len(l.Warnings) != len(test.warnings) {
				t.Fatalf("warnings %q, want %q", l.Warnings, test.warnings)
			}
			for i, want := range test.warnings {
				if !strings.Contains(l.Warnings[i], want) {
					t.Errorf("%q, want %q", l.Warnings[i], want)
				}
			}
		})
	}
}

// TestShared: what committed files depend on does not include the user's own settings.
func TestShared(t *testing.T) {
	l := Load(sources(t, "remind_turns: 6\n", "remind_turns: 7\ncommit: stop\n", map[string]string{"CORTEXT_AUTOSAVE": "off"}))
	if want := changed(func(c *Config) { c.RemindTurns = 6 }); l.Shared != want {
		t.Errorf("%+v", l.Shared)
	}
	if want := changed(func(c *Config) { c.RemindTurns, c.Commit, c.Autosave = 7, CommitStop, AutosaveOff }); l.Config != want {
		t.Errorf("%+v", l.Config)
	}
}

// TestGuarded: a workspace's value that sends data applies only to users who trust exactly
// this value. The user's own values need no trust.
func TestGuarded(t *testing.T) {
	agent := func(name, value string) bool { return name == "summarizer" && value == "agent" }
	for name, test := range map[string]struct {
		workspace, user, env string
		trusts               func(name, value string) bool
		want                 string
		warned               bool
		guarded              int
	}{
		"harmless":            {"summarizer: off\n", "", "", nil, "off", false, 0},
		"not trusted":         {"summarizer: agent\n", "", "", nil, "extractive", true, 1},
		"trusted":             {"summarizer: agent\n", "", "", agent, "agent", false, 1},
		"another was trusted": {"summarizer: openai\n", "", "", agent, "extractive", true, 1},
		"the user's":          {"", "summarizer: openai\n", "", nil, "openai", false, 0},
		"the user overrides":  {"summarizer: agent\n", "summarizer: off\n", "", nil, "off", false, 1},
		"the variable":        {"summarizer: agent\n", "", "openai", nil, "openai", false, 1},
		"a bad one of both":   {"summarizer: agent\n", "summarizer: x\n", "", nil, "extractive", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := sources(t, test.workspace, test.user, map[string]string{"CORTEXT_SUMMARIZER": test.env})
			s.Trusts = test.trusts
			l := Load(s)
			if l.Config.Summarizer != test.want || len(l.Guarded) != test.guarded {
				t.Errorf("%s, guarded %+v", l.Config.Summarizer, l.Guarded)
			}
			warned := slices.ContainsFunc(l.Warnings, func(w string) bool { return strings.Contains(w, "it applies after cortext trust") })
			if warned != test.warned {
				t.Errorf("warnings %q", l.Warnings)
			}
		})
	}
}

// TestTable: each setting has a variable of its own, and its default is allowed.
func TestTable(t *testing.T) {
	c := Default()
	seen := map[string]bool{}
	for _, s := range c.table() {
		if seen[s.variable()] || s.variable() != "CORTEXT_"+strings.ToUpper(s.name) {
			t.Errorf("%s has the variable %s", s.name, s.variable())
		}
		seen[s.variable()] = true
		if taken := []string{"CORTEXT_SESSION", "CORTEXT_CLAUDE", "CORTEXT_GEMINI", "CORTEXT_OPENCODE", "CORTEXT_HOOKS", "CORTEXT_EVENT", "CORTEXT_FOLDER"}; slices.Contains(taken, s.variable()) {
			t.Errorf("%s means something else", s.variable())
		}
		for _, value := range append([]string{s.value()}, s.guarded...) {
			if spelled, _, err := Set(InWorkspace(open(t, "")), s.name, value); err != nil || spelled != value {
				t.Errorf("%s: %s is not allowed: %q, %v", s.name, value, spelled, err)
			}
		}
		if len(s.guarded) > 0 && (s.why == "" || slices.Contains(s.guarded, s.value())) {
			t.Errorf("%s: a guarded value needs a reason, and cannot be the default", s.name)
		}
	}
}
