package flow

import "slices"

// A Happening is something that happened to a conversation: what the lifecycle
// hooks of a workspace are for. The caller runs them, after all is saved.
type Happening struct {
	Event string // of package lifecycle
	Path  string // of the conversation
}

// note remembers that something happened; the same thing twice is once.
func (w *Workspace) note(event, path string) {
	if h := (Happening{event, path}); !slices.Contains(w.happened, h) {
		w.happened = append(w.happened, h)
	}
}

// Happened returns what has happened since it was called last.
func (w *Workspace) Happened() []Happening {
	list := w.happened
	w.happened = nil
	return list
}

// ConversationID returns the id of the conversation at a path.
func (w *Workspace) ConversationID(path string) (string, error) {
	e, err := w.entry(path)
	if err != nil {
		return "", err
	}
	return e.Session.ID, nil
}
