package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"time"
)

// A Launch describes the launch of an agent while its program runs. It is stored in the
// user's state, where a repository cannot plant one, because cortext acts on it outside the
// workspace.
type Launch struct {
	Agent    string     `json:"agent"`
	NativeID string     `json:"native_id,omitempty"` // empty: the agent chooses it
	Payload  string     `json:"payload"`             // the id of the line with the payload
	ID       string     `json:"id,omitempty"`        // of the conversation
	Path     string     `json:"path"`                // of the conversation
	After    string     `json:"after,omitempty"`     // id of the message that the session continues after; empty: the last one
	In       string     `json:"in,omitempty"`        // the workspace
	Began    time.Time  `json:"began,omitzero"`
	Status   string     `json:"status"`           // status of the conversation before the launch
	Messages int        `json:"messages"`         // how many the conversation had
	PID      int        `json:"pid,omitempty"`    // of the agent, once it runs
	Files    []LeftFile `json:"files,omitempty"`  // written outside the workspace
	Unused   bool       `json:"unused,omitempty"` // the agent has ended and left only a session without messages
	Tries    int        `json:"tries,omitempty"`  // attempts to remove that session
}

// A LeftFile is a file that a launch writes outside the workspace.
type LeftFile struct {
	Path    string `json:"path"`              // absolute
	SHA256  string `json:"sha256"`            // hash of the written content, in hex
	Session bool   `json:"session,omitempty"` // keep it if the agent continued in it
}

// Left describes a file that will contain data.
func Left(path, data string, session bool) LeftFile {
	return LeftFile{path, hashOf(data), session}
}

// Untouched reports whether data, the current content of a file, is what the launch wrote
// or what the file contained before.
func (f LeftFile) Untouched(data []byte) bool {
	return len(data) == 0 || hashOf(string(data)) == f.SHA256
}

func hashOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// Launches are the notes of the launches in one workspace.
type Launches struct{ notes }

// Launches returns the notes of launches in a workspace.
func (r Registry) Launches(workspace string) Launches {
	return Launches{r.files.notesOf("launches", workspace)}
}

// IDs lists the ids of the noted launches.
func (l Launches) IDs() []string { return l.ids() }

// Get returns the note of a launch, if there is one.
func (l Launches) Get(id string) (note Launch, ok bool) {
	ok = l.read(id, &note) && note.Path != ""
	return note, ok
}

// Put writes or replaces the note of a launch.
func (l Launches) Put(id string, note Launch) error { return l.write(id, note) }

// Remove removes the note of a launch.
func (l Launches) Remove(id string) error { return l.remove(id) }

// LaunchesOf returns the noted launches of a conversation, in any workspace.
func (r Registry) LaunchesOf(conversation string) (all []Launch) {
	if !r.files.known() {
		return nil
	}
	folders, _ := os.ReadDir(r.files.path("launches"))
	for _, folder := range folders {
		in := Launches{notes{r.files, r.files.path("launches", folder.Name())}}
		for _, id := range in.IDs() {
			if l, ok := in.Get(id); ok && l.ID == conversation {
				all = append(all, l)
			}
		}
	}
	return all
}
