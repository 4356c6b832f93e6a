package gemini

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cortext/inject"
	"cortext/inject/setup"
)

// settingsFile is relative to a project or to the user's home.
const settingsFile = ".gemini/settings.json"

// hooks lists the events that cortext listens to; the timeout is in milliseconds.
// CORTEXT_PROCESS identifies the program's process: it runs the hook in a shell whose
// $PPID is its own id. The program shows the name while a hook runs, and once when it
// warns of a project's hooks.
var hooks = setup.Hooks{
	Agent: Name, Events: []string{"SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"}, AfterTool: "AfterTool", Timeout: 30_000,
	Earlier: []string{"CORTEXT_PROCESS=$PPID cortext hook gemini EVENT 2>/dev/null || true"},
	Before:  "export CORTEXT_PROCESS=$PPID; ", Name: "cortext", Comments: true,
}

// form describes Gemini CLI's commands: TOML, in which the marker is a comment.
var form = setup.Form{Agent: Name, Spell: spell, Path: func(name string) string { return ".gemini/commands/workspace." + name + ".toml" }}

// Install returns the files of a project's slash commands and hooks and, with User,
// of the hooks in the user's home, each with the action to take.
//
// The program looks for a project's files only in the folder it starts in. In a
// subfolder, a command goes to the model as typed. The hook BeforeAgent from the home
// sees it, so that cortext can add the right command text for the workspace. Command
// files in the home folder would not work: if two commands have the same name, the
// program renames both, and neither is /workspace.<name> any more (0.61.0). A hook
// that is spelled the same in both settings files runs once.
func (agent) Install(o inject.InstallOptions, read inject.ReadFile) ([]inject.Change, error) {
	files := []string{settingsFile}
	if o.User {
		files = append(files, "~/"+settingsFile)
	}
	return hooks.Install(form, files, o, read)
}

// spell formats a command's file; the marker is its first line.
func spell(name, front, body string) (before, rest string) {
	if d := setup.Field(front, "description"); d != "" {
		rest = "description = " + tomlString(d) + "\n"
	}
	return "", rest + "prompt = " + tomlString(expansion(name, body)) + "\n"
}

// expansion returns the text that the program substitutes for /workspace.<name>, so
// that Hook recognizes it. The program expands its commands before anyone sees them. It
// appends the arguments: its own placeholder would alter them (FACTS.md, "Slash
// commands").
func expansion(name, body string) string {
	return setup.Expansion(name, body, func(text string) string { return strings.Trim(unexpanded(text), "\n") })
}

// typedPrompt returns what the user typed for a prompt. The program expands its commands
// before it calls the hook. If the command has arguments, it appends the typed line
// to the text of our command.
func typedPrompt(prompt string) string {
	rest, ours := strings.CutPrefix(prompt, setup.CommandMark)
	name, rest, closed := strings.Cut(rest, " -->\n")
	if !ours || !closed || name == "" || strings.ContainsAny(name, " \n") {
		return prompt
	}
	command := inject.CommandPrefix + name
	if _, line, marked := strings.Cut(rest, "\n"+setup.TypedMark); marked {
		if line = strings.TrimPrefix(line, "\n\n"); isCommand(line, command) {
			return line
		}
		return command
	}
	// Somebody removed the end of the file.
	if i := strings.LastIndex(rest, "\n\n"+command); i >= 0 && isCommand(rest[i+2:], command) {
		return rest[i+2:]
	}
	return command
}

func isCommand(line, command string) bool {
	rest, ok := strings.CutPrefix(line, command)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n"))
}

// unexpanded breaks up what the program would expand in a command's text: "!{", "@{"
// and "{{args}}" get a backslash, since the program has no way to quote them
// (FACTS.md, "Slash commands").
func unexpanded(text string) string {
	return strings.NewReplacer("!{", `!\{`, "@{", `@\{`, "{{args}}", `{\{args}}`).Replace(text)
}

// payloadCommand formats the payload as a command file, for versions that cannot import a
// session. Its first line names the launch.
func payloadCommand(r inject.Request) string {
	text := "[cortext " + r.NativeID + "]\n" + unexpanded(r.Payload)
	return "description = \"Resume a conversation\"\nprompt = " + tomlString(text) + "\n"
}

// tomlString formats a string, verbatim on lines of its own if possible.
func tomlString(text string) string {
	const quotes = "'''"
	lines := strings.Contains(text, "\n")
	if lines && utf8.ValidString(text) && !strings.Contains(text, quotes) && !strings.HasSuffix(text, "'") && !strings.ContainsFunc(text, control) {
		return quotes + "\n" + text + quotes
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r != '\t' && control(r) || r == '\n' && !lines:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	if lines {
		return `"""` + "\n" + b.String() + `"""`
	}
	return `"` + b.String() + `"`
}

// control reports whether TOML requires an escape for a character in a multi-line
// string.
func control(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }
