package workspace

import "slices"

// An Event is something that happened to a conversation and that the workspace's own
// programs run for. The command runs them after everything is saved.
type Event struct {
	Name string // of package lifecycle: session-start and so on
	Path string // of the conversation

	// Of session-message: the last captured message, and the number of captured messages.
	MessageID, Role string
	Count           int
}

// Note records an event. Recording it again changes nothing.
func (w *Workspace) Note(name, path string) {
	w.NoteMessages(Event{Name: name, Path: path})
}

// NoteMessages records an event about messages. Events about the same conversation become
// one, which counts all of their messages and names the last.
func (w *Workspace) NoteMessages(e Event) {
	i := slices.IndexFunc(w.events, func(have Event) bool { return have.Name == e.Name && have.Path == e.Path })
	if i < 0 {
		w.events = append(w.events, e)
		return
	}
	w.events[i].Count += e.Count
	if e.MessageID != "" {
		w.events[i].MessageID, w.events[i].Role = e.MessageID, e.Role
	}
}

// TakeEvents returns the events since its last call.
func (w *Workspace) TakeEvents() []Event {
	list := w.events
	w.events = nil
	return list
}

// ConversationID returns the id of the conversation at a path.
func (w *Workspace) ConversationID(path string) (string, error) {
	e, err := w.Entry(path)
	if err != nil {
		return "", err
	}
	return e.Session.ID, nil
}
