package setup

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cortext/inject"

	"cortext/schema/rawjson"
)

// hooks are the hooks of Claude Code.
var hooks = Hooks{Agent: "claude", Events: []string{"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}, Timeout: 30}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return normal(string(text))
}

// TestSettings edits the files of testdata/settings, and the same files with other
// line endings, indentation, and so on. Each variation of the input must appear in the
// output.
func TestSettings(t *testing.T) {
	changes := map[string]string{
		"blank-lines":  "SessionStart UserPromptSubmit Stop PreCompact SessionEnd",
		"empty-hooks":  "SessionStart UserPromptSubmit Stop PreCompact SessionEnd",
		"hugging":      "SessionStart UserPromptSubmit Stop PreCompact SessionEnd",
		"one-line":     "SessionStart UserPromptSubmit Stop PreCompact SessionEnd",
		"other-hooks":  "SessionStart UserPromptSubmit Stop PreCompact SessionEnd",
		"some-of-ours": "UserPromptSubmit PreCompact SessionEnd",
	}
	indentation := regexp.MustCompile(`(?m)^( {2})+`)
	indented := func(unit string) func(string) string {
		return func(s string) string {
			return indentation.ReplaceAllStringFunc(s, func(space string) string { return strings.Repeat(unit, len(space)/2) })
		}
	}
	forms := map[string]func(string) string{
		"as it is":           func(s string) string { return s },
		"CRLF":               func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"tabs":               indented("\t"),
		"four spaces":        indented("    "),
		"tabs and CRLF":      func(s string) string { return strings.ReplaceAll(indented("\t")(s), "\n", "\r\n") },
		"byte order mark":    func(s string) string { return bom + s },
		"no line end":        func(s string) string { return strings.TrimRight(s, "\n") },
		"two lines after it": func(s string) string { return s + "\n\n" },
		"all of it indented": func(s string) string { return regexp.MustCompile(`(?m)^(.)`).ReplaceAllString(s, "  $1") },
	}
	dirs, err := os.ReadDir("testdata/settings")
	if err != nil || len(dirs) != len(changes) {
		t.Fatalf("%d cases on disk, %d here: %v", len(dirs), len(changes), err)
	}
	for _, dir := range dirs {
		before := read(t, filepath.Join("testdata/settings", dir.Name(), "have.json"))
		after := read(t, filepath.Join("testdata/settings", dir.Name(), "want.json"))
		for form, f := range forms {
			name, have, want := dir.Name()+", "+form, f(before), f(after)
			got, lines, err := hooks.settings([]byte(have))
			if err != nil || string(got) != want {
				t.Errorf("%s: %v\n%s\nnot\n%s", name, err, got, want)
			}
			var added []string
			for event := range strings.FieldsSeq(changes[dir.Name()]) {
				added = append(added, "hook "+event)
			}
			if !slices.Equal(lines, added) {
				t.Errorf("%s: changes %q", name, lines)
			}
			if again, lines, err := hooks.settings(got); err != nil || lines != nil || !bytes.Equal(again, got) {
				t.Errorf("%s: a second time gives %q, %v\n%s", name, lines, err, again)
			}
		}
	}
}

// TestNewSettings checks files that have no settings yet.
func TestNewSettings(t *testing.T) {
	fresh := read(t, "testdata/settings.json")
	crlf := strings.ReplaceAll(fresh, "\n", "\r\n")
	for _, c := range []struct{ have, want string }{
		{"", fresh},
		{" \n\t", fresh},
		{"\r\n", crlf},
		{bom, bom + fresh},
		{"{}\n", fresh},
		{"{ \n\n }\n", fresh},
		{"{}", strings.TrimSuffix(fresh, "\n")},
		{bom + "{\r\n}\r\n", bom + crlf},
	} {
		got, changes, err := hooks.settings([]byte(c.have))
		if err != nil || len(changes) != len(hooks.Events) || string(got) != c.want {
			t.Errorf("%q: changes %q, %v\n%s", c.have, changes, err, got)
		}
	}
	if got, _, err := hooks.settings(nil); err != nil || string(got) != fresh {
		t.Errorf("not there: %v\n%s", err, got)
	}
}

func TestSettingsErrors(t *testing.T) {
	for _, c := range []struct {
		have         string
		line, column int // 0 for valid JSON of a shape that we do not edit
		why          string
	}{
		{"[]", 0, 0, "line 1: the file does not hold a JSON object"},
		{bom + "\n null", 0, 0, "line 2: the file does not hold a JSON object"},
		{"{\n\"hooks\":\n[]}", 0, 0, `line 3: "hooks" is not an object`},
		{`{"hooks": null}`, 0, 0, `line 1: "hooks" is not an object`},
		{"{\"hooks\": {\n \"Stop\": {}}}", 0, 0, `line 2: "Stop" in "hooks" is not an array`},
		{"{\n  // mine\n}", 2, 3, "this looks like a comment, which JSON does not have"},
		{"{}\n/* mine */", 2, 1, "this looks like a comment, which JSON does not have"},
		{"{\"a\": [1,\n ],}", 1, 9, "a comma with nothing after it"},
		{"{\r\n\"a\": \"ö\" ,\r\n}", 2, 10, "a comma with nothing after it"},
		{"{\"a\": “b”}", 1, 7, `'“' where JSON was expected`},
		{"{\"a\": \xff}", 1, 7, `'�' where JSON was expected`},
		{"{'a': 1}", 1, 2, `'\'' where a name was expected`},
		{"{\"a\": 1", 1, 8, "the value is cut off"},
		{bom + "{\"a\": \"ä\", \"b", 1, 12, "the string is not closed"},
		{"{} {}", 1, 4, "more text after the value"},
		{"{\"hooks\": {},\n \"h\\u006foks\": {}}", 2, 2, `"hooks" appears twice`},
		{`{"hooks": {"Stop": [], "Stop": []}}`, 1, 24, `"Stop" appears twice`},
		{`{"hooks": {"Stop": [{"hooks": [], "hooks": 1}]}}`, 1, 35, `"hooks" appears twice`},
		{`{"hooks": {"Stop": [{"hooks": [{"command": 1, "command": "x"}]}]}}`, 1, 47, `"command" appears twice`},
		{strings.Repeat("[", rawjson.MaxDepth+1), 1, rawjson.MaxDepth + 1, "nested deeper than 10000"},
	} {
		want, changes, err := hooks.settings([]byte(c.have))
		if err == nil || want != nil || changes != nil {
			t.Errorf("%.40q: no error, or more than an error: %v", c.have, err)
			continue
		}
		var invalid *invalidError
		if errors.As(err, &invalid) != (c.line > 0) || !strings.HasSuffix(err.Error(), c.why) {
			t.Errorf("%.40q: %T %v", c.have, err, err)
		} else if c.line > 0 && *invalid != (invalidError{c.line, c.column, c.why}) {
			t.Errorf("%.40q: %v, not line %d, column %d", c.have, err, c.line, c.column)
		}
	}
}

// TestEarlier checks that lines of an earlier version are updated, unless the user
// changed them.
func TestEarlier(t *testing.T) {
	hooks := hooks
	hooks.Earlier = []string{`cortext hook claude EVENT "$@" || :`, "old"}
	full := read(t, "testdata/settings.json")
	now := command(hooks.wording(), "Stop")
	old := strings.Replace(full, now, `"cortext hook claude Stop \u0022$@\" || :"`, 1)
	if old == full {
		t.Fatal("nothing replaced")
	}
	got, changes, err := hooks.settings([]byte(old))
	if err != nil || string(got) != full || !slices.Equal(changes, []string{"hook Stop: new wording"}) {
		t.Errorf("changes %q, %v\n%s", changes, err, got)
	}
	for _, users := range []string{`"exec cortext hook claude Stop \"$@\" || :"`, `"cortext hook claude Stop"`, `"/opt/cortext-hook claude Stop"`} {
		have := strings.Replace(full, now, users, 1)
		if got, changes, err := hooks.settings([]byte(have)); err != nil || changes != nil || string(got) != have {
			t.Errorf("%s: changes %q, %v\n%s", users, changes, err, got)
		}
	}
	// Another event's hook, or an entry of another shape, is not ours.
	for _, users := range []string{`"cortext hook claude Stopping"`, `"old"`, `["cortext hook claude Stop"]`} {
		have := strings.Replace(full, now, users, 1)
		if _, changes, err := hooks.settings([]byte(have)); err != nil || !slices.Equal(changes, []string{"hook Stop"}) {
			t.Errorf("%s: changes %q, %v", users, changes, err)
		}
	}
	for _, shape := range []string{`1`, `"cortext hook claude Stop"`, `["cortext hook claude Stop"]`, `{"hooks": {"x": {"command": "cortext hook claude Stop"}}}`, `{"hooks": null}`, `{"hooks": [1, [], {}]}`} {
		have := `{"hooks": {"Stop": [` + shape + `]}}`
		if got, changes, err := hooks.settings([]byte(have)); err != nil || !slices.Contains(changes, "hook Stop") || !strings.HasPrefix(string(got), have[:len(have)-3]+", {") {
			t.Errorf("%s: changes %q, %v\n%s", have, changes, err, got)
		}
	}
	if slices.Contains(hooks.Earlier, hooks.wording()) {
		t.Error("the present wording is among the earlier ones, which never ends")
	}
}

// TestHookLine runs each event's line as Claude Code does, through a shell.
func TestHookLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("NOT RUN: needs a POSIX shell")
	}
	put := func(dir, name, text string) string {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	const script = "#!/bin/sh\nread -r line\necho \"out $* $line\"\necho noise >&2\n"
	bin, empty := put(t.TempDir(), "cortext", script+"exit 2\n"), t.TempDir()
	small := put(put(t.TempDir(), "cortext", script), "cortext-hook", script)
	broken := put(t.TempDir(), "cortext", "\x7fELF\x00") // exists, but for another machine
	home, state := filepath.Join(t.TempDir(), "the home"), filepath.Join(t.TempDir(), "the state")
	put(home+"/.local/state/cortext/bin", "cortext", script)
	put(state+"/cortext/bin", "cortext-hook", script)
	tried := 0
	for _, shell := range []string{"sh", "bash", "zsh"} {
		shell, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		tried++
		for _, event := range hooks.Events {
			line, _ := rawjson.Unquote([]byte(command(hooks.wording(), event)))
			whole, direct := "out hook claude "+event+" {\"a\": 1}\n", "out claude "+event+" {\"a\": 1}\n"
			for _, c := range []struct {
				path string
				env  []string
				want string
			}{
				{bin, []string{"HOME=" + empty}, whole}, // without HOME, zsh finds the user's own
				{small, []string{"HOME=" + empty}, direct},
				{empty, []string{"HOME=" + empty}, ""},
				{broken, []string{"HOME=" + empty}, ""},
				{empty, []string{"HOME=" + home}, whole},
				{empty, []string{"HOME=" + home, "XDG_STATE_HOME="}, whole},
				{empty, []string{"HOME=" + home, "XDG_STATE_HOME=" + state}, direct},
				{empty, []string{"HOME=" + home, "XDG_STATE_HOME=" + empty}, ""},
				{bin, []string{"HOME=" + home}, whole},
			} {
				var stdout, stderr bytes.Buffer
				cmd := exec.Command(shell, "-c", line)
				cmd.Env = append(c.env, "PATH="+c.path+":/usr/bin:/bin")
				cmd.Stdin = strings.NewReader("{\"a\": 1}\n")
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil || stdout.String() != c.want || stderr.Len() > 0 {
					t.Errorf("%s, %s: %v, says %q and %q", shell, line, err, stdout.String(), stderr.String())
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no shell to try it with")
	}
}

// TestComments checks that comments stay in place and that nothing is inserted into
// one.
func TestComments(t *testing.T) {
	h := Hooks{Agent: "gemini", Events: []string{"A"}, Timeout: 1, Before: "X=$Y ", Name: "n", Comments: true}
	hook := `{"hooks": [{"type": "command", "name": "n", "command": ` + command(h.wording(), "A") + `, "timeout": 1}]}`
	for _, c := range []struct{ have, want string }{ // ignoring space between tokens
		{"{} // end", `{"hooks": {"A": [` + hook + `]}} // end`},
		{"{ // first\n}", "{ // first\n" + `"hooks": {"A": [` + hook + `]}}`},
		{"{\"a\": 1 // first\n}", "{\"a\": 1, // first\n" + `"hooks": {"A": [` + hook + `]}}`},
		{"{\"a\": 1 /* { */ }", "{\"a\": 1, /* { */\n" + `"hooks": {"A": [` + hook + `]}}`},
		{"// top\n{\n  \"a\": \"// no /* no \\\" \", // yes \"\n  \"hooks\": {/* x */}\n}", "// top\n{\n  \"a\": \"// no /* no \\\" \", // yes \"\n  \"hooks\": {/* x */ \"A\": [" + hook + "]}\n}"},
		{"{\"hooks\": {\"A\": [{} // mine\n,{}/**/] // too\n}}", "{\"hooks\": {\"A\": [{} // mine\n,{},/**/" + hook + "] // too\n}}"},
		{"{\"hooks\": {\"A\": [{\"hooks\": [{\"command\": \"cortext hook gemini A\" // mine\n}]}]}}", "{\"hooks\": {\"A\": [{\"hooks\": [{\"command\": \"cortext hook gemini A\" // mine\n}]}]}}"},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			have := strings.ReplaceAll(c.have, "\n", eol)
			got, _, err := h.settings([]byte(have))
			if err != nil || strings.Join(strings.Fields(string(got)), "") != strings.Join(strings.Fields(c.want), "") {
				t.Errorf("%s\nbecomes\n%s\nnot\n%s\n%v", have, got, c.want, err)
				continue
			}
			if again, lines, err := h.settings(got); err != nil || lines != nil || !bytes.Equal(again, got) {
				t.Errorf("a second time %s\nbecomes\n%s: %v", got, again, err)
			}
		}
	}
	for _, have := range []string{"{ /* open", "{\"a\": 1, // x\n}", "{} / {}"} {
		if got, _, err := h.settings([]byte(have)); err == nil {
			t.Errorf("%s becomes %s", have, got)
		}
	}
}

// TestInstall checks that each settings file gets the hook after tool calls if it is
// requested.
func TestInstall(t *testing.T) {
	h := Hooks{Agent: "claude", Events: []string{"Stop"}, AfterTool: "PostToolUse", Timeout: 1}
	form := Form{Agent: "claude", Spell: Markdown, Path: func(name string) string { return name }}
	for _, after := range []bool{false, true} {
		changes, err := h.Install(form, []string{"a.json", "b.json"}, inject.InstallOptions{AfterTool: after}, func(string) (string, bool, error) { return "", false, nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes[len(changes)-2:] {
			if !strings.Contains(c.Text, `"Stop"`) || strings.Contains(c.Text, `"PostToolUse"`) != after || c.Action != inject.Create {
				t.Errorf("after tool calls %t: %+v", after, c)
			}
		}
	}
}
