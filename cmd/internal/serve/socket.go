package serve

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"cortext/cmd/internal/serve/live"
)

// A liveRequest is what a client sends on a WebSocket.
type liveRequest struct {
	Type          string `json:"type"`          // message or sync
	Ref           string `json:"ref"`           // comes back with the answer
	LastMessageID string `json:"lastMessageId"` // of sync: the last message that the client has
	newMessage
}

// socket answers GET /api/sessions/{id}/live: it follows the conversation on a WebSocket,
// and adds the messages that the client sends.
func (s messageRoutes) socket(w http.ResponseWriter, r *http.Request) (*answer, error) {
	if !hasToken(r.Header, "Upgrade", "websocket") || !hasToken(r.Header, "Connection", "Upgrade") {
		w.Header().Set("Upgrade", "websocket")
		return nil, &problem{status: http.StatusUpgradeRequired, detail: "this address is a WebSocket: /events has the same as server-sent events"}
	}
	if key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-WebSocket-Key")); err != nil || len(key) != 16 || r.Header.Get("Sec-WebSocket-Version") != "13" {
		w.Header().Set("Sec-WebSocket-Version", "13")
		return nil, invalid("this is not a request for a WebSocket of version 13 (RFC 6455)")
	}
	f, k, err := s.follow(r, r.URL.Query().Get("since"))
	if err != nil {
		return nil, err
	}
	// The guard has checked the origin.
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		f.Leave()
		return nil, nil // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxBody)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	defer cancel()
	c := &client{s: s, r: r, key: k, conn: conn, out: make(chan []byte, 16), again: make(chan *live.Follower)}
	go func() {
		defer cancel()
		c.read(ctx)
	}()
	c.write(ctx, f)
	return nil, nil
}

// hasToken reports whether a header with a list of tokens has one.
func hasToken(h http.Header, name, token string) bool {
	for _, list := range h.Values(name) {
		for part := range strings.SplitSeq(list, ",") {
			if strings.EqualFold(strings.TrimSpace(part), token) {
				return true
			}
		}
	}
	return false
}

// A client is the other end of a WebSocket.
type client struct {
	s     messageRoutes
	r     *http.Request
	key   live.Key
	conn  *websocket.Conn
	out   chan []byte         // answers to its requests
	again chan *live.Follower // that replaces the one in use
}

// write sends events to the client until it leaves, is too slow, or the hub ends.
func (c *client) write(ctx context.Context, f *live.Follower) {
	defer func() { f.Leave() }()
	tick := time.NewTicker(aliveTime)
	defer tick.Stop()
	if !c.sendMissed(ctx, f) {
		return
	}
	gone := false
	for {
		ok := true
		select {
		case events, open := <-f.Events:
			if !open {
				_ = c.conn.Close(c.ending(gone))
				return
			}
			for _, e := range events {
				ok = ok && c.send(ctx, e.Data)
				gone = e.Kind == live.GoneEvent
			}
		case b := <-c.out:
			ok = c.send(ctx, b)
		case next := <-c.again:
			f.Leave()
			f = next
			ok = c.sendMissed(ctx, f)
		case <-tick.C:
			alive, cancel := context.WithTimeout(ctx, c.s.Patience)
			ok = c.conn.Ping(alive) == nil
			cancel()
		case <-ctx.Done():
			return
		}
		if !ok {
			return
		}
	}
}

// ending says why there are no more events. gone means that the conversation no longer
// exists.
func (c *client) ending(gone bool) (websocket.StatusCode, string) {
	select {
	case <-c.s.hub.Done():
		return websocket.StatusGoingAway, "the server is shutting down"
	default:
	}
	if gone {
		return websocket.StatusNormalClosure, "the conversation is gone"
	}
	return websocket.StatusTryAgainLater, "too slow: come back with since"
}

// sendMissed sends what the client missed, and says that it has everything then.
func (c *client) sendMissed(ctx context.Context, f *live.Follower) bool {
	last := ""
	for _, e := range f.Missed {
		if !c.send(ctx, e.Data) {
			return false
		}
		if id := idOf(e); id != "" {
			last = id
		}
	}
	return c.send(ctx, liveEvent{Type: "synced", MessageID: last}.encode())
}

func (c *client) send(ctx context.Context, b []byte) bool {
	ctx, cancel := context.WithTimeout(ctx, c.s.Patience)
	defer cancel()
	return c.conn.Write(ctx, websocket.MessageText, b) == nil
}

// read carries out the client's requests, one after the other.
func (c *client) read(ctx context.Context) {
	for {
		_, b, err := c.conn.Read(ctx)
		if err != nil {
			return
		}
		var in liveRequest
		if err := decode(bytes.NewReader(b), &in); err != nil {
			c.answer(ctx, failedRequest(in.Ref, invalid("the socket does not take this message: %v", err)))
			continue
		}
		switch in.Type {
		case "message":
			c.answer(ctx, c.add(&in))
		case "sync":
			f, err := c.s.hub.Follow(ctx, c.key, in.LastMessageID)
			if err != nil {
				c.answer(ctx, failedRequest(in.Ref, err))
				continue
			}
			select {
			case c.again <- f:
			case <-ctx.Done():
				f.Leave()
				return
			}
		default:
			c.answer(ctx, failedRequest(in.Ref, invalid("type %q is neither message nor sync", in.Type)))
		}
	}
}

// add adds a message to the conversation. It is on disk when the answer is sent.
func (c *client) add(in *liveRequest) liveEvent {
	if !c.s.guard.mayChange(c.r) {
		return failedRequest(in.Ref, &problem{status: http.StatusForbidden, detail: "this socket was opened with the page's cookie, which only reads: send the token in Authorization"})
	}
	space, err := c.s.Open(c.key.Root)
	if err != nil {
		return failedRequest(in.Ref, err)
	}
	defer space.End()
	e, err := space.entry(c.key.ID)
	if err != nil {
		return failedRequest(in.Ref, err)
	}
	m, err := c.s.add(space, e, in.newMessage)
	if err != nil {
		return failedRequest(in.Ref, err)
	}
	return liveEvent{Type: "ack", MessageID: m.ID, Ref: in.Ref}
}

func (c *client) answer(ctx context.Context, e liveEvent) {
	select {
	case c.out <- e.encode():
	case <-ctx.Done():
	}
}

func failedRequest(ref string, err error) liveEvent {
	p := problemOf(err)
	return liveEvent{Type: "error", Ref: ref, Status: p.status, Detail: p.detail}
}
