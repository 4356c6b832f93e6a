package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/serve/live"
	"cortext/schema"
	"cortext/store"
)

// openLive opens a conversation for its followers.
func (s *Server) openLive(k live.Key) (*live.Opened, error) {
	space, err := s.Open(k.Root)
	if err != nil {
		return nil, err
	}
	e, err := space.find(k.ID)
	var c *store.Conversation
	if err == nil {
		c, err = space.Open(e)
	}
	if err != nil {
		space.End()
		return nil, err
	}
	out := &live.Opened{Conversation: c, Done: func() { _ = c.Close(); space.End() }}
	for _, dir := range c.Dirs() {
		out.Folders = append(out.Folders, filepath.Join(k.Root, filepath.FromSlash(dir)))
	}
	return out, nil
}

// A liveEvent is what followers get. Which members it has depends on the type.
type liveEvent struct {
	Type    string   `json:"type"`              // message, call, change, reset or gone; ack, synced or error on a WebSocket
	Message *message `json:"message,omitempty"` // of message
	Call    *call    `json:"call,omitempty"`    // of call

	MessageID string `json:"messageId,omitempty"` // of ack: the message that is on disk now; of synced: the last missed one; absent: none was missed
	Ref       string `json:"ref,omitempty"`       // of ack and error: what the client's message had
	Status    int    `json:"status,omitempty"`    // of error
	Detail    string `json:"detail,omitempty"`    // of error
}

func (e liveEvent) encode() []byte {
	b, err := json.Marshal(e)
	if err != nil { // a message that cannot be encoded: its client reads the conversation again
		b, _ = json.Marshal(liveEvent{Type: string(live.ResetEvent)})
	}
	return b
}

func encodeLive(kind live.Kind, m *schema.Message, calls []schema.Tool) []byte {
	e := liveEvent{Type: string(kind)}
	switch {
	case m != nil:
		out := messageOf(m, calls)
		e.Message = &out
	case len(calls) > 0:
		out := callOf(&calls[0])
		e.Call = &out
	}
	return e.encode()
}

// follow begins to follow the conversation of a request.
func (s messageRoutes) follow(r *http.Request, since string) (*live.Follower, live.Key, error) {
	space, e, err := s.on(r)
	if err != nil {
		return nil, live.Key{}, err
	}
	k := live.Key{Root: space.Store.Root(), ID: e.Session.ID}
	space.End()
	f, err := s.hub.Follow(r.Context(), k, since)
	return f, k, err
}

// Times of the live channels.
const (
	patience  = 10 * time.Second // for a client to receive what is sent
	aliveTime = 15 * time.Second // between signs of life
)

// A stream is a response of server-sent events.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
}

// newStream begins a response that lasts.
func (s *Server) newStream(w http.ResponseWriter) stream {
	st := stream{w, http.NewResponseController(w), s.Patience}
	_ = st.control.SetReadDeadline(time.Time{})
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return st
}

// send sends events. Their data has no newline.
func (st stream) send(events ...live.Event) error {
	var b []byte
	for _, e := range events {
		if id := idOf(e); id != "" && !strings.ContainsAny(id, "\n\r\x00") {
			b = fmt.Appendf(b, "id: %s\n", id)
		}
		b = fmt.Appendf(b, "event: %s\ndata: %s\n\n", e.Kind, e.Data)
	}
	return st.write(b)
}

func (st stream) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if err := st.control.SetWriteDeadline(time.Now().Add(st.patience)); err != nil {
		return err
	}
	if _, err := st.w.Write(b); err != nil {
		return err
	}
	return st.control.Flush()
}

// alive sends a comment, which shows whether the client is still there.
func (st stream) alive() error { return st.write([]byte(": alive\n\n")) }

// events answers GET /api/sessions/{id}/events with server-sent events.
func (s messageRoutes) events(w http.ResponseWriter, r *http.Request) (*answer, error) {
	since := r.Header.Get("Last-Event-ID")
	if since == "" {
		since = r.URL.Query().Get("since")
	}
	f, _, err := s.follow(r, since)
	if err != nil {
		return nil, err
	}
	defer f.Leave()
	st := s.newStream(w)
	if st.alive() != nil || st.send(f.Missed...) != nil {
		return nil, nil
	}
	tick := time.NewTicker(aliveTime)
	defer tick.Stop()
	for {
		select {
		case events, ok := <-f.Events:
			if !ok || st.send(events...) != nil {
				return nil, nil
			}
		case <-tick.C:
			if st.alive() != nil {
				return nil, nil
			}
		case <-r.Context().Done():
			return nil, nil
		}
	}
}

// idOf returns the id that a client comes back with. Only messages have one: after the
// outcome of an earlier message's call, the last message is still the last.
func idOf(e live.Event) string {
	if e.Kind == live.MessageEvent {
		return e.ID
	}
	return ""
}

// listEvery is how often lists are compared.
const listEvery = time.Second

// listEvents answers GET /api/events with server-sent events: one when the list of
// conversations has changed.
func (s findRoutes) listEvents(w http.ResponseWriter, r *http.Request) (*answer, error) {
	space, err := s.open(r)
	if err != nil {
		return nil, err
	}
	root := space.Store.Root()
	space.End()
	last, err := s.lists.tag(s.Server, root)
	if err != nil {
		return nil, err
	}
	st := s.newStream(w)
	if st.alive() != nil {
		return nil, nil
	}
	look, alive := time.NewTicker(listEvery), time.NewTicker(aliveTime)
	defer look.Stop()
	defer alive.Stop()
	for {
		select {
		case <-look.C:
			now, err := s.lists.tag(s.Server, root)
			if err != nil || now == last {
				continue
			}
			last = now
			if st.send(live.Event{Kind: live.ChangeEvent, Data: encodeLive(live.ChangeEvent, nil, nil)}) != nil {
				return nil, nil
			}
		case <-alive.C:
			if st.alive() != nil {
				return nil, nil
			}
		case <-s.hub.Done():
			return nil, nil
		case <-r.Context().Done():
			return nil, nil
		}
	}
}

// refresh refreshes the list of a workspace, at most once in refreshEvery.
func (l *listTags) refresh(space *Space) {
	l.mu.Lock()
	defer l.mu.Unlock()
	root := space.Store.Root()
	if space.Refresh != nil && time.Since(l.refreshed[root]) >= refreshEvery {
		l.refreshed[root] = time.Now()
		space.Refresh()
	}
}

// refreshEvery is the time between refreshes of a list.
const refreshEvery = time.Minute

// tag names the state of a workspace's list: of its most recently active conversations, and
// of how many there are. It looks at most once in listEvery for all clients.
func (l *listTags) tag(s *Server, root string) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	have, ok := l.of[root]
	if ok && time.Since(have.at) < listEvery/2 {
		return have.tag, nil
	}
	space, err := s.Open(root)
	if err != nil {
		return "", err
	}
	defer space.End()
	list, err := space.Listing(nil)
	if err != nil {
		return "", err
	}
	defer list.Close()
	sel := listing.Selection{Filter: listing.Filter{All: true, Archived: true}, Limit: pageLen}
	p, err := rowsOf(list, sel, "")
	if err != nil {
		return "", err
	}
	have = listTag{tag: tagOf(fmt.Append(nil, p)), at: time.Now()}
	l.of[root] = have
	return have.tag, nil
}
