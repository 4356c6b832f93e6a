package serve

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/store"
)

// A newMessage is a message that a client adds to a conversation.
type newMessage struct {
	ID       string          `json:"id"`        // the client's own; empty: the server makes one. Adding it again changes nothing
	Role     schema.Role     `json:"role"`      // user, assistant or system; empty: user
	Content  string          `json:"content"`   // what was said
	Model    string          `json:"model"`     // of an assistant
	At       int64           `json:"timestamp"` // when it was said; 0: now
	Metadata json.RawMessage `json:"metadata"`  // any object: it comes back in the metadata of the message
}

// A messageAnswer is the answer with a message.
type messageAnswer struct {
	Message message `json:"message"`
}

// maxTime is the latest time of a message: the end of the year 9999.
const maxTime = 253402300799999

// maxID is the most characters that an id chosen by a client may have.
const maxID = 200

// addMessage answers POST /api/sessions/{id}/messages: it adds a message, and runs no agent.
func (s messageRoutes) addMessage(r *http.Request, in newMessage, space *Space, e store.Entry) (*answer, error) {
	m, err := s.add(space, e, in)
	if err != nil {
		return nil, err
	}
	return &answer{status: http.StatusCreated, body: messageAnswer{messageOf(m, nil)}, location: "/api/sessions/" + e.Session.ID + "/messages?after=" + m.ParentID}, nil
}

// add adds a message at the end of a conversation. It is on disk when add returns, and stays
// there if git is merging; see [keeper].
func (s messageRoutes) add(space *Space, e store.Entry, in newMessage) (*schema.Message, error) {
	switch {
	case strings.TrimSpace(in.Content) == "":
		return nil, invalid("content is missing: what the message says")
	case len(in.ID) > maxID || strings.ContainsFunc(in.ID, func(c rune) bool { return c == ' ' || !unicode.IsPrint(c) }):
		return nil, invalid("id is at most %d visible characters", maxID)
	}
	if in.At < 0 || in.At > maxTime {
		return nil, invalid("timestamp %d is not a time in milliseconds since 1970", in.At)
	}
	switch in.Role {
	case "":
		in.Role = schema.User
	case schema.User, schema.Assistant, schema.System:
	default:
		return nil, invalid("role %q is not user, assistant or system", in.Role)
	}
	// The store's lock works between processes and polls, so the requests of this server
	// queue here first.
	at := location{space.Store.Root(), e.Session.ID}
	defer s.writers.lock(at.String())()
	said := space.Env.Now()
	if in.At != 0 {
		said = time.UnixMilli(in.At)
	}
	m := schema.Message{ID: in.ID, Role: in.Role, Content: in.Content, Model: in.Model, Timestamp: schema.NewTime(said)}
	if string(in.Metadata) != "null" && len(in.Metadata) > 0 {
		if _, err := rawjson.Object(in.Metadata); err != nil {
			return nil, invalid("metadata is not an object: %v", err)
		}
		m.Unknown = []rawjson.Member{{Name: foreign, Value: in.Metadata}}
	}
	if m.ID == "" {
		var entropy [10]byte
		if _, err := io.ReadFull(space.Env.Entropy(), entropy[:]); err != nil {
			return nil, err
		}
		m.ID = schema.NewID(m.Timestamp.Time(), entropy)
	}
	for try := 1; ; try++ {
		held, err := space.appendMessage(e, m)
		if err == nil {
			s.kept.keep(at, *held)
		}
		if !errors.Is(err, store.ErrCheckpoint) || try == tries {
			return held, err
		}
	}
}

// tries is how often a message is written while git replaces the log at the same time.
const tries = 5

// appendMessage appends a message after the newest one. If the log holds its id, appendMessage
// returns what the log holds. The error is store.ErrCheckpoint if somebody replaced the log meanwhile.
func (space *Space) appendMessage(e store.Entry, m schema.Message) (*schema.Message, error) {
	c, err := space.Conversation(e.Path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	tx, err := c.Begin()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	known, err := tx.Holds(m.ID)
	if err != nil {
		return nil, err
	}
	if known {
		return stored(c, m)
	}
	if m.ParentID, err = workspace.LastMessageID(c); err != nil { // under the lock: nobody appends meanwhile
		return nil, err
	}
	return &m, space.write(tx, c, m)
}

// write appends messages and commits.
func (space *Space) write(tx *store.Tx, c *store.Conversation, messages ...schema.Message) error {
	if err := tx.Append(schema.Batch{Messages: messages}); err != nil {
		return err
	}
	if err := tx.Flush(); err != nil {
		return err
	}
	if space.TurnDue(tx) {
		if err := space.FinishIn(tx, c, workspace.Finishing{}); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// stored returns a message as the log holds it, or m itself if the log does not have it
// now.
func stored(c *store.Conversation, m schema.Message) (*schema.Message, error) {
	all, err := history.Messages(c.Messages())
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, func(have schema.Message) bool { return have.ID == m.ID }); i >= 0 {
		return &all[i], nil
	}
	return &m, nil
}

// locks are named locks, granted in the order of the requests.
type locks struct {
	mu sync.Mutex
	of map[string]*namedLock
}

type namedLock struct {
	sync.Mutex
	users int
}

// lock acquires a lock and returns a function that releases it.
func (l *locks) lock(name string) (unlock func()) {
	l.mu.Lock()
	if l.of == nil {
		l.of = map[string]*namedLock{}
	}
	n := l.of[name]
	if n == nil {
		n = &namedLock{}
		l.of[name] = n
	}
	n.users++
	l.mu.Unlock()
	n.Lock()
	return func() {
		n.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if n.users--; n.users == 0 {
			delete(l.of, name)
		}
	}
}
