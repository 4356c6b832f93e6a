package program

import (
	"encoding/json"
	"fmt"
	"strings"

	"cortext/inject"
)

// Hook reads Gemini CLI's input for a hook from standard input (FACTS.md, "Hooks", as
// seen on 0.61.0). event is the hook's name in the settings.
//
// We do not listen to PreCompress, which comes before every call of the model.
// SessionEnd comes up to three times for one end.
func Hook(m inject.Machine, event string, input []byte) (inject.Event, error) {
	var in struct {
		SessionID  string `json:"session_id"`
		Transcript string `json:"transcript_path"`
		Cwd        string `json:"cwd"`
		Source     string `json:"source"` // of SessionStart
		Reason     string `json:"reason"` // of SessionEnd
		Prompt     string `json:"prompt"` // of BeforeAgent: with a command expanded
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return inject.Event{}, fmt.Errorf("what the hook was given is not JSON: %w", err)
	}
	if in.SessionID == "" {
		return inject.Event{}, fmt.Errorf("what the hook was given names no session")
	}
	e := inject.Event{
		NativeID:   in.SessionID,
		Transcript: in.Transcript,
		Dir:        m.Getenv("GEMINI_PROJECT_DIR"),
		Process:    m.Getenv("CORTEXT_PROCESS"), // our settings set it to the program's process id
	}
	if e.Dir == "" {
		e.Dir = in.Cwd
	}
	switch event {
	case "SessionStart":
		e.Type = inject.SessionStart
		e.New = in.Source != "resume"
		e.Cleared = in.Source == "clear"
		if !e.New {
			e.Transcript = "" // it names an empty file, which the program abandons at once for the real one
		}
	case "BeforeAgent":
		e.Type = inject.PromptSubmit
		e.Prompt = Typed(in.Prompt)
		e.Unexpanded = strings.HasPrefix(in.Prompt, "/workspace.") // started in a subfolder, where the command does not exist
	case "AfterAgent": // also for a turn that the user interrupted
		e.Type = inject.TurnEnd
	case "AfterTool":
		e.Type = inject.ToolUse
	case "SessionEnd":
		e.Type = inject.SessionEnd
		e.Cleared = in.Reason == "clear"
	}
	return e, nil
}

// ReplyLimit limits the context that a hook adds. The program itself accepts 500 kB
// and more (FACTS.md, "Hooks"); the model reliably heeds this much. "<" and ">"
// arrive as "&lt;" and "&gt;".
const ReplyLimit = 32_000

// ReplyNote tells the model what the program alters in a reply.
const ReplyNote = "In what follows < and > stand as entities; the file that is named here has them as they were."

// Reply formats additional context. It comes after the prompt, within <hook_context>,
// and the program expands and runs nothing in it.
func Reply(event, text string) []byte { return inject.AdditionalContext(event, text) }

// Session returns the id of the session that the program passes to its hooks. Its
// tools do not get it.
func Session(m inject.Machine) string { return m.Getenv("GEMINI_SESSION_ID") }
