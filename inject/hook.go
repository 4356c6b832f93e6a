package inject

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// An EventType is the point in a session at which an agent calls a hook.
type EventType int

// The events that cortext handles.
const (
	Other        EventType = iota // nothing to do
	SessionStart                  // a session started or resumed
	PromptSubmit                  // the user submitted a prompt; the agent has not started on it
	TurnEnd                       // the agent finished a turn
	ToolUse                       // the agent called a tool
	PreCompact                    // the agent is about to shorten its context
	SessionEnd                    // the session ended, or the user left it
)

// An Event is an agent's input to a hook.
type Event struct {
	Type       EventType
	NativeID   string // the session's id
	Transcript string // the session's file, absolute; it may not exist yet
	Dir        string // the project's folder
	Prompt     string // what the user typed, verbatim
	Unexpanded bool   // for PromptSubmit: the agent does not know the command and sends it to the model as typed
	PromptID   string // the agent's id for it; may be empty
	LastReply  string // for TurnEnd: the model's last text; the transcript may get it a moment later
	New        bool   // for SessionStart: the session is new, neither resumed nor a fork
	Compacted  bool   // for SessionStart: the agent summed up the context of a session that goes on
	Cleared    bool   // for SessionStart and SessionEnd: the user emptied the context; the program continues
	Process    string // distinguishes processes of the agent; may be empty
}

// A HookInput has the members of a hook's input that several agents share. An adapter
// embeds it in a struct with the members that only its agent sends.
type HookInput struct {
	SessionID  string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Cwd        string `json:"cwd"`
	Source     string `json:"source"` // why a session starts
	Reason     string `json:"reason"` // why it ends
	Prompt     string `json:"prompt"`
}

func (in HookInput) session() string { return in.SessionID }

// DecodeHook decodes a hook's input, which must name a session.
func DecodeHook[T interface{ session() string }](input []byte) (in T, err error) {
	if err := json.Unmarshal(input, &in); err != nil {
		return in, fmt.Errorf("the hook's input is not JSON: %w", err)
	}
	if in.session() == "" {
		return in, errors.New("the hook's input has no session id")
	}
	return in, nil
}

// AdditionalContext formats a hook's text to inject next to a prompt, in the form that
// Claude Code and Gemini CLI share. It is ASCII: both agents decode a hook's output
// chunk by chunk and lose a character that spans two chunks (2.1.329, 0.61.0).
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
