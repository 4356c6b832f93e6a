package registry

import (
	"encoding/json"
	"os"
	"path/filepath"

	"cortext/schema"
)

// Reached says how far a native session was captured in one work tree. It outlives that
// work tree's cache. If a capture finds records missing from the logs, it shows whether they
// are new or were removed by git. The zero value means that nothing is known.
type Reached struct {
	Offset  int64  `json:"offset"`           // of the cursor in the transcript
	Size    int64  `json:"size"`             // of the transcript, as in the cursor
	Message string `json:"message"`          // the last one captured
	Hooked  bool   `json:"hooked,omitempty"` // the agent's hooks report the session's turns

	// Transcript is the file that the session was read from. The cache also has it, but a
	// repository could contain a cache that names any of the user's files.
	Transcript string `json:"transcript,omitempty"`
}

// Progress says how far the native sessions of a workspace's work tree were captured.
type Progress struct {
	files     files
	workspace string
}

// Progress returns how far sessions were captured in the work tree of a workspace.
func (r Registry) Progress(workspace string) Progress { return Progress{r.files, workspace} }

func (p Progress) file(agent, nativeID string) string {
	return p.files.path("reached", placeKey(p.workspace), agent, schema.PathElement(nativeID)+".json")
}

// Of returns how far a session was captured.
func (p Progress) Of(agent, nativeID string) (at Reached) {
	if !p.files.read(p.file(agent, nativeID), &at) {
		return Reached{}
	}
	return at
}

// Set records how far a session was captured. It is a hint that is written after every
// turn, so it is not synced. A failure does not lose messages.
func (p Progress) Set(agent, nativeID string, at Reached) error {
	b, err := json.Marshal(at)
	if err != nil || !p.files.known() {
		return err
	}
	name := p.file(agent, nativeID)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
