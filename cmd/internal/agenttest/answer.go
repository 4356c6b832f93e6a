package agenttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// pieces is the number of parts in which a slow answer is streamed.
const pieces = 20

// streamText passes the planned text to send, piece by piece if it is slow. A turn that
// hangs ends here.
func (s *Server) streamText(r *http.Request, p plan, send func(part string)) {
	if p.hang {
		send(HangText)
		s.hang(r)
	}
	text := []rune(p.text)
	step := max(1, len(text))
	if p.slow > 0 {
		step = len(text)/pieces + 1
	}
	for len(text) > 0 {
		n := min(step, len(text))
		send(string(text[:n]))
		text = text[n:]
		s.pause(r, p.slow/pieces)
	}
}

// hang waits until the client disconnects or the server is closed; then the connection
// ends without the rest of the answer.
func (s *Server) hang(r *http.Request) {
	select {
	case s.hung <- struct{}{}:
	default:
	}
	select {
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
	panic(http.ErrAbortHandler)
}

// pause waits between two pieces, unless the client has gone.
func (s *Server) pause(r *http.Request, d time.Duration) {
	if d <= 0 {
		return
	}
	select {
	case <-time.After(d):
	case <-r.Context().Done():
	case <-s.ctx.Done():
	}
}

// events writes server-sent events. It stops writing once the client has gone.
type events struct {
	w     http.ResponseWriter
	flush func() error
	gone  bool
}

// startEvents begins a streamed answer.
func startEvents(w http.ResponseWriter) *events {
	w.Header().Set("Content-Type", "text/event-stream")
	return &events{w: w, flush: http.NewResponseController(w).Flush}
}

// send writes one event; the name may be empty.
func (e *events) send(name string, data any) {
	line, err := json.Marshal(data)
	if err != nil { // cannot happen: only plain values are sent
		panic(err)
	}
	e.write(name, line)
}

func (e *events) write(name string, line []byte) {
	if e.gone {
		return
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	if _, err := fmt.Fprintf(e.w, "%sdata: %s\n\n", name, line); err != nil {
		e.gone = true
		return
	}
	e.gone = e.flush() != nil
}
