package program

import (
	"encoding/json"
	"fmt"

	"cortext/inject"
)

// SessionVariable holds the session's id in the tools of the program, where our
// plugin is in it: the program itself gives none (FACTS.md, "Variables of the
// environment").
const SessionVariable = "OPENCODE_SESSION_ID"

// Session is the id of the session that our plugin gives the program's tools.
func Session(m inject.Machine) string { return m.Getenv(SessionVariable) }

// Called reports whether a command was called from within the program, with our
// plugin or without it.
func Called(m inject.Machine) bool { return m.Getenv("OPENCODE") != "" }

// Hook reads what our plugin gives "cortext hook opencode <event>" on standard
// input (setup/plugin/cortext.js). Its events have the names of the moments:
//
//	Began       a session of the user's was begun (fresh), or gone on with
//	Prompted    a command of ours was typed: prompt is "/workspace.plan the release"
//	Answered    the program is idle again
//	Used        a tool was called
//	Compacting  the context was shortened; the store has all of it still
//	Ended       the program is about to end
//
// The id that the message of a command will have is not known to the plugin at that
// time (1.18.33), so that PromptID is empty.
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
		e.Moment, e.Fresh = inject.Began, in.Fresh
	case "Prompted":
		e.Moment = inject.Prompted
	case "Answered":
		e.Moment, e.Said = inject.Answered, in.Said
	case "Used":
		e.Moment = inject.Used
	case "Compacting":
		e.Moment = inject.Compacting
	case "Ended":
		e.Moment = inject.Ended
	}
	return e, nil
}

// ReplyLimit is more than what cortext says of one command; the plugin hands over
// 2 MB just as well (FACTS.md, "Hooks"), but a person has to scroll past it.
const ReplyLimit = 64_000

// Reply is the text itself: the plugin puts it into the message of the command as a
// part of its own, where nothing in it is expanded or run. It takes off one line end,
// which the caller puts behind it.
func Reply(_, text string) []byte { return []byte(text) }
