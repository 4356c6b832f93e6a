package gemini

import (
	"strconv"
	"strings"
	"testing"

	"cortext/inject"
)

// TestTyped recovers what the user typed for any command text and arguments, and
// takes nothing else for a command.
func TestTyped(t *testing.T) {
	const head, tail = "<!-- cortext: /workspace.plan -->\n", "\n<!-- cortext: typed: -->"
	for _, c := range []struct{ prompt, want string }{
		{"", ""},
		{"hello", "hello"},
		{"/workspace.plan the release", "/workspace.plan the release"}, // the command does not exist where it was typed
		{head + "body" + tail, "/workspace.plan"},
		{head + "body" + tail + "\n\n/workspace.plan a  b\n\nc $$ ", "/workspace.plan a  b\n\nc $$ "},
		{head + "usage:\n\n/workspace.plan x" + tail, "/workspace.plan"},
		{head + "usage:\n\n/workspace.plan x" + tail + "\n\n/workspace.plan y", "/workspace.plan y"},
		{head + tail + "\n\n/workspace.plan y\n\n/workspace.plan z", "/workspace.plan y\n\n/workspace.plan z"},
		{head + "body" + tail + "\n\n/workspace.planning y", "/workspace.plan"},
		{head + "body\n\n/workspace.plan a", "/workspace.plan a"}, // the end was edited away
		{head + "body\n\n/workspace.planner a", "/workspace.plan"},
		{head + "body", "/workspace.plan"},
		{" " + head + "body", " " + head + "body"},
		{"I read " + head + tail + "\n\n/workspace.plan a", "I read " + head + tail + "\n\n/workspace.plan a"},
		{"<!-- cortext: /workspace. -->\nx", "<!-- cortext: /workspace. -->\nx"},
		{"<!-- cortext: /workspace.a b -->\nx", "<!-- cortext: /workspace.a b -->\nx"},
		{"<!-- cortext: /workspace.plan\nx", "<!-- cortext: /workspace.plan\nx"},
	} {
		if got := typedPrompt(c.prompt); got != c.want {
			t.Errorf("%q is %q, not %q", c.prompt, got, c.want)
		}
	}
}

// TestExpansion checks that the program would expand nothing in a command's text, and
// that what was typed can be recovered.
func TestExpansion(t *testing.T) {
	for _, body := range nasty {
		text := expansion("plan", "On: $ARGUMENTS.\n"+body+"\n")
		for _, trigger := range []string{"!{", "@{", "{{args}}", "$ARGUMENTS"} {
			if strings.Contains(text, trigger) {
				t.Errorf("%q is left in %q", trigger, text)
			}
		}
		kept := strings.NewReplacer(`!\{`, "!{", `@\{`, "@{", `{\{args}}`, "{{args}}", "(what is typed after the command: it stands at the end of this text)", "$ARGUMENTS").Replace(text)
		if !strings.Contains(kept, strings.Trim("On: $ARGUMENTS.\n"+body, "\n")) {
			t.Errorf("%q becomes %q", body, text)
		}
		for _, line := range []string{"/workspace.plan a", "/workspace.plan\n\n/workspace.plan <!-- cortext: typed: -->"} {
			if got := typedPrompt(text + "\n\n" + line); got != line {
				t.Errorf("%q is %q", line, got)
			}
		}
		if got := typedPrompt(text); got != "/workspace.plan" {
			t.Errorf("without arguments it is %q", got)
		}
	}
}

// nasty are texts that are hard to encode.
var nasty = []string{
	"", "x", "two\nlines", "\n", "'", "\"", "a\n'''", "a\n\"\"\"", "a\n\\", "a\n\\u0041 \\n", "ends\nin '", "ends\nin \"", "\nbegins",
	"tab\there\n", "a\r\nb", "\r", "\x00\n\x1f\x7f", "\x00", "\u2028\n\ufeff é👍決", "!{rm} @{x} {{args}} {{{args}}} !!{ @!{\n!",
	"usage:\n\n/workspace.plan x", "# x = 'y'\n[t]",
}

// TestTOML checks that decoding an encoded string gives back the original.
func TestTOML(t *testing.T) {
	for _, text := range nasty {
		spelled := tomlString(text)
		if got := readTOML(t, spelled); got != text {
			t.Errorf("%q comes back as %q from\n%s", text, got, spelled)
		}
		if strings.ContainsFunc(spelled, control) {
			t.Errorf("%q has a control character in it", spelled)
		}
	}
	if got := tomlString("# Plan\n\nSay \"yes\" to C:\\dir.\n"); got != "'''\n# Plan\n\nSay \"yes\" to C:\\dir.\n'''" {
		t.Errorf("plain text is spelled %s", got)
	}
}

// readTOML reads the three kinds of strings in the TOML specification (1.0.0).
func readTOML(t *testing.T, s string) string {
	t.Helper()
	if inner, ok := strings.CutPrefix(s, "'''\n"); ok {
		inner, ok = strings.CutSuffix(inner, "'''")
		if !ok || strings.Contains(inner, "'''") || strings.HasSuffix(inner, "'") {
			t.Fatalf("%s does not end where it should", s)
		}
		return inner
	}
	inner, ok := strings.CutPrefix(s, "\"\"\"\n")
	if ok {
		inner = strings.TrimSuffix(inner, `"""`)
	} else {
		inner = strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`)
	}
	// Go decodes the escapes that both share; a line ending is not one of them.
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(inner, "\n", `\n`) + `"`)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return text
}

// TestCommand checks the command file for a payload.
func TestCommand(t *testing.T) {
	got := payloadCommand(inject.Request{NativeID: "id", Payload: "# Plan\n!{rm} @{x} {{args}} {{ args }} ! {x} $&"})
	want := "description = \"Resume a conversation\"\nprompt = '''\n[cortext id]\n# Plan\n!\\{rm} @\\{x} {\\{args}} {{ args }} ! {x} $&'''\n"
	if got != want {
		t.Errorf("the file is\n%s\nnot\n%s", got, want)
	}
}
