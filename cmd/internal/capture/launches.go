package capture

import (
	"encoding/json"
	"strings"

	"cortext/inject"
	"cortext/schema"
)

// LaunchDir is where files for a launch are, relative to the workspace.
const LaunchDir = ".workspace/local/cache/launch"

// LaunchedFor is the variable that tells the hooks of a program for which
// conversation it was launched.
const LaunchedFor = "CORTEXT_LAUNCHED_FOR"

// noteEnd is the ending of a note's name.
const noteEnd = ".note"

// A LaunchNote says what a launch is for, while its program runs.
type LaunchNote struct {
	Agent    string     `json:"agent"`
	NativeID string     `json:"native_id,omitempty"` // empty: the agent chooses it
	Payload  string     `json:"payload"`             // the id of the line with the payload
	Path     string     `json:"path"`                // of the conversation
	Status   string     `json:"status"`              // of the conversation, before
	PID      int        `json:"pid,omitempty"`       // of the agent, once it runs
	Files    []LeftFile `json:"files,omitempty"`     // that were written outside the workspace
}

// A LeftFile is a file of a launch outside the workspace.
type LeftFile struct {
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	Session bool   `json:"session,omitempty"` // it stays if the agent continued in it
}

// NoteName is the file of a launch's note.
func NoteName(id string) string { return LaunchDir + "/" + id + noteEnd }

// IsNote reports whether a file of [LaunchDir] is a note, and of which launch.
func IsNote(name string) (id string, ok bool) { return strings.CutSuffix(name, noteEnd) }

// WriteNote writes the note of a launch.
func (c *Capture) WriteNote(id string, n LaunchNote) error {
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return c.ws.Store.WriteFile(NoteName(id), b)
}

// ReadNote reads a note by the name of its file.
func (c *Capture) ReadNote(name string) (n LaunchNote, ok bool) {
	if _, ok := IsNote(name); !ok {
		return n, false
	}
	b, err := c.ws.Store.ReadFile(LaunchDir + "/" + name)
	return n, err == nil && json.Unmarshal(b, &n) == nil && n.Path != ""
}

// LaunchedWith returns the conversation that the payload with an id was made for,
// if a launch with it is noted.
func (c *Capture) LaunchedWith(agent, payload string) (path string, ok bool) {
	for _, name := range c.ws.Store.ListFiles(LaunchDir) {
		note, known := c.ReadNote(name)
		if known && note.Agent == agent && note.Payload == payload {
			return note.Path, true
		}
	}
	return "", false
}

// LaunchedConversation is the path of the conversation that the calling program was
// launched for, if that is still active.
func (c *Capture) LaunchedConversation() string {
	id := c.ws.Env.Machine.Getenv(LaunchedFor)
	if id == "" {
		return ""
	}
	e, err := c.ws.Pick(id)
	if err != nil || e.Session.Status != schema.Active {
		return "" // it is gone, or another workspace's, or was stopped
	}
	return e.Path
}

// BindLaunched binds a session to the conversation that its program was launched
// for, if the agent has only now chosen the session's id.
func (c *Capture) BindLaunched(agent inject.Agent, e inject.Event) error {
	path := c.LaunchedConversation()
	if path == "" {
		return nil
	}
	for _, name := range c.ws.Store.ListFiles(LaunchDir) {
		note, ok := c.ReadNote(name)
		if !ok || note.Agent != agent.Name || note.NativeID != "" || note.Path != path {
			continue
		}
		b, err := c.Bind(agent, e.NativeID, "")
		if err == nil && len(b.Segments) == 0 {
			err = c.ContinueIn(agent, e, b, path)
		}
		if err != nil {
			return err
		}
		note.NativeID = e.NativeID
		id, _ := IsNote(name)
		return c.WriteNote(id, note)
	}
	return nil
}
