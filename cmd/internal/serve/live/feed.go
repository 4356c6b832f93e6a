package live

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"cortext/schema"
	"cortext/store"
)

// A feed reads one conversation and tells its followers. Only its own goroutine uses its
// fields, except users, which the hub's lock guards.
type feed struct {
	hub   *Hub
	key   Key
	users int

	join   chan joining
	leave  chan *Follower
	unused chan struct{} // closed when nobody follows
	done   chan struct{} // closed when the feed has ended

	followers map[*Follower]bool
	watcher   *fsnotify.Watcher // nil: there are no notifications
	at        store.Checkpoint
	seen      map[string]fileState // of the files in the folders
	folders   []string
}

type joining struct {
	follower *Follower
	after    string
	result   chan error
}

type fileState struct {
	size int64
	mod  time.Time
}

func newFeed(h *Hub, k Key) *feed {
	return &feed{
		hub: h, key: k, join: make(chan joining), leave: make(chan *Follower), unused: make(chan struct{}), done: make(chan struct{}),
		followers: map[*Follower]bool{},
	}
}

func (f *feed) run() {
	defer f.end()
	if w, err := fsnotify.NewWatcher(); err == nil {
		f.watcher = w
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var settled <-chan time.Time
	for {
		var notes <-chan fsnotify.Event
		if f.watcher != nil {
			notes = f.watcher.Events
		}
		select {
		case <-f.unused:
			return
		case <-f.hub.ended:
			return
		case j := <-f.join:
			j.result <- f.add(j)
		case fo := <-f.leave:
			f.drop(fo)
		case <-notes:
			if settled == nil { // a turn writes several files: look once
				settled = time.After(settleTime)
			}
		case <-settled:
			settled = nil
			if !f.look() {
				return
			}
		case <-tick.C:
			if f.changed() && !f.look() {
				return
			}
		}
	}
}

// end closes what the feed holds, and forgets it, so that the next follower begins another.
func (f *feed) end() {
	f.hub.mu.Lock()
	if f.hub.feeds[f.key] == f {
		delete(f.hub.feeds, f.key)
	}
	f.hub.mu.Unlock()
	if f.watcher != nil {
		_ = f.watcher.Close()
	}
	for fo := range f.followers {
		f.drop(fo)
	}
	close(f.done)
}

func (f *feed) drop(fo *Follower) {
	if f.followers[fo] {
		delete(f.followers, fo)
		close(fo.events)
	}
}

// tell sends events to all followers. One that is too far behind is cut off: when it comes
// back, it gets what it missed.
func (f *feed) tell(events ...Event) {
	for fo := range f.followers {
		if !fo.offer(events) {
			f.drop(fo)
		}
	}
}

// offer delivers events unless the follower is too far behind.
func (fo *Follower) offer(events []Event) bool {
	for _, e := range events {
		select {
		case fo.events <- e:
		default:
			return false
		}
	}
	return true
}

// add begins to serve a follower. What it misses is determined at the same point of the
// logs from which it hears of changes, so that nothing falls between.
func (f *feed) add(j joining) error {
	first := len(f.followers) == 0
	c, folders, err := f.hub.open(f.key)
	if err != nil {
		return err
	}
	defer c.Close()
	f.watch(folders)
	if first {
		if f.at, err = c.CheckpointNow(); err != nil {
			return err
		}
		f.seen = stateOf(folders)
	} else if !f.catchUp(c) {
		return store.ErrNotFound
	}
	if j.after != "" {
		missed, err := missedSince(c, j.after)
		if err != nil {
			return err
		}
		if !j.follower.offer(missed) { // so much that reading it again is shorter
			for len(j.follower.events) > 0 {
				<-j.follower.events
			}
			j.follower.offer([]Event{{Kind: ResetEvent}})
		}
	}
	f.followers[j.follower] = true
	return nil
}

// missedSince returns the message with an id and what follows it on the branch that a
// resume continues.
func missedSince(c *store.Conversation, id string) (events []Event, err error) {
	h, _, err := c.History(store.Limit{})
	if err != nil {
		return nil, err
	}
	for i := range h.Messages {
		m := &h.Messages[i]
		if events == nil && m.ID != id {
			continue
		}
		events = append(events, Event{Kind: MessageEvent, Message: m, Calls: h.Calls(m)})
	}
	if events == nil {
		events = []Event{{Kind: ResetEvent}}
	}
	return events, nil
}

// look reads what is new and tells it. It returns false if the conversation is gone.
func (f *feed) look() bool {
	c, folders, err := f.hub.open(f.key)
	if errors.Is(err, store.ErrNotFound) {
		f.tell(Event{Kind: GoneEvent})
		return false
	}
	if err != nil {
		return true // it cannot be read now: the next look may
	}
	defer c.Close()
	f.watch(folders)
	f.seen = stateOf(folders)
	return f.catchUp(c)
}

// catchUp tells what the logs have since the last look.
func (f *feed) catchUp(c *store.Conversation) bool {
	next, err := c.CheckpointNow()
	if err != nil {
		return true
	}
	var messages []schema.Message
	var calls []schema.Tool
	ok, err := c.Since(f.at, func(line []byte) {
		if m, err := schema.ParseMessage(line); err == nil {
			messages = append(messages, m)
		}
	}, func(line []byte) {
		if t, err := schema.ParseTool(line); err == nil {
			calls = append(calls, t)
		}
	})
	if err != nil {
		return true
	}
	f.at = next
	if !ok {
		f.tell(Event{Kind: ResetEvent})
		return true
	}
	f.tell(append(eventsOf(messages, calls), Event{Kind: ChangeEvent})...)
	return true
}

// eventsOf joins messages with the calls that came with them.
func eventsOf(messages []schema.Message, calls []schema.Tool) (events []Event) {
	of := map[string][]schema.Tool{}
	for _, t := range calls {
		of[t.MessageID] = append(of[t.MessageID], t)
	}
	for i := range messages {
		m := &messages[i]
		events = append(events, Event{Kind: MessageEvent, Message: m, Calls: of[m.ID]})
		delete(of, m.ID)
	}
	for _, t := range calls {
		if of[t.MessageID] != nil {
			events = append(events, Event{Kind: CallEvent, Calls: []schema.Tool{t}})
		}
	}
	return events
}

// changed reports whether a file in the folders has changed since the last look, for file
// systems without notifications.
func (f *feed) changed() bool {
	now := stateOf(f.folders)
	if len(now) != len(f.seen) {
		return true
	}
	for name, st := range now {
		if f.seen[name] != st {
			return true
		}
	}
	return len(now) == 0
}

func stateOf(folders []string) map[string]fileState {
	all := map[string]fileState{}
	for _, dir := range folders {
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, d := range list {
			if strings.HasPrefix(d.Name(), ".") || d.IsDir() {
				continue
			}
			if info, err := d.Info(); err == nil {
				all[filepath.Join(dir, d.Name())] = fileState{info.Size(), info.ModTime()}
			}
		}
	}
	return all
}

// watch asks for notifications about folders. Without them, the feed looks every second.
func (f *feed) watch(folders []string) {
	f.folders = folders
	if f.watcher == nil {
		return
	}
	for _, dir := range folders {
		_ = f.watcher.Add(dir) // again, because git may have replaced the folder; a repetition changes nothing
	}
}
