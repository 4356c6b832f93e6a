package workspace

import (
	"slices"
	"strings"
	"time"

	"cortext/store"
)

// An Event is something that happened to a conversation. The command runs the workspace's
// own programs for it after everything is saved.
type Event struct {
	Name string // of package lifecycle: session-start and so on
	Path string // of the conversation

	// For session-message: the last captured message, and the number of captured messages.
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

// pendingName is the cache file for failures, such as a failed commit, that could not be
// shown at once. The next command reports them.
const pendingName = "untold"

// MaxPending is how many failures are kept for the next command, and maxPendingText how
// many characters of each.
const (
	MaxPending     = 10
	maxPendingText = 1000
)

// Pending are the failures that the next command reports.
type Pending struct{ store *store.Store }

// Add keeps an error for the next command to report: the last MaxPending, each once.
func (p Pending) Add(err error) error {
	defer p.lock()()
	b, _ := p.store.ReadCache(pendingName)
	text := Plain(err.Error())
	if r := []rune(text); len(r) > maxPendingText {
		text = string(r[:maxPendingText]) + "…"
	}
	list := slices.DeleteFunc(strings.Split(string(b), "\n"), func(line string) bool { return line == "" || line == text })
	list = append(list, text)
	return p.store.WriteCache(pendingName, []byte(strings.Join(list[max(0, len(list)-MaxPending):], "\n")))
}

// Take returns, once, the failures that could not be shown at once, one per line.
func (p Pending) Take() string {
	if _, ok := p.store.ReadCache(pendingName); !ok {
		return "" // the usual case takes no lock
	}
	defer p.lock()()
	b, ok := p.store.ReadCache(pendingName)
	if ok {
		_ = p.store.RemoveCache(pendingName)
	}
	return string(b)
}

// lock serializes access to the pending warnings. Without the lock, a failure may
// be reported twice or lost.
func (p Pending) lock() (unlock func()) {
	unlock, err := p.store.LockCache(pendingName, time.Second)
	if err != nil {
		return func() {}
	}
	return unlock
}
