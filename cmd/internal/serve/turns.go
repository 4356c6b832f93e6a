package serve

import (
	"net/http"
	"sync"
)

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

// wait waits until no turn runs.
func (t *turns) wait() { t.working.Wait() }
