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

// Hook reads what Claude Code gives a hook on standard input (FACTS.md, "Hooks", as
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
// preview of 2 kB and the name of a file in its place (FACTS.md, "Hooks"). It counts
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

// Transcripts lists the transcripts of all projects. The error names the folders
// that cannot be read; the list has what is in the others.
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

// Stores lists where the transcripts are: a folder for each project, and in it one
// for the sub-agents of each session.
func Stores(m inject.Machine) []inject.Store {
	return []inject.Store{{Dir: projectsDir(m), Depth: 3}}
}

// projectsDir is where the program keeps a folder of transcripts for each project.
func projectsDir(m inject.Machine) string { return filepath.Join(configDir(m), "projects") }
