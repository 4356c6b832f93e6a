package gemini

import (
	"cortext/inject"
	"cortext/inject/setup"
)

// settingsFile is relative to a project or to the user's home.
const settingsFile = ".gemini/settings.json"

// hooks are the events that cortext listens to; the timeout is in milliseconds.
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
// files in the home folder would not work: of two commands with the same name the
// program renames both, and neither is /workspace.<name> any more (0.61.0). A hook
// that both settings have in the same words is called once.
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
