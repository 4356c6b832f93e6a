package gemini

import (
	"cmp"
	"strings"

	"cortext/inject"
)

// eventType returns the type of the event that has this name in the settings. We do not
// listen to PreCompress, which comes before every call of the model. SessionEnd comes
// up to three times for one end, and AfterAgent also comes for a turn that the user
// interrupted.
func eventType(event string) inject.EventType {
	switch event {
	case "SessionStart":
		return inject.SessionStart
	case "BeforeAgent":
		return inject.PromptSubmit
	case "AfterAgent":
		return inject.TurnEnd
	case "AfterTool":
		return inject.ToolUse
	case "SessionEnd":
		return inject.SessionEnd
	}
	return inject.Other
}

// Hook parses Gemini CLI's input for a hook (FACTS.md, "Hooks", as seen on 0.61.0).
// event is the hook's name in the settings.
func (agent) Hook(m inject.Machine, event string, input []byte) (inject.Event, error) {
	in, err := inject.DecodeHook[inject.HookInput](input)
	if err != nil {
		return inject.Event{}, err
	}
	e := inject.Event{
		Type: eventType(event), NativeID: in.SessionID, Transcript: in.Transcript,
		Dir:     cmp.Or(m.Getenv("GEMINI_PROJECT_DIR"), in.Cwd),
		Process: m.Getenv("CORTEXT_PROCESS"), // our settings set it to the program's process id
	}
	switch e.Type {
	case inject.SessionStart:
		e.New = in.Source != "resume"
		e.Cleared = in.Source == "clear"
		if !e.New {
			e.Transcript = "" // it names an empty file, which the program abandons at once for the real one
		}
	case inject.PromptSubmit:
		e.Prompt = typedPrompt(in.Prompt)
		e.Unexpanded = strings.HasPrefix(in.Prompt, inject.CommandPrefix) // started in a subfolder, where the command does not exist
	case inject.SessionEnd:
		e.Cleared = in.Reason == "clear"
	}
	return e, nil
}

// replyBytes limits the context that a hook adds. The program itself accepts 500 kB
// and more (FACTS.md, "Hooks"); the model reliably heeds this much. "<" and ">"
// arrive as "&lt;" and "&gt;".
const replyBytes = 32_000

func (agent) ReplyLimits() inject.ReplyLimits {
	return inject.ReplyLimits{Bytes: replyBytes, Note: "In what follows < and > stand as entities; the file that is named here has them as they were."}
}

// Reply formats additional context. It comes after the prompt, within <hook_context>,
// and the program expands and runs nothing in it.
func (agent) Reply(event, text string) []byte { return inject.AdditionalContext(event, text) }

// Session returns the id of the session that the program passes to its hooks. Its
// tools do not get it.
func (agent) Session(m inject.Machine) string { return m.Getenv("GEMINI_SESSION_ID") }
