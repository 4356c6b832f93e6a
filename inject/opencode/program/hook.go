package program

import (
	"encoding/json"
	"fmt"

	"cortext/inject"
)

// SessionVariable holds the session's id in the program's tools if our plugin is
// installed. The program itself sets none (FACTS.md, "Variables of the environment").
const SessionVariable = "OPENCODE_SESSION_ID"

// Session returns the session id that our plugin passes to the program's tools.
func Session(m inject.Machine) string { return m.Getenv(SessionVariable) }

// Called reports whether the program called a command, with our plugin or without it.
func Called(m inject.Machine) bool { return m.Getenv("OPENCODE") != "" }

// Hook reads the input that our plugin (setup/plugin/cortext.js) gives
// "cortext hook opencode <event>" on standard input. Its events are:
//
//	Began       a session of the user's was created (fresh) or continued
//	Prompted    the user typed a command of ours: prompt is "/workspace.plan the release"
//	Answered    the program is idle again
//	Used        a tool was called
//	Compacting  the context was shortened; the store still has all of it
//	Ended       the program is about to end
//
// The plugin does not know yet which id the command's message will get (1.18.33), so
// PromptID is empty.
func Hook(m inject.Machine, event string, input []byte) (inject.Event, error) {
	var in struct {
		SessionID string `json:"session_id"`
		Cwd       string `json:"cwd"`
		Prompt    string `json:"prompt"`
		MessageID string `json:"message_id"`
		Said      string `json:"said"`
		Fresh     bool   `json:"fresh"`
		Process   string `json:"process"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return inject.Event{}, fmt.Errorf("what the hook was given is not JSON: %w", err)
	}
	if in.SessionID == "" {
		return inject.Event{}, fmt.Errorf("what the hook was given names no session")
	}
	e := inject.Event{NativeID: in.SessionID, Dir: in.Cwd, Prompt: in.Prompt, PromptID: in.MessageID, Process: in.Process}
	switch event {
	case "Began":
		e.Type, e.New = inject.SessionStart, in.Fresh
	case "Prompted":
		e.Type = inject.PromptSubmit
	case "Answered":
		e.Type, e.LastReply = inject.TurnEnd, in.Said
	case "Used":
		e.Type = inject.ToolUse
	case "Compacting":
		e.Type = inject.PreCompact
	case "Ended":
		e.Type = inject.SessionEnd
	}
	return e, nil
}

// ReplyLimit exceeds what cortext says about any one command. The plugin can deliver
// 2 MB (FACTS.md, "Hooks"), but a person has to scroll past it.
const ReplyLimit = 64_000

// Reply returns the text itself. The plugin adds it to the command's message as a
// part of its own, where the program expands and runs nothing in it. The plugin
// removes one line end, which the caller appends.
func Reply(_, text string) []byte { return []byte(text) }
