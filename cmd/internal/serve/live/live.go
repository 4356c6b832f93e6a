// Package live tells followers what is new in conversations, whoever wrote it: a hook,
// another process, git or a person. It reads the logs, which are the source of truth, and
// uses the file system's notifications only to look sooner.
package live

import (
	"context"
	"errors"
	"sync"
	"time"

	"cortext/schema"
	"cortext/store"
)

// A Key names a conversation.
type Key struct {
	Root string // of its workspace, absolute
	ID   string
}

// An Opened is a conversation that is open for reading.
type Opened struct {
	*store.Conversation
	Folders []string // to watch for changes, absolute
	Done    func()   // closes it
}

// Open opens a conversation. The error is store.ErrNotFound if it does not exist.
type Open func(k Key) (*Opened, error)

// Encode returns what followers get of an event: with a message and its calls, or with one
// call of a message that was sent before, or with neither.
type Encode func(kind Kind, m *schema.Message, calls []schema.Tool) []byte

// An Event is something new in a conversation.
type Event struct {
	Kind Kind
	ID   string // of the message; empty: the event is about none
	Data []byte // shared by all followers: nobody may change it
}

// A Kind is a kind of event.
type Kind string

const (
	MessageEvent Kind = "message" // a message was added, or has changed if its id is known
	CallEvent    Kind = "call"    // a call has its outcome, or another one
	ChangeEvent  Kind = "change"  // title, status, tags or counters may have changed
	ResetEvent   Kind = "reset"   // messages are gone, or new ones are not at the end: read the conversation again
	GoneEvent    Kind = "gone"    // the conversation no longer exists
)

// Errors of Follow.
var (
	ErrClosed = errors.New("the server is shutting down")
	ErrFull   = errors.New("too many clients follow conversations: close some")
)

const (
	buffered   = 256                   // looks that a follower may be behind
	remembered = 512                   // events that a feed keeps for followers that come back
	lookEvery  = time.Second           // between looks without a notification
	settleTime = 20 * time.Millisecond // from a notification to the look: a turn writes several files
	goneAfter  = 3                     // looks in a row that do not find the conversation: git removes files before it writes them
	followers  = 1000                  // of all conversations
)

// A Hub follows conversations for any number of followers. Each conversation is read once
// for all of them.
type Hub struct {
	open   Open
	encode Encode

	mu     sync.Mutex
	feeds  map[Key]*feed
	users  int
	closed bool
	ended  chan struct{}
}

// NewHub returns a Hub.
func NewHub(open Open, encode Encode) *Hub {
	return &Hub{open: open, encode: encode, feeds: map[Key]*feed{}, ended: make(chan struct{})}
}

// Close ends all feeds and followers.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.closed = true
		close(h.ended)
	}
}

// Done is closed when the hub ends.
func (h *Hub) Done() <-chan struct{} { return h.ended }

// A Follower receives the events of a conversation.
type Follower struct {
	// Missed holds the events after the last message that the follower had.
	Missed []Event

	// Events delivers what comes from now on, in order: what one look found at a time. It is
	// closed if the follower was too slow, the conversation is gone, or the hub ends.
	Events <-chan []Event

	events chan []Event
	feed   *feed
}

// Follow begins to follow a conversation. Missed holds what was written after the message
// with the id since. It holds a reset if that message is unknown, and nothing if since is
// empty. The error is store.ErrNotFound, ErrClosed or ErrFull, or that of reading.
func (h *Hub) Follow(ctx context.Context, k Key, since string) (*Follower, error) {
	for {
		f, err := h.use(k)
		if err != nil {
			return nil, err
		}
		fo := &Follower{events: make(chan []Event, buffered), feed: f}
		fo.Events = fo.events
		join := joining{fo, since, make(chan error, 1)}
		select {
		case f.join <- join:
		case <-f.done: // it ended meanwhile: another one begins
			h.release(f)
			continue
		case <-ctx.Done():
			h.release(f)
			return nil, ctx.Err()
		}
		if err := <-join.result; err != nil {
			h.release(f)
			return nil, err
		}
		return fo, nil
	}
}

// use returns the feed of a conversation. The feed ends once release was called as often as
// use.
func (h *Hub) use(k Key) (*feed, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, ErrClosed
	case h.users >= followers:
		return nil, ErrFull
	}
	f := h.feeds[k]
	if f == nil {
		f = newFeed(h, k)
		h.feeds[k] = f
		go f.run()
	}
	f.users++
	h.users++
	return f, nil
}

// Leave ends the following. Events is closed.
func (fo *Follower) Leave() {
	select {
	case fo.feed.leave <- fo:
	case <-fo.feed.done:
	}
	fo.feed.hub.release(fo.feed)
}

// release removes a user of a feed, and ends the feed after the last one.
func (h *Hub) release(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.users--
	if f.users--; f.users == 0 {
		h.forget(f)
		close(f.unused)
	}
}

// forget makes the next follower begin another feed. The caller holds the lock.
func (h *Hub) forget(f *feed) {
	if h.feeds[f.key] == f {
		delete(h.feeds, f.key)
	}
}
