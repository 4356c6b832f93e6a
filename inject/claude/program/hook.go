package program

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cortext/inject"
)

// Hook reads Claude Code's input for a hook from standard input (FACTS.md, "Hooks",
// as seen on 2.1.197 and 2.1.329). event is the hook's name in the settings.
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
		Dir:        m.Getenv("CLAUDE_PROJECT_DIR"), // cwd changes during a session
		Prompt:     in.Prompt,
		PromptID:   in.PromptID,
		Process:    m.Getenv("CLAUDE_PID"),
	}
	if e.Dir == "" {
		e.Dir = in.Cwd
	}
	switch event {
	case "SessionStart":
		e.Type = inject.SessionStart
		e.New = in.Source != "resume" && in.Source != "compact"
		e.Cleared = in.Source == "clear"
	case "UserPromptSubmit":
		e.Type = inject.PromptSubmit
	case "Stop":
		e.Type = inject.TurnEnd
		e.LastReply = in.Said
	case "PostToolUse":
		e.Type = inject.ToolUse
	case "PreCompact":
		e.Type = inject.PreCompact
	case "SessionEnd":
		e.Type = inject.SessionEnd
		e.Cleared = in.Reason == "clear"
	}
	return e, nil
}

// ReplyLimit is the size that arrives whole: over 10,000 characters, the program
// substitutes a preview of 2 kB and a file name (FACTS.md, "Hooks"). It counts UTF-16
// units, and a text never has more of those than bytes.
const ReplyLimit = 9_900

// Reply formats additional context. It reaches the model verbatim: the program
// expands and runs nothing in it.
func Reply(event, text string) []byte { return inject.AdditionalContext(event, text) }

// Session returns the id of the session that the program passes to its tools and
// hooks.
func Session(m inject.Machine) string { return m.Getenv("CLAUDE_CODE_SESSION_ID") }

// configDir returns the folder of the program's settings and transcripts.
func configDir(m inject.Machine) string {
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(m.Home, ".claude")
}

// Locate finds the transcript of a session in any project. Of several, it returns the
// one written last.
func Locate(m inject.Machine, nativeID string) (file string, ok bool, err error) {
	if nativeID == "" || strings.HasPrefix(nativeID, ".") || strings.ContainsAny(nativeID, `/\`) {
		return "", false, nil
	}
	projects, err := inject.ReadFolder(projectsDir(m))
	var newest os.FileInfo
	for _, p := range projects {
		f := filepath.Join(projectsDir(m), p.Name(), nativeID+".jsonl")
		info, e := os.Stat(f)
		if e != nil && !inject.IsAbsent(e) {
			_, e := inject.ReadFolder(filepath.Dir(f))
			err = errors.Join(err, e)
		}
		if e == nil && info.Mode().IsRegular() && (newest == nil || info.ModTime().After(newest.ModTime())) {
			file, newest = f, info
		}
	}
	if newest != nil {
		return file, true, nil
	}
	return "", false, err
}

// Transcripts lists the transcripts of all projects. If some folders cannot be read,
// the error names them and the list has the rest.
func Transcripts(m inject.Machine) (files []string, err error) {
	projects, err := inject.ReadFolder(projectsDir(m))
	for _, p := range projects {
		dir := filepath.Join(projectsDir(m), p.Name())
		entries, e := inject.ReadFolder(dir)
		err = errors.Join(err, e)
		for _, f := range entries {
			if strings.HasSuffix(f.Name(), ".jsonl") && !strings.HasPrefix(f.Name(), "agent-") { // of a sub-agent, in old versions
				files = append(files, filepath.Join(dir, f.Name()))
			}
		}
	}
	return files, err
}

// Stores lists the folders with transcripts: one per project, with one per session in
// it for sub-agents.
func Stores(m inject.Machine) []inject.Store {
	return []inject.Store{{Dir: projectsDir(m), Depth: 3}}
}

// projectsDir returns the folder with one transcript folder per project.
func projectsDir(m inject.Machine) string { return filepath.Join(configDir(m), "projects") }
