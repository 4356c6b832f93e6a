package flow

import "cortext/cmd/internal/lifecycle"

// A Happening is something that happened to a conversation: what the lifecycle
// hooks of a workspace are for. The caller runs them, after all is saved.
type Happening struct {
	Event string // of package lifecycle
	Path  string // of the conversation

	// For lifecycle.Message: the last message that was captured and how many were.
	MessageID string
	Role      string
	Count     int
}

// note remembers that something happened; the same thing twice is once.
func (w *Workspace) note(event, path string) { w.noted(event, path) }

// noteMessages remembers that messages of a conversation were captured, with the id
// and role of the last one.
func (w *Workspace) noteMessages(path, id, role string, count int) {
	h := w.noted(lifecycle.Message, path)
	h.MessageID, h.Role = id, role
	h.Count += count
}

// noted is what is remembered of an event of a conversation.
func (w *Workspace) noted(event, path string) *Happening {
	for i := range w.happened {
		if h := &w.happened[i]; h.Event == event && h.Path == path {
			return h
		}
	}
	w.happened = append(w.happened, Happening{Event: event, Path: path})
	return &w.happened[len(w.happened)-1]
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
