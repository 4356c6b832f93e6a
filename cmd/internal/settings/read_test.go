package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"cortext/store"
)

// open creates a workspace with the given settings and opens it.
func open(t *testing.T, config string) *store.Store {
	t.Helper()
	st, _, err := store.Init(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if err := os.WriteFile(filepath.Join(st.Root(), WorkspaceFile), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return st
}

// readIn reads the settings of a workspace alone.
func readIn(st *store.Store) (Config, []string) {
	l := Load(Sources{Workspace: InWorkspace(st), Trusts: func(string, string) bool { return true }})
	return l.Config, l.Warnings
}

// changed is Default with changes.
func changed(change func(*Config)) Config {
	c := Default()
	change(&c)
	return c
}

func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		text     string
		want     Config
		warnings []string // a part of each, in order; none: no warnings
	}{
		"empty":         {"", Default(), nil},
		"comments only": {"# nothing\n\n", Default(), nil},
		"new file":      {Text(CommitStop, CaptureAll), changed(func(c *Config) { c.Commit, c.Capture = CommitStop, CaptureAll }), nil},
		"every key": {
			"one_active: false\ncommit: stop\ncapture: all\nautosave: off\nidle_minutes: 1\nremind_turns: 2\nafter_tool: on\ndebounce_ms: 30\ninterval_s: 4\n" +
				"context_window: 5\nsince_then: false\nauto_archive_days: 8\nmax_conversations: 9\nsummarizer: off\nsummarize_after: 6\nkeep_messages: 7\nsummary_max_tokens: 80\n" +
				"tools: trimmed\ntool_output_kb: 900\nattachments: commit\n",
			Config{false, CommitStop, CaptureAll, AutosaveOff, 1, 2, true, 30, 4, 5, false, 8, 9, SummarizerOff, 6, 7, 80, ToolsTrimmed, 900, AttachmentsCommit}, nil,
		},
		"spellings": {
			"{\"commit\": 'stop', one_active: No, after_tool: TRUE,\r\n idle_minutes: 0x10}\r\n",
			changed(func(c *Config) { c.Commit, c.OneActive, c.AfterTool, c.IdleMinutes = CommitStop, false, true, 16 }), nil,
		},
		"left empty": {"commit:\nidle_minutes: ~\n", Default(), nil},
		"one bad value leaves the others": {
			"autosave: off\n\ncommit: always\nidle_minutes: 1\n",
			changed(func(c *Config) { c.Autosave, c.IdleMinutes = AutosaveOff, 1 }),
			[]string{`.workspace/config.yaml:3: commit is "always", not off, stop or ref: using off`},
		},
		"bad values": {
			"one_active: maybe\nautosave: [turn]\nidle_minutes: -1\nremind_turns: 1.5\nafter_tool: {}\ndebounce_ms: 9\ninterval_s: 0\ncontext_window: \"5\"\n" +
				"summarizer: 7\nsummary_max_tokens: 19\nkeep_messages: 99999999999999999999\n",
			Default(),
			[]string{
				`:1: one_active is "maybe", not true or false: using true`,
				`:2: autosave is a list, not turn, pause or off: using turn`,
				`:3: idle_minutes is "-1", not a whole number from 0 to `,
				`:4: remind_turns is "1.5", not`,
				`:5: after_tool is a mapping, not on or off: using off`,
				`:6: debounce_ms is "9", not a whole number from 10 to 60000: using 1000`,
				`:7: interval_s is "0", not`,
				`:8: context_window is "5", not`,
				`:9: summarizer is "7", not extractive, agent, openai or off: using extractive`,
				`:10: summary_max_tokens is "19", not`,
				`config.yaml: and 1 more problems`,
			},
		},
		"anchors, aliases and merges are refused": {
			"commit: &c stop\nautosave: *c\n<<: {one_active: false}\n&k idle_minutes: 1\n",
			Default(),
			[]string{
				`:1: commit is an anchor ("&c"), not off, stop or ref`,
				`:2: autosave is an alias ("*c"), not turn, pause or off`,
				`:3: "<<" is not the name of a setting`,
				`:4: an anchor ("&k") is not the name of a setting`,
			},
		},
		"conflict markers": {
			"autosave: off\n<<<<<<< HEAD\nidle_minutes: 1\none_active: false\n=======\nidle_minutes: 2\none_active: false\n>>>>>>> theirs\ncommit: stop\n",
			changed(func(c *Config) { c.Autosave, c.OneActive, c.Commit = AutosaveOff, false, CommitStop }),
			[]string{
				`:2: "<<<<<<< HEAD" is a conflict marker: resolve the merge`,
				`:5: "=======" is a conflict marker`,
				`:6: idle_minutes is set more than once: using 5`,
				`:8: ">>>>>>> theirs" is a conflict marker`,
			},
		},
		"set twice": {
			"commit: stop\nidle_minutes: 7\ncommit: off\ncommit: stop\nidle_minutes: 7\n",
			changed(func(c *Config) { c.IdleMinutes = 7 }),
			[]string{`:3: commit is set more than once: using off`, `:4: commit is set more than once: using off`},
		},
		"a tab": {
			"idle_minutes: 7\n\tautosave: off\ncommit: stop\n",
			changed(func(c *Config) { c.IdleMinutes, c.Commit = 7, CommitStop }),
			[]string{`:2: `},
		},
		"an open bracket": {
			"idle_minutes: 7\ncommit: [\n# a comment\none_active: false\n",
			changed(func(c *Config) { c.IdleMinutes, c.OneActive = 7, false }),
			[]string{`: commit is off`},
		},
		"indented too far": {
			"idle_minutes: 7\n  commit: stop\none_active: false\n",
			changed(func(c *Config) { c.OneActive = false }),
			[]string{`:2: "idle_minutes: 7": mapping values are not allowed in this context: idle_minutes is 5`},
		},
		"not YAML":       {"\x00\x01\xff\n", Default(), []string{`.workspace/config.yaml:1: `}},
		"invalid UTF-8":  {"commit: stop\n# \xff\nidle_minutes: 1\nx\xff: 1\n", changed(func(c *Config) { c.Commit, c.IdleMinutes = CommitStop, 1 }), []string{`config.yaml:4: `}},
		"a list":         {"- commit: stop\n", Default(), []string{`:1: "- commit: stop": settings have the form name: value`}},
		"a word":         {"hello\n", Default(), []string{`:1: "hello": settings have the form name: value`}},
		"an undefined *": {"commit: *x\nidle_minutes: 1\n", changed(func(c *Config) { c.IdleMinutes = 1 }), []string{`:1: "commit: *x": unknown anchor`}},
		"unknown":        {"committ: stop\n\x1b[31m: 1\n", Default(), nil}, // see below
	} {
		t.Run(name, func(t *testing.T) {
			got, warnings := readIn(open(t, test.text))
			if name == "unknown" { // a control character is not YAML
				test.warnings = []string{`:2: "\x1b[31m: 1": control characters are not allowed`, `.workspace/config.yaml:1: unknown setting "committ"`}
			}
			if got != test.want {
				t.Errorf("%+v\nwant %+v", got, test.want)
			}
			if len(warnings) != len(test.warnings) {
				t.Fatalf("%d warnings, want %d:\n%s", len(warnings), len(test.warnings), strings.Join(warnings, "\n"))
			}
			for i, want := range test.warnings {
				if !strings.Contains(warnings[i], want) {
					t.Errorf("warning %d is\n%s\nwant\n%s", i, warnings[i], want)
				}
			}
		})
	}
}

// TestFileUnreadable: if the settings file is not a regular file, the defaults
// apply.
func TestFileUnreadable(t *testing.T) {
	for name, make := range map[string]func(file string) error{
		"a folder":           func(file string) error { return os.Mkdir(file, 0o700) },
		"a dangling symlink": func(file string) error { return os.Symlink("nowhere", file) },
		"too large": func(file string) error {
			return os.WriteFile(file, []byte("commit: stop\n#"+strings.Repeat("x", maxBytes)), 0o600)
		},
		"far too large": func(file string) error { return errorsOf(os.WriteFile(file, nil, 0o600), os.Truncate(file, 1<<30)) },
	} {
		t.Run(name, func(t *testing.T) {
			st := open(t, "")
			file := filepath.Join(st.Root(), WorkspaceFile)
			if err := errorsOf(os.Remove(file), make(file)); err != nil {
				t.Fatal(err)
			}
			got, warnings := readIn(st)
			if got != Default() || len(warnings) != 1 || !strings.Contains(warnings[0], WorkspaceFile) || !strings.Contains(warnings[0], "the defaults apply") {
				t.Errorf("%+v\n%q", got, warnings)
			}
		})
	}
	st := open(t, "")
	if err := os.Remove(filepath.Join(st.Root(), WorkspaceFile)); err != nil {
		t.Fatal(err)
	}
	if got, warnings := readIn(st); got != Default() || len(warnings) > 0 {
		t.Errorf("without a file: %+v, %q", got, warnings)
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestManySettings: of many settings only the first are read, and only a few are named.
func TestManySettings(t *testing.T) {
	var unknown, broken strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&unknown, "k%d: 1\n", i)
		fmt.Fprintf(&broken, "k%d [\n", i)
	}
	for text, want := range map[string]int{
		"commit: stop\n" + unknown.String() + "one_active: false\n": 1 + maxWarnings + 1,
		"commit: stop\n" + broken.String() + "one_active: false\n":  maxWarnings + 1,
	} {
		got, warnings := readIn(open(t, text))
		if got != changed(func(c *Config) { c.Commit = CommitStop }) {
			t.Errorf("%+v", got)
		}
		if len(warnings) != want {
			t.Errorf("%d warnings, want %d:\n%s", len(warnings), want, strings.Join(warnings, "\n"))
		}
		if !strings.HasPrefix(warnings[len(warnings)-1], WorkspaceFile+": and ") {
			t.Errorf("the last warning is %q", warnings[len(warnings)-1])
		}
	}
}

// TestText: the text of a new file lists every setting with its default, and the
// table of settings has every field of Config.
func TestText(t *testing.T) {
	var inText map[string]any
	if err := yaml.Unmarshal([]byte(Text(CommitOff, CaptureCommands)), &inText); err != nil {
		t.Fatal(err)
	}
	c := Default()
	var names []string
	for _, s := range c.table() {
		names = append(names, s.name)
		value := fmt.Sprint(inText[s.name])
		if value != s.value() {
			t.Errorf("%s is %s in the text, its default is %s", s.name, value, s.value())
		}
	}
	for name := range inText {
		if !slices.Contains(names, name) {
			t.Errorf("%s is in the text, and cannot be set", name)
		}
	}
	if len(names) != len(inText) {
		t.Errorf("%d settings, %d in the text", len(names), len(inText))
	}
}

// FuzzRead: whatever the file contains, reading it ends, and the result is within
// the limits that the rest of the program relies on.
func FuzzRead(f *testing.F) {
	f.Add([]byte(Text(CommitStop, CaptureAll)))
	f.Add([]byte("commit: [\n<<<<<<< a\n\t*x: &y {\n? - !!int\n--- |\n..."))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxBytes {
			return
		}
		c := Default()
		r := read(WorkspaceFile, text, c.table())
		if c.IntervalS < 1 || c.DebounceMS < 10 || c.IdleMinutes < 0 || c.IdleMinutes > maxNumber || c.KeepMessages < 1 {
			t.Errorf("%+v", c)
		}
		for _, warning := range append(r.problems, r.unknown...) {
			if strings.ContainsAny(warning, "\x00\x1b\n") {
				t.Errorf("%q", warning)
			}
		}
	})
}

// FuzzWithoutComments: yaml reads the same settings without comments, on the same lines.
func FuzzWithoutComments(f *testing.F) {
	text := Text(CommitStop, CaptureAll)
	if len(withoutComments([]byte(text))) > len(text)/3 {
		f.Error("the comments of a new file are not left out")
	}
	f.Add([]byte(text))
	f.Add([]byte("a: b # c\n# d\n e: f\n"))
	f.Add([]byte("a: |\n# b\n c\n"))
	f.Add([]byte("a: b\n# c\n d\n"))
	f.Add([]byte("a: 'b\n# c'\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		nodes := func(text []byte) (list []string, err error) {
			var doc yaml.Node
			if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
				return nil, err
			}
			for _, n := range append(doc.Content, doc.Content[0].Content...) {
				list = append(list, fmt.Sprintf("%d %s %q %d:%d", n.Kind, n.ShortTag(), n.Value, n.Line, n.Column))
			}
			return list, nil
		}
		if len(text) > 2*len(Text(CommitStop, CaptureAll)) {
			return
		}
		want, err := nodes(text)
		if err != nil {
			return // such as control characters, which yaml rejects even in a comment
		}
		if got, err := nodes(withoutComments(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	})
}
