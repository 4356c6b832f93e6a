package opencode

import "cortext/inject"

// sessionVariable holds the session's id in the program's tools if our plugin is
// installed. The program itself sets none (FACTS.md, "Environment variables").
const sessionVariable = "OPENCODE_SESSION_ID"

// Session returns the id of the session that called our command: from the plugin,
// else from the running call in the database.
func (agent) Session(m inject.Machine) string {
	if id := m.Getenv(sessionVariable); id != "" || m.Getenv("OPENCODE") == "" {
		return id
	}
	files, _ := databases(m) // a call in an unreadable one is not ours
	for _, file := range files {
		if id := calling(file); id != "" {
			return id
		}
	}
	return ""
}

// A hookInput is what our plugin sends.
type hookInput struct {
	inject.HookInput
	MessageID string `json:"message_id"`
	LastReply string `json:"said"`
	Fresh     bool   `json:"fresh"`
	Process   string `json:"process"`
}

// eventType returns the type of the event that has this name in the plugin.
func eventType(event string) inject.EventType {
	switch event {
	case "Began": // a session of the user's was created (fresh) or continued
		return inject.SessionStart
	case "Prompted": // a command of ours: prompt is "/workspace.plan the release"
		return inject.PromptSubmit
	case "Answered": // the program is idle again
		return inject.TurnEnd
	case "Used":
		return inject.ToolUse
	case "Compacting": // the context was shortened; the store still has all of it
		return inject.PreCompact
	case "Ended": // the program is about to end
		return inject.SessionEnd
	}
	return inject.Other
}

// Hook parses the input that our plugin (plugin/cortext.js) gives "cortext hook
// opencode <event>" on standard input. The plugin does not know yet which id the
// command's message will get (1.18.33), so PromptID is empty.
func (agent) Hook(m inject.Machine, event string, input []byte) (inject.Event, error) {
	in, err := inject.DecodeHook[hookInput](input)
	if err != nil {
		return inject.Event{}, err
	}
	e := inject.Event{
		Type: eventType(event), NativeID: in.SessionID, Dir: in.Cwd, Prompt: in.Prompt, PromptID: in.MessageID, Process: in.Process,
	}
	switch e.Type {
	case inject.SessionStart:
		e.New = in.Fresh
	case inject.TurnEnd:
		e.LastReply = in.LastReply
	}
	return e, nil
}

// replyBytes is more than cortext says about any one command. The plugin can deliver 2
// MB (FACTS.md, "Hooks"), but a person has to scroll past it.
const replyBytes = 64_000

func (agent) ReplyLimits() inject.ReplyLimits { return inject.ReplyLimits{Bytes: replyBytes} }

// Reply returns the text itself. The plugin adds it to the command's message as a
// part of its own, where the program expands and runs nothing in it. The plugin
// removes one line ending, which the caller appends.
func (agent) Reply(_, text string) []byte { return []byte(text) }
