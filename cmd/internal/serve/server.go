// Package serve is a local HTTP server for the conversations on this machine: a REST API,
// live updates and a page. Its handlers call the functions that the commands call, and open
// the workspace for each request, as a command does: what they answer is never older than
// the files.
package serve

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/compact"
	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/serve/live"
	"cortext/cmd/internal/workspace"
)

// A Space is a workspace that is open for a request.
type Space struct {
	*workspace.Workspace
	Capture  *capture.Capture
	Payloads *payload.Builder
	Compact  *compact.Compactor

	Refresh func() // makes lists see, a little later, what people edited by hand; may be nil
	End     func() // runs the workspace's programs for what happened, and closes it
}

// Config is what a server needs from the program.
type Config struct {
	Root       string                            // the workspace that a request is about if it names none; absolute
	Workspaces func() []string                   // absolute folders of the workspaces that requests may name
	Open       func(root string) (*Space, error) // opens one of them
	Token      string                            // what a client must present
	Names      []string                          // host names that clients may use besides localhost and addresses
	Listen     net.IP                            // the address that the server listens on
	Environ    []string                          // for the agents' programs
	Markdown   func() page.Markdown              // returns what renders Markdown, for one goroutine; may be nil
	Log        func(text string)                 // reports a defect; a request's own errors go to the client
	Patience   time.Duration                     // for a client to receive live updates; 0: ten seconds
	KeyUsed    func(next string)                 // the page was opened: another browser needs the next key; may be nil
}

// Limits of the server.
const (
	headerTime = 10 * time.Second // to read the header of a request
	bodyTime   = 2 * time.Minute  // to read its body
	answerTime = 5 * time.Minute  // for its answer, unless it is a stream
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
	maxBody    = 1 << 20  // of a request, unless it imports
	maxImport  = 64 << 20 // of one that imports
	maxTurns   = 4        // agents that run at a time
)

// A Server serves the conversations of the workspaces on this machine.
type Server struct {
	Config
	hub     *live.Hub
	mux     *http.ServeMux
	guard   *guard
	reader  reader
	readers locks // of conversations that are being read

	fragments fragments
	renderers locks // of fragments that are being rendered

	lists   listTags
	writers locks  // of conversations
	kept    keeper // of messages that were just added
	turns   *turns
}

// listTags names the states of lists, by workspace.
type listTags struct {
	mu sync.Mutex
	of map[string]listTag

	refreshed map[string]time.Time // by workspace
}

type listTag struct {
	tag string
	at  time.Time
}

// New returns a server. Serve starts it.
func New(c Config) *Server {
	s := &Server{
		Config: c, guard: newGuard(c), turns: newTurns(), reader: reader{seed: maphash.MakeSeed()},
		fragments: fragments{seed: maphash.MakeSeed(), of: map[string]string{}},
	}
	if s.Patience == 0 {
		s.Patience = patience
	}
	s.lists.of, s.lists.refreshed = map[string]listTag{}, map[string]time.Time{}
	s.kept.again = s.addAgain
	s.hub = live.NewHub(s.openLive, encodeLive)
	s.mux = http.NewServeMux()
	for _, r := range s.routes() {
		s.mux.HandleFunc(r.method+" "+r.path, s.handle(r))
	}
	s.mux.Handle("/", &site{s.guard, s.mux, s.Token, s.KeyUsed})
	return s
}

// Key returns a key that opens the page in a browser, once: the address is /?key=KEY.
func (s *Server) Key() string { return s.guard.key() }

// Handler returns the handler of all requests, with the checks that each must pass.
func (s *Server) Handler() http.Handler {
	protected := s.guard.protect(s.mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerTime))
		protected.ServeHTTP(w, r)
	})
}

// Close ends the live channels, and adds the latest messages again if git removed them.
func (s *Server) Close() {
	s.hub.Close()
	s.kept.close()
}

// Serve serves until ctx ends. Then it takes no more requests, ends the live channels, and
// waits a few seconds for requests in progress.
func (s *Server) Serve(ctx context.Context, on net.Listener) error {
	server := &http.Server{
		Handler: s.Handler(), MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(on) }()
	select {
	case err := <-done:
		s.hub.Close()
		return err
	case <-ctx.Done():
	}
	s.hub.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	s.kept.close()
	saved := make(chan struct{})
	go func() { s.turns.working.Wait(); close(saved) }()
	select {
	case <-saved: // what the agents did, which got the signal, too
	case <-time.After(turnEndTime):
	}
	return err
}

// How long Serve waits for requests in progress, and then for agents.
const (
	shutdownTime = 4 * time.Second
	turnEndTime  = 10 * time.Second
)

// open opens the workspace that a request names in its query, else the server's own.
func (s *Server) open(r *http.Request) (*Space, error) {
	return s.openNamed(r.URL.Query().Get("workspace"))
}

// openNamed opens a workspace by its folder; "" names the server's own.
func (s *Server) openNamed(root string) (*Space, error) {
	root = cmp.Or(root, s.Root)
	if root != s.Root && !slices.Contains(s.Workspaces(), root) {
		return nil, &problem{status: http.StatusNotFound, detail: "cortext has not seen a workspace in " + root + ": run a cortext command there first"}
	}
	return s.Open(root)
}
