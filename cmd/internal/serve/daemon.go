package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"cortext/cmd/internal/children"
	"cortext/cmd/internal/interrupt"
	"cortext/cmd/internal/launch"
	"cortext/schema"
	"cortext/store"
)

// An initRequest names a workspace.
type initRequest struct {
	WorkspacePath string `json:"workspacePath"` // its folder, absolute; empty: the server's own
}

// An initAnswer describes a workspace.
type initAnswer struct {
	Workspace place `json:"workspace"`
}

// init answers POST /init: it describes a workspace that this machine has seen.
func (s daemonRoutes) init(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	var in initRequest
	if err := read(r, &in); err != nil {
		return nil, err
	}
	space, err := s.openPath(in.WorkspacePath)
	if err != nil {
		return nil, err
	}
	defer space.End()
	p, err := s.placeOf(space)
	if err != nil {
		return nil, err
	}
	return &answer{body: initAnswer{p}}, nil
}

// openPath opens the workspace in a folder.
func (s *Server) openPath(dir string) (*Space, error) {
	if dir != "" && !filepath.IsAbs(dir) {
		return nil, invalid("workspacePath %q is not absolute", dir)
	}
	if dir != "" {
		dir = filepath.Clean(dir)
	}
	return s.openNamed(dir)
}

// A startRequest begins a conversation, or makes an old one active.
type startRequest struct {
	WorkspacePath string `json:"workspacePath"` // the workspace's folder, absolute; empty: the server's own
	SessionID     string `json:"sessionId"`     // of an old conversation; empty: a new one begins
	Title         string `json:"title"`         // of a new one; empty: its first words give it one
	Type          string `json:"type"`          // of a new one; empty: chat
}

// start answers POST /sessions: it begins a conversation, or makes an old one active.
func (s daemonRoutes) start(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	var in startRequest
	if err := read(r, &in); err != nil {
		return nil, err
	}
	space, err := s.openPath(in.WorkspacePath)
	if err != nil {
		return nil, err
	}
	defer space.End()
	if in.SessionID == "" {
		e, err := space.begin(in.Type, in.Title)
		if err != nil {
			return nil, err
		}
		return &answer{status: http.StatusCreated, body: startedOf(e, nil), location: "/sessions/" + e.Session.ID}, nil
	}
	e, err := space.entry(in.SessionID)
	if err != nil {
		return nil, err
	}
	paused, err := space.Status.Set(e, schema.Active)
	if err != nil {
		return nil, err
	}
	e.Session.Status = schema.Active
	return &answer{body: startedOf(e, paused)}, nil
}

// A started is the answer to a start.
type started struct {
	SessionID string   `json:"sessionId"`
	Title     string   `json:"title"`
	Status    string   `json:"status"`
	Summary   string   `json:"summary"`
	Paused    []string `json:"paused"` // titles of the conversations that were paused for it
}

func startedOf(e store.Entry, paused []string) started {
	if paused == nil {
		paused = []string{}
	}
	x := e.Session
	return started{x.ID, x.DisplayTitle(), string(x.Status), x.ContextSummary, paused}
}

// pause answers DELETE /sessions/{id}: it pauses the conversation and removes nothing.
func (s daemonRoutes) pause(r *http.Request, space *Space, e store.Entry) (*answer, error) {
	if e.Session.Status == schema.Active {
		if _, err := space.Status.Set(e, schema.Paused); err != nil {
			return nil, err
		}
	}
	return &answer{status: http.StatusNoContent}, nil
}

// turn answers POST /sessions/{id}/messages: it runs one turn of an agent without a
// terminal and streams what the agent prints, an object on each line. The turn runs to its
// end and is saved, even if the client leaves.
func (s daemonRoutes) turn(w http.ResponseWriter, r *http.Request) (*answer, error) {
	var in turnRequest
	if err := read(r, &in); err != nil {
		return nil, err
	}
	space, e, err := s.on(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	out := &eventLines{w: w, control: http.NewResponseController(w)}
	_ = out.control.SetReadDeadline(time.Time{}) // a turn may take hours
	_ = out.control.SetWriteDeadline(time.Time{})
	before := e.Session.MessageCount
	after, err := s.runTurn(space, e, in, out)
	if after == nil && !out.began() {
		return nil, err
	}
	done := turnEvent{Type: "done"}
	if err != nil {
		done = turnEvent{Type: "error", Detail: err.Error()}
	}
	if after != nil {
		done.SessionID, done.Status, done.Messages = after.Entry.Session.ID, string(after.Entry.Session.Status), after.Entry.Session.MessageCount-before
		if after.Unsaved != nil {
			done = turnEvent{Type: "error", SessionID: done.SessionID, Detail: "not everything is saved: " + after.Unsaved.Error()}
		}
	}
	out.send(done)
	return nil, nil
}

// A turnRequest is what the user says in a turn.
type turnRequest struct {
	Content string `json:"content"`
	Agent   string `json:"agent"`  // that answers; empty: the one used last
	Budget  int    `json:"budget"` // tokens of the payload; 0: as much as the model has room for
}

// turnTime is how long cortext works on a turn before and after the agent, which itself is
// not limited.
const turnTime = 24 * time.Hour

// complaintsLen is how much of an agent's error output the error of a turn quotes, in bytes.
const complaintsLen = 2000

// runTurn runs one turn in an agent. The result is nil if the agent did not start.
func (s daemonRoutes) runTurn(space *Space, e store.Entry, t turnRequest, out io.Writer) (*launch.Result, error) {
	if strings.TrimSpace(t.Content) == "" {
		return nil, invalid("content is missing: what to say to the agent")
	}
	end, err := s.turns.begin(e.Session.ID)
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), turnTime)
	defer cancel()
	l := launch.New(space.Workspace, space.Capture, space.Payloads)
	if e, err = l.CatchUp(ctx, e); err != nil {
		return nil, err
	}
	o := launch.Options{Agent: t.Agent, Headless: true, Prompt: t.Content}
	o.Budget = t.Budget
	p, err := l.Plan(ctx, e, o)
	if err != nil {
		return nil, err
	}
	complaints := children.Tail{Len: complaintsLen}
	run, err := l.Prepare(ctx, p, launch.Program{
		In: strings.NewReader(""), Out: out, Err: &complaints, Environ: s.Environ,
		Interrupts: interrupt.New(func() {}, func(int) {}),
	})
	if err != nil {
		return nil, err
	}
	after, err := run.Start(ctx)
	if text := complaints.String(); err != nil && text != "" {
		err = errors.Join(err, errors.New(text))
	}
	return after, err
}

// A turnEvent is a line of the answer to a turn.
type turnEvent struct {
	Type      string `json:"type"` // text, done or error
	Text      string `json:"text,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	Status    string `json:"status,omitempty"`
	Messages  int    `json:"messages,omitempty"` // saved by this turn
	Detail    string `json:"detail,omitempty"`
}

// eventLines turns what an agent prints into lines of a response. If the client has left, they are
// dropped without an error, so that the agent can finish.
type eventLines struct {
	w       http.ResponseWriter
	control *http.ResponseController

	mu    sync.Mutex
	sent  bool
	split []byte // the beginning of a character
}

func (l *eventLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := append(l.split, b...)
	whole := wholeLen(text)
	l.split = append([]byte(nil), text[whole:]...)
	if whole > 0 {
		l.line(turnEvent{Type: "text", Text: strings.ToValidUTF8(string(text[:whole]), "\uFFFD")})
	}
	return len(b), nil
}

// wholeLen returns how many bytes of b are whole characters.
func wholeLen(b []byte) int {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if utf8.FullRune(b[i:]) {
				return len(b)
			}
			return i
		}
	}
	return len(b)
}

func (l *eventLines) send(e turnEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.line(e)
}

func (l *eventLines) line(e turnEvent) {
	if !l.sent {
		l.sent = true
		l.w.Header().Set("Content-Type", "application/x-ndjson")
		l.w.WriteHeader(http.StatusOK)
	}
	b, err := json.Marshal(e)
	if err != nil {
		return
	}
	_ = l.control.SetWriteDeadline(time.Now().Add(patience))
	_, _ = l.w.Write(append(b, '\n'))
	_ = l.control.Flush()
}

func (l *eventLines) began() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent
}

// Turns are the turns that agents run for clients.
type turns struct {
	places chan struct{} // one for each agent that may run

	mu      sync.Mutex
	running map[string]bool // conversations in which an agent runs a turn
	working sync.WaitGroup
}

func newTurns() *turns {
	return &turns{places: make(chan struct{}, maxTurns), running: map[string]bool{}}
}

// begin takes a place for a turn in a conversation, one at a time in each.
func (t *turns) begin(id string) (end func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[id] {
		return nil, &problem{status: http.StatusConflict, detail: "an agent is still answering in this conversation"}
	}
	select {
	case t.places <- struct{}{}:
	default:
		return nil, &problem{status: http.StatusServiceUnavailable, detail: "several agents are running already: try again when one has ended"}
	}
	t.running[id] = true
	t.working.Add(1)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.running, id)
		<-t.places
		t.working.Done()
	}, nil
}

// runs reports whether an agent runs a turn in a conversation.
func (t *turns) runs(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[id]
}
