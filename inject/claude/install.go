package claude

import (
	"slices"

	"cortext/inject"
	"cortext/inject/setup"
)

// hooks are the events that cortext listens to. Claude Code kills a SessionEnd hook
// after about a second unless it has its own timeout, in seconds (FACTS.md, "Hooks").
var hooks = setup.Hooks{
	Agent: Name, Events: []string{"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}, Timeout: 30,
	Earlier: []string{"cortext hook claude EVENT 2>/dev/null || true"},
}

// form describes Claude Code's commands: Markdown with frontmatter, like the sources.
var form = setup.Form{Agent: Name, Spell: setup.Markdown, Path: func(name string) string { return ".claude/commands/workspace." + name + ".md" }}

// Install returns the files of the slash commands, and the hooks in the settings that
// a project commits.
func (agent) Install(o inject.InstallOptions, read inject.ReadFile) ([]inject.Change, error) {
	changes, err := setup.Changes(setup.Commands(form, o.Types), read)
	if err != nil {
		return nil, err
	}
	hooks := hooks
	if o.AfterTool {
		hooks.Events = append(slices.Clone(hooks.Events), "PostToolUse")
	}
	settings, err := hooks.Change(".claude/settings.json", read)
	if err != nil {
		return nil, err
	}
	return append(changes, settings), nil
}
