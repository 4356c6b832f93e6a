package serve

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"cortext/schema"
	"cortext/store"
)

// A keeper restores messages that git removed from a log soon after they were acknowledged. A
// git pull that is refused because of uncommitted changes resets the files to the last commit
// and then to what they were a moment before (git 2.39), and whoever wrote in between does not
// learn of it. What agents said is still in their transcripts; a client's message is nowhere
// else.
//
// The keeper also restores a message that somebody removes with git on purpose, if they do so
// within keepFor. It restores nothing of a conversation that was removed.
type keeper struct {
	again func(at location, messages []schema.Message) (added int) // adds those that the log lacks

	mu     sync.Mutex
	recent map[location][]acknowledged
	closed bool

	looking sync.RWMutex // held for reading by each look, so that close can wait
}

// A location says where a conversation is: in which workspace, and its id.
type location struct{ root, id string }

func (p location) String() string { return p.root + "\n" + p.id }

type acknowledged struct {
	message schema.Message
	at      time.Time
}

// How long a message is watched, and how often.
const (
	keepFor   = 10 * time.Second
	keepEvery = 2 * time.Second
)

// keep watches over a message that is on disk.
func (k *keeper) keep(at location, m schema.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	if k.recent == nil {
		k.recent = map[location][]acknowledged{}
	}
	if k.recent[at] == nil {
		time.AfterFunc(keepEvery, func() { k.look(at) })
	}
	k.recent[at] = append(k.recent[at], acknowledged{m, time.Now()})
}

// look adds again what is missing, and no longer watches over what is old.
func (k *keeper) look(at location) {
	k.looking.RLock()
	defer k.looking.RUnlock()
	k.mu.Lock()
	recent, began, closed := k.recent[at], time.Now(), k.closed
	k.mu.Unlock()
	if closed {
		return
	}
	added := k.again(at, messagesOf(recent))

	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	list, old := k.recent[at], 0
	for i := range recent {
		if added > 0 { // git may have looked before they were there again
			list[i].at = time.Now()
		}
	}
	for old < len(recent) && began.Sub(list[old].at) > keepFor {
		old++
	}
	if k.recent[at] = list[old:]; len(k.recent[at]) == 0 {
		delete(k.recent, at)
		return
	}
	time.AfterFunc(keepEvery, func() { k.look(at) })
}

func messagesOf(recent []acknowledged) (messages []schema.Message) {
	for _, a := range recent {
		messages = append(messages, a.message)
	}
	return messages
}

// close looks once more, and then stops watching.
func (k *keeper) close() {
	k.mu.Lock()
	recent := k.recent
	k.recent, k.closed = nil, true
	k.mu.Unlock()
	k.looking.Lock() // waits for looks that have begun
	defer k.looking.Unlock()
	for at, list := range recent {
		k.again(at, messagesOf(list))
	}
}

// addAgain adds messages that a conversation lacks.
func (s *Server) addAgain(at location, messages []schema.Message) (added int) {
	n, err := s.restore(at, messages)
	if err != nil {
		s.Log(fmt.Sprintf("conversation %s: its last messages may be missing: %v", at.id, err))
	} else if n > 0 {
		s.Log(fmt.Sprintf("conversation %s: git had removed %d new messages: they are there again", at.id, n))
	}
	return n
}

func (s *Server) restore(at location, messages []schema.Message) (n int, err error) {
	space, err := s.Open(at.root)
	if err != nil {
		return 0, err
	}
	defer space.End()
	defer s.writers.lock(at.String())()
	for try := 1; ; try++ {
		e, err := space.find(at.id)
		if errors.Is(err, store.ErrNotFound) {
			return 0, nil // removed, or git is about to bring it back
		}
		if err != nil {
			return 0, err
		}
		n, err := space.restore(e, messages)
		if errors.Is(err, store.ErrNotFound) {
			return 0, nil // removed just now
		}
		if !errors.Is(err, store.ErrCheckpoint) || try == tries {
			return n, err
		}
	}
}

// restore appends the given messages that the log lacks. It returns how many. The error is
// [store.ErrNotFound] if the log is gone: git, which removes one file after another, may be
// removing the conversation, and a new log would leave half of it behind.
func (space *Space) restore(e store.Entry, messages []schema.Message) (n int, err error) {
	size, err := space.Store.Folders().LogSize(e.Path)
	if err != nil {
		return 0, err
	}
	c, err := space.Conversation(e.Path)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	tx, err := c.Begin()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	if now, err := space.Store.Folders().LogSize(e.Path); err != nil {
		return 0, err
	} else if size > 0 && now == 0 {
		return 0, store.ErrNotFound // the transaction made a new log
	}
	var missing []schema.Message
	for _, m := range messages {
		known, err := tx.Holds(m.ID)
		if err != nil {
			return 0, err
		}
		if !known {
			missing = append(missing, m)
		}
	}
	if len(missing) == 0 {
		return 0, nil
	}
	return len(missing), space.write(tx, c, missing...)
}
