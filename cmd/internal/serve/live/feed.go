package live

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

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
	folders   []string
	seen      map[string]fileState // of the files in the folders
	missing   int                  // looks in a row that did not find the conversation
	known     *known               // what followers know; nil: nothing yet
	recent    []Event              // about messages, the newest last
}

type joining struct {
	follower *Follower
	since    string
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
		var lost <-chan error
		if f.watcher != nil {
			notes, lost = f.watcher.Events, f.watcher.Errors
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
			if settled == nil {
				settled = time.After(settleTime)
			}
		case <-lost: //nolint:errcheck // notifications were lost: the next look sees what they were about
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
	f.hub.forget(f)
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

// send sends events to all followers. It cuts off a follower that is too far behind, which
// gets what it missed when it returns.
func (f *feed) send(events ...Event) {
	for _, e := range events {
		if e.ID != "" {
			f.recent = append(f.recent, e)
		}
	}
	if n := len(f.recent) - remembered; n > 0 {
		f.recent = append([]Event(nil), f.recent[n:]...)
	}
	for fo := range f.followers {
		select {
		case fo.events <- events:
		default:
			f.drop(fo)
		}
	}
}

// event returns an event without a message.
func (f *feed) event(kind Kind) Event {
	return Event{Kind: kind, Data: f.hub.encode(kind, nil, nil)}
}

// add starts serving a follower. It reads what the follower missed up to the position from
// which events follow, so that none is lost in between.
func (f *feed) add(j joining) error {
	c, err := f.hub.open(f.key)
	if err != nil {
		return err
	}
	defer c.Done()
	f.watch(c.Folders)
	if err := f.catchUp(c); err != nil {
		return err
	}
	if j.since != "" {
		if j.follower.Missed, err = f.missed(c, j.since); err != nil {
			return err
		}
	}
	f.followers[j.follower] = true
	return nil
}

// missed returns the events after a message.
func (f *feed) missed(c *Opened, since string) (events []Event, err error) {
	for i := len(f.recent) - 1; i >= 0; i-- {
		if e := f.recent[i]; e.ID == since && e.Kind == MessageEvent {
			return append([]Event(nil), f.recent[i+1:]...), nil
		}
	}
	events, found, err := f.known.after(c, since, f.hub.encode)
	if err == nil && !found {
		events = []Event{f.event(ResetEvent)}
	}
	return events, err
}

// look reads what is new and sends it to the followers. It returns false if the
// conversation is gone.
func (f *feed) look() bool {
	c, err := f.hub.open(f.key)
	if errors.Is(err, store.ErrNotFound) {
		if f.missing++; f.missing < goneAfter {
			f.seen = nil // the next tick looks again
			return true
		}
		f.send(f.event(GoneEvent))
		return false
	}
	if err != nil {
		f.seen = nil // it cannot be read now: a later look may
		return true
	}
	defer c.Done()
	f.missing = 0
	f.watch(c.Folders)
	if err := f.catchUp(c); err != nil {
		f.seen = nil
	}
	return true
}

// catchUp sends what is new since the last look to the followers.
func (f *feed) catchUp(c *Opened) error {
	f.seen = stateOf(f.folders) // before reading: what is written meanwhile is seen by the next look
	if f.known == nil {
		k, err := readKnown(c)
		f.known = k
		return err
	}
	events, err := f.known.update(c, f.hub.encode)
	if err != nil {
		return err
	}
	f.send(append(events, f.event(ChangeEvent))...)
	return nil
}

// changed reports whether a file in the folders has changed since the last look, for file
// systems without notifications.
func (f *feed) changed() bool {
	if f.seen == nil {
		return true
	}
	now := stateOf(f.folders)
	if len(now) != len(f.seen) {
		return true
	}
	for name, st := range now {
		if f.seen[name] != st {
			return true
		}
	}
	return len(now) == 0 // the folder may be elsewhere
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
		_ = f.watcher.Add(dir) // again, because git may have replaced the folder; adding the same folder twice changes nothing
	}
}
