package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cortext/schema"
)

// A Launch describes the launch of an agent while its program runs. It is acted upon
// outside of the workspace, so it is in the user's state: a repository could bring a note
// of its own.
type Launch struct {
	Agent    string     `json:"agent"`
	NativeID string     `json:"native_id,omitempty"` // empty: the agent chooses it
	Payload  string     `json:"payload"`             // the id of the line with the payload
	ID       string     `json:"id,omitempty"`        // of the conversation
	Path     string     `json:"path"`                // of the conversation
	In       string     `json:"in,omitempty"`        // the workspace
	Began    time.Time  `json:"began,omitzero"`
	Status   string     `json:"status"`           // of the conversation, before the launch
	PID      int        `json:"pid,omitempty"`    // of the agent, once it runs
	Files    []LeftFile `json:"files,omitempty"`  // written outside the workspace
	Unused   bool       `json:"unused,omitempty"` // it has ended, and only a session without messages is left
	Tries    int        `json:"tries,omitempty"`  // to remove that session
}

// A LeftFile is a file that a launch writes outside the workspace.
type LeftFile struct {
	Path    string `json:"path"`              // absolute
	SHA256  string `json:"sha256"`            // of what is written, in hex
	Session bool   `json:"session,omitempty"` // keep it if the agent continued in it
}

// Left describes a file that is to hold data.
func Left(path, data string, session bool) LeftFile {
	return LeftFile{path, hashOf(data), session}
}

// Untouched reports whether data, the current content of a file, is what the launch
// wrote, or what was there before it wrote anything.
func (f LeftFile) Untouched(data []byte) bool {
	return len(data) == 0 || hashOf(string(data)) == f.SHA256
}

func hashOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

// placeKey names a workspace in file names, by the real path of its folder.
func placeKey(workspace string) string { return hashOf(workspace)[:16] }

// launchFolder returns the folder with the notes of a workspace's launches.
func (r Registry) launchFolder(workspace string) string {
	return filepath.Join(r.dir, "launches", placeKey(workspace))
}

func (r Registry) launchFile(workspace, id string) string {
	return filepath.Join(r.launchFolder(workspace), schema.PathElement(id)+".json")
}

// WriteLaunch writes or replaces the note of a launch in a workspace.
func (r Registry) WriteLaunch(workspace, id string, l Launch) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return r.writeState(r.launchFile(workspace, id), b)
}

// Launch returns the note of a launch in a workspace, if there is one.
func (r Registry) Launch(workspace, id string) (l Launch, ok bool) {
	ok = r.readState(r.launchFile(workspace, id), &l) && l.Path != ""
	return l, ok
}

// Launches lists the ids of the noted launches in a workspace.
func (r Registry) Launches(workspace string) (ids []string) {
	if !filepath.IsAbs(r.dir) {
		return nil
	}
	if _, err := os.Lstat(r.launchFolder(workspace)); err != nil {
		return nil // most workspaces have none: a stat costs less than an open
	}
	entries, err := os.ReadDir(r.launchFolder(workspace))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// LaunchesOf returns the noted launches of a conversation, in any workspace.
func (r Registry) LaunchesOf(conversation string) (all []Launch) {
	if !filepath.IsAbs(r.dir) {
		return nil
	}
	folders, _ := os.ReadDir(filepath.Join(r.dir, "launches"))
	for _, folder := range folders {
		files, _ := os.ReadDir(filepath.Join(r.dir, "launches", folder.Name()))
		for _, f := range files {
			var l Launch
			if r.readState(filepath.Join(r.dir, "launches", folder.Name(), f.Name()), &l) && l.ID == conversation {
				all = append(all, l)
			}
		}
	}
	return all
}

// EndLaunch removes the note of a launch.
func (r Registry) EndLaunch(workspace, id string) error {
	err := os.Remove(r.launchFile(workspace, id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readState reads a file of the registry into v; ok is false if no readable file exists.
func (r Registry) readState(name string, v any) (ok bool) {
	if !filepath.IsAbs(r.dir) {
		return false // it would be a file in the user's current folder
	}
	b, err := os.ReadFile(name)
	return err == nil && json.Unmarshal(b, v) == nil
}

// writeState replaces a file of the registry.
func (r Registry) writeState(name string, b []byte) error {
	if !filepath.IsAbs(r.dir) {
		return errors.New("where this user's state lies is not known: set HOME")
	}
	return r.write(name, b)
}
