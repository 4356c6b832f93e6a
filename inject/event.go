package inject

import (
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// A Moment is an event at which an agent calls a hook.
type Moment int

// The moments that cortext handles.
const (
	Other      Moment = iota // nothing to do
	Began                    // a session started or resumed
	Prompted                 // the user submitted a prompt; the agent has not started on it
	Answered                 // the agent finished a turn
	Used                     // the agent called a tool
	Compacting               // the agent is about to shorten its context
	Ended                    // the session ended, or the user left it
)

// An Event is an agent's input to a hook.
type Event struct {
	Moment     Moment
	NativeID   string // the session's id
	Transcript string // the session's file, absolute; it may not exist yet
	Dir        string // the project's folder
	Prompt     string // what the user typed, verbatim
	Literal    bool   // of Prompted: the agent does not know the command and sends it to the model as typed
	PromptID   string // the agent's id for it; may be empty
	Said       string // of Answered: the model's last text; the transcript may get it a moment later
	Fresh      bool   // of Began: the session is new, not resumed
	Cleared    bool   // of Began and Ended: the user emptied the context; the program continues
	Process    string // distinguishes processes of the agent; may be empty
}

// AdditionalContext formats a hook's text to inject next to a prompt, in the form
// that Claude Code and Gemini CLI share. It is ASCII: both decode a hook's output
// chunk by chunk and lose a character that spans two (2.1.329, 0.61.0).
func AdditionalContext(event, text string) []byte {
	var out struct {
		HookSpecificOutput struct {
			HookEventName     string `json:"hookEventName"`
			AdditionalContext string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	out.HookSpecificOutput.HookEventName = event
	out.HookSpecificOutput.AdditionalContext = text
	b, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	ascii := make([]byte, 0, len(b))
	for _, r := range string(b) {
		switch {
		case r < utf8.RuneSelf:
			ascii = append(ascii, byte(r))
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			ascii = fmt.Appendf(ascii, `\u%04x\u%04x`, hi, lo)
		default:
			ascii = fmt.Appendf(ascii, `\u%04x`, r)
		}
	}
	return ascii
}
