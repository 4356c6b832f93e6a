package flow

import (
	"errors"

	"cortext/schema"
)

// A session that the user does not want saved is left alone until it is stopped
// or imported by an explicit word (DESIGN, section 5). That must outlive the
// cache.

func skipName(agent, nativeID string) string {
	return ".workspace/local/kept/skipped/" + agent + "/" + schema.PathElement(nativeID)
}

// ErrNoSession says that a command was not called from within an agent's session.
var ErrNoSession = errors.New("this is no session of an agent: the command is for agents to call")

// Skip leaves the session that it is called from alone from now on.
func (w *Workspace) Skip() error {
	for _, agent := range w.env.Agents {
		if id := agent.Session(w.env.Machine); id != "" {
			return w.Store.WriteFile(skipName(agent.Name, id), nil)
		}
	}
	return ErrNoSession
}

func (w *Workspace) skipped(agent, nativeID string) bool {
	ok, err := w.Store.Exists(skipName(agent, nativeID))
	return ok && err == nil
}

func (w *Workspace) unskip(agent, nativeID string) error {
	return w.Store.RemoveFile(skipName(agent, nativeID))
}
