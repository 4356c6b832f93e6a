package claude

import (
	"cmp"

	"cortext/inject"
	"cortext/inject/setup"
)

// A hookInput is Claude Code's input for a hook.
type hookInput struct {
	inject.HookInput
	PromptID  string `json:"prompt_id"`
	LastReply string `json:"last_assistant_message"` // of Stop
}

// eventType returns the type of the event that has this name in the settings.
func eventType(event string) inject.EventType {
	switch event {
	case "SessionStart":
		return inject.SessionStart
	case "UserPromptSubmit":
		return inject.PromptSubmit
	case "Stop":
		return inject.TurnEnd
	case "PostToolUse":
		return inject.ToolUse
	case "PreCompact":
		return inject.PreCompact
	case "SessionEnd":
		return inject.SessionEnd
	}
	return inject.Other
}

// Hook parses Claude Code's input for a hook (FACTS.md, "Hooks", as seen on 2.1.197 and
// 2.1.329). event is the hook's name in the settings.
func (agent) Hook(m inject.Machine, event string, input []byte) (inject.Event, error) {
	in, err := inject.DecodeHook[hookInput](input)
	if err != nil {
		return inject.Event{}, err
	}
	e := inject.Event{
		Type: eventType(event), NativeID: in.SessionID, Transcript: in.Transcript,
		Dir:    cmp.Or(m.Getenv("CLAUDE_PROJECT_DIR"), in.Cwd), // cwd changes during a session
		Prompt: in.Prompt, PromptID: in.PromptID, Process: m.Getenv("CLAUDE_PID"),
	}
	switch e.Type {
	case inject.SessionStart:
		e.Compacted = in.Source == "compact"
		e.New = in.Source != "resume" && in.Source != "fork" && !e.Compacted
		e.Cleared = in.Source == "clear"
	case inject.TurnEnd:
		e.LastReply = in.LastReply
	case inject.SessionEnd:
		e.Cleared = in.Reason == "clear"
	}
	return e, nil
}

// replyBytes is the length of a reply that is certain to arrive whole. Above 10,000
// characters, the program substitutes a preview of 2 kB and a file name (FACTS.md,
// "Hooks"). It counts UTF-16 units, and a text never has more of those than bytes.
const replyBytes = 9_900

func (agent) ReplyLimits() inject.ReplyLimits { return inject.ReplyLimits{Bytes: replyBytes} }

// Reply formats additional context. It reaches the model verbatim: the program
// expands and runs nothing in it.
func (agent) Reply(event, text string) []byte { return inject.AdditionalContext(event, text) }

// Session returns the id of the session that the program passes to its tools and
// hooks.
func (agent) Session(m inject.Machine) string { return m.Getenv("CLAUDE_CODE_SESSION_ID") }

// hooks lists the events that cortext listens to. Claude Code kills a SessionEnd hook
// after about a second unless it has its own timeout, in seconds (FACTS.md, "Hooks").
var hooks = setup.Hooks{
	Agent: Name, Events: []string{"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}, AfterTool: "PostToolUse", Timeout: 30,
	Earlier: []string{"cortext hook claude EVENT 2>/dev/null || true"}, StatusLine: "StatusLine",
}

// form describes Claude Code's commands: Markdown with frontmatter, like the sources.
var form = setup.Form{Agent: Name, Spell: setup.Markdown, Path: func(name string) string { return ".claude/commands/workspace." + name + ".md" }}

// Install returns the files of the slash commands, and the settings that a project
// commits, with our hooks in them.
func (agent) Install(o inject.InstallOptions, read inject.ReadFile) ([]inject.Change, error) {
	return hooks.Install(form, []string{".claude/settings.json"}, o, read)
}
