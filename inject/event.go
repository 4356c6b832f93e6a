package inject

import (
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// A Moment is when an agent calls a hook.
type Moment int

// The moments that cortext acts on.
const (
	Other      Moment = iota // nothing to do
	Began                    // a session began, or was taken up again
	Prompted                 // the user typed something; the agent has not begun on it
	Answered                 // the agent has done a turn
	Used                     // the agent has called a tool
	Compacting               // the agent is about to shorten its context
	Ended                    // the session ended, or the user left it
)

// An Event is what an agent tells a hook.
type Event struct {
	Moment     Moment
	NativeID   string // the session's
	Transcript string // its file, absolute; it may not exist yet
	Dir        string // the project's folder
	Prompt     string // what was typed, as it was typed
	Literal    bool   // of Prompted: the agent does not know the command, the model gets it as it was typed
	PromptID   string // the agent's id for it; may be empty
	Said       string // of Answered: what the model said last; the transcript may get it a moment later
	Fresh      bool   // of Began: the session is a new one, not one taken up again
	Cleared    bool   // of Began and Ended: the user emptied the context, the program goes on
	Process    string // tells processes of the agent apart; may be empty
}

// AdditionalContext spells what a hook says beside a prompt, in the form that Claude
// Code and Gemini CLI share. It is ASCII: both decode what a hook writes chunk by
// chunk, so that a character on the border of two is lost (2.1.329, 0.61.0).
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
