package program

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
)

// Hook reads what Claude Code gives a hook on standard input (FACTS section 4, as
// seen on 2.1.197 and 2.1.329). event is what the settings call the hook for.
func Hook(m inject.Machine, event string, input []byte) (inject.Event, error) {
	var in struct {
		SessionID  string `json:"session_id"`
		Transcript string `json:"transcript_path"`
		Cwd        string `json:"cwd"`
		Source     string `json:"source"` // of SessionStart
		Reason     string `json:"reason"` // of SessionEnd
		Prompt     string `json:"prompt"`
		PromptID   string `json:"prompt_id"`
		Said       string `json:"last_assistant_message"` // of Stop
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
		Dir:        m.Getenv("CLAUDE_PROJECT_DIR"), // cwd moves with the session
		Prompt:     in.Prompt,
		PromptID:   in.PromptID,
		Process:    m.Getenv("CLAUDE_PID"),
	}
	if e.Dir == "" {
		e.Dir = in.Cwd
	}
	switch event {
	case "SessionStart":
		e.Moment = inject.Began
		e.Fresh = in.Source != "resume" && in.Source != "compact"
		e.Cleared = in.Source == "clear"
	case "UserPromptSubmit":
		e.Moment = inject.Prompted
	case "Stop":
		e.Moment = inject.Answered
		e.Said = in.Said
	case "PostToolUse":
		e.Moment = inject.Used
	case "PreCompact":
		e.Moment = inject.Compacting
	case "SessionEnd":
		e.Moment = inject.Ended
		e.Cleared = in.Reason == "clear"
	}
	return e, nil
}

// ReplyLimit is what arrives whole: over 10,000 characters the program puts a
// preview of 2 kB and the name of a file in its place (FACTS section 2). It counts
// UTF-16 units, of which a text never has more than bytes.
const ReplyLimit = 9_900

// Reply spells additional context. It reaches the model as it is: nothing in it
// is expanded or run.
func Reply(event, text string) []byte { return inject.AdditionalContext(event, text) }

// Session is the id of the session that the program gives its tools and hooks.
func Session(m inject.Machine) string { return m.Getenv("CLAUDE_CODE_SESSION_ID") }

// configDir is where the program keeps its settings and transcripts.
func configDir(m inject.Machine) string {
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(m.Home, ".claude")
}

// Locate finds the transcript of a session, whichever project it belongs to; of
// several, the one that was written last.
func Locate(m inject.Machine, nativeID string) (file string, ok bool) {
	if nativeID == "" || strings.ContainsAny(nativeID, `/\*?[]`) || strings.HasPrefix(nativeID, ".") {
		return "", false
	}
	files, _ := filepath.Glob(filepath.Join(quoted(configDir(m)), "projects", "*", nativeID+".jsonl"))
	var newest os.FileInfo
	for _, f := range files {
		info, err := os.Stat(f)
		if err == nil && info.Mode().IsRegular() && (newest == nil || info.ModTime().After(newest.ModTime())) {
			file, newest = f, info
		}
	}
	return file, newest != nil
}

// Transcripts lists the transcripts of all projects.
func Transcripts(m inject.Machine) []string {
	files, _ := filepath.Glob(filepath.Join(quoted(configDir(m)), "projects", "*", "*.jsonl"))
	return slices.DeleteFunc(files, func(file string) bool {
		return strings.HasPrefix(filepath.Base(file), "agent-") // of a sub-agent, in old versions
	})
}

// Stores lists where the transcripts are: a folder for each project, and in it one
// for the sub-agents of each session.
func Stores(m inject.Machine) []inject.Store {
	return []inject.Store{{Dir: filepath.Join(configDir(m), "projects"), Depth: 3}}
}

// quoted is a path in which filepath.Glob finds no pattern.
func quoted(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}
