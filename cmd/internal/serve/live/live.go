// Package live tells followers what is new in conversations, whoever wrote it: a hook,
// another process, git or a person. It reads the logs, which are the only truth, and uses
// the file system's notifications only to look sooner.
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

// Open opens a conversation for reading. It returns the folders to watch for changes. The
// error is store.ErrNotFound if the conversation does not exist.
type Open func(k Key) (c *store.Conversation, folders []string, err error)

// An Event is something new in a conversation.
type Event struct {
	Kind Kind

	Message *schema.Message // of MessageEvent
	Calls   []schema.Tool   // of MessageEvent: those the message made; of CallEvent: one
}

// A Kind is a kind of event.
type Kind string

const (
	MessageEvent Kind = "message" // a message was added, or has changed: its id tells
	CallEvent    Kind = "call"    // a call has its outcome, or another one
	ChangeEvent  Kind = "change"  // title, status, tags or counters may have changed
	ResetEvent   Kind = "reset"   // the history is another one: read it again
	GoneEvent    Kind = "gone"    // the conversation is not there any more
)

// ErrClosed reports that the hub ended.
var ErrClosed = errors.New("the server is shutting down")

const (
	buffered   = 256             // events that a follower may be behind
	lookEvery  = time.Second     // between looks without a notification
	settleTime = 30 * time.Millisecond
)

// A Hub follows conversations for any number of followers. Each conversation is read once
// for all of them.
type Hub struct {
	open Open

	mu     sync.Mutex
	feeds  map[Key]*feed
	closed bool
	ended  chan struct{}
}

// NewHub returns a Hub.
func NewHub(open Open) *Hub {
	return &Hub{open: open, feeds: map[Key]*feed{}, ended: make(chan struct{})}
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
	// Events delivers the events in order. It is closed if the follower was too slow, the
	// conversation is gone, or the hub ends.
	Events <-chan Event

	events chan Event
	feed   *feed
}

// Follow begins to follow a conversation. The first events are what came after the message
// with the id after, and that message itself, since its calls may have outcomes now; a
// reset, if it is not known; nothing of the past, if after is empty.
func (h *Hub) Follow(ctx context.Context, k Key, after string) (*Follower, error) {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil, ErrClosed
	}
	f := h.feeds[k]
	if f == nil {
		f = newFeed(h, k)
		h.feeds[k] = f
		go f.run()
	}
	f.users++
	h.mu.Unlock()
	fo := &Follower{events: make(chan Event, buffered), feed: f}
	fo.Events = fo.events
	join := joining{fo, after, make(chan error, 1)}
	select {
	case f.join <- join:
	case <-f.done:
		h.release(f)
		return nil, ErrClosed
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

// Leave ends the following. Events is closed.
func (fo *Follower) Leave() {
	select {
	case fo.feed.leave <- fo:
	case <-fo.feed.done:
	}
	fo.feed.hub.release(fo.feed)
}

// release counts one user less of a feed, and ends it after the last.
func (h *Hub) release(f *feed) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.users--; f.users == 0 {
		if h.feeds[f.key] == f {
			delete(h.feeds, f.key)
		}
		close(f.unused)
	}
}
