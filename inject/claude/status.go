package claude

import (
	"cmp"
	"path/filepath"
	"strings"

	"cortext/inject"
)

// A statusInput is Claude Code's input for a status line (FACTS.md, "Status line").
type statusInput struct {
	inject.HookInput
	Workspace struct {
		ProjectDir string `json:"project_dir"`
	} `json:"workspace"`
	Context struct {
		Size  int `json:"context_window_size"`
		Usage *struct {
			Input   int `json:"input_tokens"`
			Created int `json:"cache_creation_input_tokens"`
			Cached  int `json:"cache_read_input_tokens"`
		} `json:"current_usage"`
	} `json:"context_window"`
}

// Status parses the input. The tokens used are those that the model read for its last
// answer.
func (agent) Status(m inject.Machine, input []byte) (inject.Status, error) {
	in, err := inject.DecodeHook[statusInput](input)
	if err != nil {
		return inject.Status{}, err
	}
	s := inject.Status{
		NativeID: in.SessionID, Transcript: in.Transcript, Window: max(in.Context.Size, 0),
		Dir: cmp.Or(in.Workspace.ProjectDir, m.Getenv("CLAUDE_PROJECT_DIR"), in.Cwd),
	}
	if u := in.Context.Usage; u != nil {
		s.Used = max(u.Input+u.Created+u.Cached, 0)
	}
	return s, nil
}

// UserStatusLine returns the command in the user's settings.json, unless it is ours. A
// project's settings take precedence over it in the program.
func (agent) UserStatusLine(m inject.Machine) string {
	var settings struct {
		StatusLine struct {
			Type    string `json:"type"`
			Command string `json:"command"`
		} `json:"statusLine"`
	}
	dir := configDir(m)
	if !filepath.IsAbs(dir) || inject.ReadJSON(filepath.Join(dir, "settings.json"), &settings) != nil {
		return ""
	}
	if line := settings.StatusLine; line.Type == "command" && !strings.Contains(line.Command, "cortext") {
		return line.Command
	}
	return ""
}
