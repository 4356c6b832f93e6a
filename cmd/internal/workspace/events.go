package workspace

import "slices"

// An Event is something that happened to a conversation. The command runs the workspace's
// own programs for it after everything is saved.
type Event struct {
	Name string // of package lifecycle: session-start and so on
	Path string // of the conversation

	// Of session-message: the last captured message, and the number of captured messages.
	MessageID, Role string
	Count           int
}

// Events holds the events since the last Take.
type Events struct{ list []Event }

// Note records an event. Recording it again changes nothing.
func (v *Events) Note(name, path string) {
	v.NoteMessages(Event{Name: name, Path: path})
}

// NoteMessages records an event about messages. Events about the same conversation become
// one, which counts all of their messages and names the last.
func (v *Events) NoteMessages(e Event) {
	i := slices.IndexFunc(v.list, func(have Event) bool { return have.Name == e.Name && have.Path == e.Path })
	if i < 0 {
		v.list = append(v.list, e)
		return
	}
	v.list[i].Count += e.Count
	if e.MessageID != "" {
		v.list[i].MessageID, v.list[i].Role = e.MessageID, e.Role
	}
}

// Take returns the events since its last call.
func (v *Events) Take() []Event {
	list := v.list
	v.list = nil
	return list
}
