package opencode

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/inject/setup"
	"cortext/schema/prompt"
)

// A project has the files of a project, by path.
type project map[string]string

func (p project) read(path string) (string, bool, error) {
	text, ok := p[path]
	return text, ok, nil
}

// install installs into p and returns the actions taken, by path.
func (p project) install(t *testing.T, o inject.InstallOptions) map[string]inject.Action {
	t.Helper()
	changes, err := adapter.Install(o, p.read)
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]inject.Action{}
	for _, c := range changes {
		switch done[c.Path] = c.Action; c.Action {
		case inject.Keep:
		case inject.Remove:
			delete(p, c.Path)
		default:
			p[c.Path] = c.Text
		}
	}
	return done
}

func builtIn() (types []inject.Type) {
	for _, name := range prompt.Types() {
		source, _ := prompt.BuiltIn(name)
		types = append(types, inject.Type{Name: name, Source: source})
	}
	return types
}

const pluginPath = ".opencode/plugins/cortext.js"

// ownFiles returns a project whose commands have files of their own.
func ownFiles() project { return project{configFile: "{} // the user's\n"} }

func TestInstall(t *testing.T) {
	p := ownFiles()
	done := p.install(t, inject.InstallOptions{Types: builtIn()})
	names := append(prompt.Types(), "resume", "stop-conversation", "sessions", "session", "context", "compact")
	for _, name := range names {
		path := ".opencode/commands/workspace." + name + ".md"
		front, body := prompt.Split(p[path])
		first, rest, _ := strings.Cut(body, "\n")
		if done[path] != inject.Create || !setup.Owned(p[path]) || !strings.Contains(front, "\ndescription: ") {
			t.Errorf("%s: %s\n%s", path, done[path], p[path])
		}
		if first != "<!-- cortext: /workspace."+name+" -->" || strings.Contains(rest, "$ARGUMENTS") || !strings.HasSuffix(rest, "\n<!-- cortext: typed: -->\n") || !strings.HasPrefix(rest, "# ") {
			t.Errorf("%s begins with %q", path, body)
		}
	}
	if len(done) != len(names) || p[configFile] != ownFiles()[configFile] {
		t.Errorf("without the plugin it makes %v", done)
	}
	if done = p.install(t, inject.InstallOptions{Types: builtIn(), Plugin: true}); done[pluginPath] != inject.Create || done[".opencode/commands/workspace.plan.md"] != inject.Same {
		t.Errorf("with the plugin it makes %v", done)
	}
	if done = p.install(t, inject.InstallOptions{AfterTool: true}); done[pluginPath] != inject.Update || !strings.Contains(p[pluginPath], "AFTER_TOOL = true") {
		t.Errorf("a plugin that is there is not kept up: %v", done)
	}
	p[pluginPath] += "// mine\n"
	if done = p.install(t, inject.InstallOptions{}); done[pluginPath] != "" {
		t.Errorf("an edited plugin is touched: %v", done)
	}
	if done = p.install(t, inject.InstallOptions{Plugin: true}); done[pluginPath] != inject.Keep {
		t.Errorf("an edited plugin is not kept: %v", done)
	}
	for _, path := range []string{pluginPath, configFile, ".opencode/commands/workspace.resume.md"} {
		_, err := adapter.Install(inject.InstallOptions{}, func(p string) (string, bool, error) {
			if p == path {
				return "", false, fs.ErrPermission
			}
			return "", false, nil
		})
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s cannot be read: %v", path, err)
		}
	}
}

// TestGenerated compares a generated file with one on disk.
func TestGenerated(t *testing.T) {
	source := "---\nmodel: opus\nagent: plan\ndescription: Look back\nargument-hint: [sprint]\n---\n# Retro\n\n$ARGUMENTS, $1, !`date`, @file, dev@example.com\n---\nthe end"
	p := ownFiles()
	p.install(t, inject.InstallOptions{Types: []inject.Type{{Name: "retro", Source: source}}})
	want, err := os.ReadFile("testdata/workspace.retro.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := p[".opencode/commands/workspace.retro.md"]; got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("generated is\n%s", got)
	}
	if got := usable("model: opus\nmodel : a/b\nmodels: x\n model: y\n"); got != "model : a/b\nmodels: x\n model: y\n" {
		t.Errorf("usable is %q", got)
	}
}

// TestManaging checks what the texts must say, and that they contain nothing that
// OpenCode would run or attach. The user's words must be in the first line and nowhere
// else.
func TestManaging(t *testing.T) {
	p := ownFiles()
	p.install(t, inject.InstallOptions{})
	calls := map[string]string{
		"resume": "`cortext resume --here`", "stop-conversation": "`cortext stop`", "sessions": "`cortext list`", "session": "`cortext current`",
	}
	for name, call := range calls {
		_, body := prompt.Split(p[".opencode/commands/workspace."+name+".md"])
		for _, word := range []string{call, `"From cortext" stands with this message`, "bash tool", "as it is", "not installed"} {
			if !strings.Contains(body, word) {
				t.Errorf("%s does not say %q:\n%s", name, word, body)
			}
		}
		_, rest, _ := strings.Cut(body, "\n")
		if strings.Contains(rest, "$") || unexpanded(rest) != rest {
			t.Errorf("%s holds what OpenCode acts on:\n%s", name, rest)
		}
	}
	if entries, err := commands.ReadDir("commands"); err != nil || len(entries) != len(calls) {
		t.Errorf("%d texts for %d commands (%v)", len(entries), len(calls), err)
	}
}

// The expressions that the program looks for in a command's text (1.18.33), without
// the lookbehind for an @, which Go's cannot express.
var (
	programNumber = regexp.MustCompile(`\$(\d+)`)
	programShell  = regexp.MustCompile("!`([^`]+)`")
	programFile   = regexp.MustCompile("@(\\.?[^\\s`,.]*(?:\\.[^\\s`,.]+)*)")
)

// acts returns the parts of a text that the program would act on.
func acts(text string) (found []string) {
	found = append(found, programNumber.FindAllString(text, -1)...)
	found = append(found, programShell.FindAllString(text, -1)...)
	for at := 0; ; {
		m := programFile.FindStringSubmatchIndex(text[at:])
		if m == nil {
			return found
		}
		start := at + m[0]
		if start > 0 && regexp.MustCompile("^[\\w`]$").MatchString(text[start-1:start]) {
			at = start + 1
			continue
		}
		if m[3] > m[2] {
			found = append(found, text[start:at+m[1]])
		}
		at += m[1]
	}
}

func TestUnexpanded(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain $ARGUMENTS, $HOME, $, 5$, !, ! `x`, dev@example.com, `@x`, @ x, @, @", "plain $ARGUMENTS, $HOME, $, 5$, !, ! `x`, dev@example.com, `@x`, @ x, @, @"},
		{"$1 $$2 $10", "$_1 $$_2 $_10"},
		{"!`date` !!`x", "!_`date` !!_`x"},
		{"!$ARGUMENTS `$ARGUMENTS` !$ARGUMENTS`", "!_$ARGUMENTS `$ARGUMENTS_` !_$ARGUMENTS_`"},
		{"@file (@./a.b) @@x @. é@x @$ARGUMENTS", "_@file (_@./a.b) _@_@x _@. é_@x _@$ARGUMENTS"},
		{"@\n@x", "@\n_@x"},
		{"$ARGUMENTS@x", "$ARGUMENTS_@x"},
		{"", ""},
	} {
		if got := unexpanded(c.text); got != c.want {
			t.Errorf("%q is %q, not %q", c.text, got, c.want)
		}
	}
	// If the arguments contain nothing to act on, neither does the result, whatever the
	// text and the arguments are.
	pieces := []string{"$", "1", "!", "`", "@", ".", "a", "é", " ", "\n", ",", "$ARGUMENTS", "_", "\\"}
	for n := range len(pieces) * len(pieces) * len(pieces) * len(pieces) {
		if testing.Short() && n%11 > 0 {
			continue
		}
		text := ""
		for range 4 {
			text += pieces[n%len(pieces)]
			n /= len(pieces)
		}
		safe := unexpanded(text)
		if strings.ReplaceAll(safe, breaker, "") != strings.ReplaceAll(text, breaker, "") {
			t.Fatalf("%q is %q", text, safe)
		}
		for _, args := range []string{"", "wow!", "`x", "x"} {
			// The program fills in the numbers before the arguments.
			found := programNumber.FindAllString(safe, -1)
			for _, what := range acts(strings.ReplaceAll(safe, "$ARGUMENTS", args)) {
				if !strings.HasPrefix(what, "$") {
					found = append(found, what)
				}
			}
			if strings.Contains(args, "`") {
				found = slices.DeleteFunc(found, func(s string) bool { return !strings.HasPrefix(s, "!") })
			}
			if len(found) > 0 {
				t.Fatalf("%q is %q, and with %q OpenCode acts on %q", text, safe, args, found)
			}
		}
	}
}

// TestPlugin calls the plugin as OpenCode does, with a stand-in for cortext.
func TestPlugin(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("NOT RUN: needs node and a POSIX shell")
	}
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	for name, text := range map[string]string{
		"cortext.mjs": pluginFile(false).Text, "after.mjs": pluginFile(true).Text,
		"late.mjs":    strings.Replace(pluginFile(false).Text, "REPLY_MS = 10_000", "REPLY_MS = 500", 1),
		"bin/cortext": "#!/bin/sh\nread -r line || test -n \"$line\"\nprintf '%s\\n' \"$* $line\" >> told\ntest \"$3\" = Prompted || exit 0\ncase $line in *silent*) exit 3;; *late*) /bin/sleep 20;; esac\nprintf 'From cortext: \\360\\237\\221\\215 $& !`x` @y\\n\\n\\n'\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	driver, err := filepath.Abs("testdata/drive.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{bin, filepath.Join(dir, "nowhere")} {
		cmd := exec.Command(node, driver, dir)
		cmd.Env = []string{"PATH=" + path, "HOME=" + dir} // without HOME, node finds the user's own
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
			t.Errorf("with %s: %v\n%s", path, err, out)
		}
	}
}
