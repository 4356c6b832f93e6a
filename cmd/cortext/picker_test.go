//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cortext/cmd/internal/agenttest"
)

// newPlans starts three conversations. One has a title with a control character, which only
// an editor can give it.
func newPlans(t *testing.T, dir string) {
	t.Helper()
	for _, title := range []string{"first topic", "second topic", "third thing"} {
		must(t, "-C", dir, "new", "plan", title)
	}
	retitle(t, dir, "second topic", `second \u001b[31mtopic`)
}

// retitle changes a title as an editor does. to is written as in JSON.
func retitle(t *testing.T, dir, from, to string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "conversations", "*", "*"+strings.ReplaceAll(from, " ", "-")+"*", ".session", "session.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.Replace(b, []byte(`"`+from+`"`), []byte(`"`+to+`"`), 1)
	if bytes.Equal(edited, b) {
		t.Fatalf("%s has no such title", files[0])
	}
	if err := os.WriteFile(files[0], edited, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPickerSeesEdits: what an editor changes in a conversation on the screen shows on it soon.
func TestPickerSeesEdits(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	for i := range 40 { // enough for an index
		must(t, "-C", dir, "new", "plan", fmt.Sprint("topic ", i))
	}
	must(t, "-C", dir, "list", "--refresh")
	term := shellInTerminal(t, dir)
	if err := term.WaitFor("40 of 40", patience); err != nil {
		t.Fatal(err)
	}
	retitle(t, dir, "topic 38", "edited")
	if err := term.WaitFor("edited", 45*time.Second); err != nil { // after a minute it would look at all files
		t.Fatal(err)
	}
	if err := term.Key("C-c"); err != nil {
		t.Fatal(err)
	}
	left(t, term, 130)
}

// TestPickerHangUp: the picker ends with its terminal, even if it was started to ignore SIGHUP.
func TestPickerHangUp(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	newPlans(t, dir)
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	term := commandInTerminal(t, dir, exec.Command("sh", "-c", `trap '' HUP; exec "$0"`, filepath.Join(bin, "cortext")))
	if err := term.WaitFor("third thing", patience); err != nil {
		t.Fatal(err)
	}
	if err := term.HangUp(); err != nil {
		t.Fatal(err)
	}
	if !term.Ended(patience) {
		t.Error("the picker outlives its terminal")
	}
}

// TestPicker: on a terminal, the user chooses on a full screen, which is gone afterwards.
func TestPicker(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	newPlans(t, dir)
	open := func(args ...string) *agenttest.Terminal {
		t.Helper()
		term := shellInTerminal(t, dir, args...)
		if err := term.WaitFor("❯", patience); err != nil {
			t.Fatal(err)
		}
		return term
	}
	press := func(term *agenttest.Terminal, keys ...string) {
		t.Helper()
		for _, k := range keys {
			if err := term.Key(k); err != nil {
				t.Fatal(err)
			}
		}
	}

	term := open("resume", "--dry-run")
	for _, text := range []string{"Today", "first topic", `second \x1b[31mtopic`, "third thing", "3 of 3"} {
		if err := term.WaitFor(text, patience); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(term.Type("topic first"), term.WaitFor("1 of 3", patience)); err != nil {
		t.Fatal(err)
	}
	press(term, "Enter")
	left(t, term, 1)
	if screen := term.Screen(); !strings.Contains(screen, "conversation  first topic ") {
		t.Errorf("it does not describe what was chosen:\n%s", screen)
	}

	// Several matches: the words are typed already.
	term = open("resume", "--dry-run", "topic")
	if err := term.WaitFor("2 of 3", patience); err != nil {
		t.Fatal(err)
	}
	press(term, "Down", "Enter")
	left(t, term, 1)
	if screen := term.Screen(); !strings.Contains(screen, "conversation  second ") {
		t.Errorf("it does not describe what was chosen:\n%s", screen)
	}

	// Matches by what the picker does not filter: the first prompt, of archived ones too.
	for _, title := range []string{"first topic", "third thing"} {
		retitle(t, dir, title, title+`",
  "description": "please look at xylophones`)
		must(t, "-C", dir, "archive", title)
	}
	term = open("resume", "--dry-run", "xylophones")
	if err := term.WaitFor("2 of 3", patience); err != nil {
		t.Fatal(err)
	}
	press(term, "C-a")
	if err := term.WaitFor("2 of 3 everywhere", patience); err != nil {
		t.Fatal(err)
	}
	press(term, "Down", "Enter")
	left(t, term, 1)
	if screen := term.Screen(); !strings.Contains(screen, "conversation  first topic ") {
		t.Errorf("it does not describe what was chosen:\n%s", screen)
	}

	// None of the matches is recent enough: they are offered anyway, as without a terminal.
	term = open("resume", "--dry-run", "--since", "2100-01-01", "xylophones")
	if err := term.WaitFor("2 of 3", patience); err != nil {
		t.Fatal(err)
	}
	press(term, "C-c")
	left(t, term, 130)

	// Without a command.
	term = open()
	press(term, "C-c")
	left(t, term, 130)
	config := filepath.Join(dir, ".workspace", "config.yaml")
	if err := os.WriteFile(config, []byte("no_such_setting: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	term = open()
	press(term, "Esc")
	left(t, term, 1)
	if screen := term.Screen(); strings.Count(screen, "warning: ") != 1 {
		t.Errorf("it does not warn once:\n%s", screen)
	}
}

// TestWithoutPicker: where only cortext is installed, it says what is missing, and the user
// chooses from a numbered list.
func TestWithoutPicker(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "cortext")
	if err := os.Link(filepath.Join(bin, "cortext"), alone); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	newPlans(t, dir)
	term := commandInTerminal(t, dir, exec.Command(alone))
	if err := term.WaitFor("cortext-picker is not installed: go install ./cmd/... ", patience); err != nil {
		t.Fatal(err)
	}
	answer(t, term, "Which one? (1-3", "")
	if err := term.Wait(); err == nil {
		t.Error("leaving the list is called success")
	}
}

// TestNumberedListFits: the first entries of a numbered list, which are the likeliest, do not
// scroll off the screen: lines are cut, and summaries are left out of a long list.
func TestNumberedListFits(t *testing.T) {
	dir := t.TempDir()
	must(t, "-C", dir, "init")
	for i := range 20 {
		title := fmt.Sprintf("topic number%d", i)
		must(t, "-C", dir, "new", "plan", title)
		retitle(t, dir, title, title+strings.Repeat(" and so on", 15)+`", "context_summary": "What was said.`)
	}
	for words, want := range map[string]string{"": "1  plan / topic number19 and", "number1": "What was said."} {
		term := onDumbTerminal(t, dir, "resume", words)
		if err := term.WaitFor("Which one?", patience); err != nil {
			t.Fatal(err)
		}
		if screen := term.Screen(); !strings.Contains(screen, want) || strings.Count(screen, "and so on") < 11 {
			t.Errorf("%q: there is no %q in\n%s", words, want, screen)
		}
	}
}

// left checks that cortext ended and that the terminal is as it was.
func left(t *testing.T, term *agenttest.Terminal, code int) {
	t.Helper()
	if err := term.WaitFor("the terminal is", patience); err != nil {
		t.Fatal(err)
	}
	screen := term.Screen()
	if !strings.Contains(screen, fmt.Sprintf("code %d,", code)) || !strings.Contains(screen, "the terminal is as it was") || !strings.Contains(screen, "before") {
		t.Errorf("not code %d, or not as it was:\n%s", code, screen)
	}
}

// shellInTerminal starts cortext from a shell that compares the terminal's settings.
func shellInTerminal(t *testing.T, dir string, args ...string) *agenttest.Terminal {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	const script = `echo before; was=$(stty -g); "$0" "$@"; echo "code $?, the terminal is $(test "$was" = "$(stty -g)" && echo as it was || echo changed)"`
	return commandInTerminal(t, dir, exec.Command("sh", append([]string{"-c", script, filepath.Join(bin, "cortext")}, args...)...))
}
