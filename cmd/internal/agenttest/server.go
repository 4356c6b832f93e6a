// Package agenttest runs the real agents in tests, against our own model server on
// loopback, which records every request.
package agenttest

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Server is a model on a loopback port, with the APIs that the agents use: the Anthropic
// Messages API, OpenAI chat completions and the Gemini API. It stores no headers, and
// therefore no keys.
//
// Directives in the text that a test gives the agent script the answers. Only directives
// in the newest user text count, without the agent's own additions (reminders, tool
// results). A text with the line [ResumedLine] is the history of a resumed conversation,
// and its directives are ignored.
//
//	@@TOOL Name {"json":"input"}@@  call that tool, by the agent's own name for it; each takes one model turn, in order
//	@@THINK text@@                  think first, if the request allows thinking
//	@@SAY text@@                    answer with this text
//	@@BIG bytes@@                   answer with so many bytes of text
//	@@SLOW seconds@@                stream the answer over that long
//	@@HANG@@                        stream [HangText], then nothing until the client goes or the server is closed
//
// Without a directive the answer is "ok: " and the first 60 characters of the text.
// [Server.Script] scripts answers to texts without directives, so that they look like a
// user's.
type Server struct {
	URL string // such as http://127.0.0.1:40001

	http   *http.Server
	prefix string          // random, part of every id from this server
	ctx    context.Context // ends with Close, which ends hanging turns
	cancel context.CancelFunc
	hung   chan struct{} // receives a value for each turn that starts to hang

	mu       sync.Mutex
	requests []Request
	scripts  []script
	ids      int
}

// maxHung is how many hanging turns can await their [Server.AwaitHang]; further ones hang
// unreported.
const maxHung = 64

// Serve starts a server; Close ends it.
func Serve() (*Server, error) {
	prefix := make([]byte, 8)
	rand.Read(prefix) // never fails
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("agenttest: listen on loopback: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		URL:    "http://" + listener.Addr().String(),
		prefix: hex.EncodeToString(prefix),
		ctx:    ctx,
		cancel: cancel,
		hung:   make(chan struct{}, maxHung),
	}
	s.http = &http.Server{Handler: s.routes()}
	go s.http.Serve(listener) // returns when Close closes the listener
	return s, nil
}

// routes returns the server's handlers. Other paths are not found, because no agent is
// known to need them.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.turns(api{parseAnthropic, s.answerAnthropic, failAnthropic}))
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens("input_tokens"))
	mux.HandleFunc("POST /v1/chat/completions", s.turns(api{parseOpenAI, s.answerOpenAI, failOpenAI}))
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"data": []any{}, "has_more": false})
	})
	mux.HandleFunc("POST /v1beta/models/{call}", s.google)
	mux.HandleFunc("/", notFound)
	return mux
}

// Close ends the server and all turns in progress. Requests remains usable.
func (s *Server) Close() error {
	s.cancel()
	return s.http.Close()
}

// Requests returns the requests for model turns so far, in order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Main returns the [Server.Requests] that carry the conversation itself.
func (s *Server) Main() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Main() })
}

// AwaitHang waits until a turn scripted with @@HANG@@ has streamed its first piece. It
// reports each such turn once.
func (s *Server) AwaitHang(ctx context.Context) error {
	select {
	case <-s.hung:
		return nil
	case <-s.ctx.Done():
		return fmt.Errorf("agenttest: server closed before a turn hung")
	case <-ctx.Done():
		return fmt.Errorf("agenttest: no turn hung: %w", ctx.Err())
	}
}

// api holds how a protocol parses a request and sends the planned turn.
type api struct {
	parse  func(raw []byte) (Request, error)
	answer func(w http.ResponseWriter, r *http.Request, req Request, p plan)
	fail   func(w http.ResponseWriter, message string)
}

// turns records the requests for model turns of an API, and answers them.
func (s *Server) turns(a api) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := readBody(r)
		if err != nil {
			a.fail(w, err.Error())
			return
		}
		req, err := a.parse(raw)
		if err != nil {
			a.fail(w, err.Error())
			return
		}
		s.mu.Lock()
		s.requests = append(s.requests, req)
		s.mu.Unlock()

		p, err := s.planned(req)
		if err != nil {
			a.fail(w, err.Error())
			return
		}
		a.answer(w, r, req, p)
	}
}

// planned returns the turn to answer with, from a script or directives.
func (s *Server) planned(req Request) (plan, error) {
	p, ok := s.scripted(req)
	if !ok {
		var err error
		if p, err = planFor(req); err != nil {
			return plan{}, err
		}
	}
	if !req.think {
		p.think = ""
	}
	return p, nil
}

// google answers POST /v1beta/models/MODEL:METHOD.
func (s *Server) google(w http.ResponseWriter, r *http.Request) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	switch method {
	case "generateContent", "streamGenerateContent":
		s.turns(api{
			func(raw []byte) (Request, error) { return parseGoogle(model, method, raw) },
			s.answerGoogle, failGoogle,
		})(w, r)
	case "countTokens":
		s.countTokens("totalTokens")(w, r)
	default:
		notFound(w, r)
	}
}

// countTokens answers with an estimate in the given member.
func (s *Server) countTokens(member string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := readBody(r)
		if err != nil {
			failAnthropic(w, err.Error())
			return
		}
		writeJSON(w, http.StatusOK, map[string]any{member: guessTokens(len(raw))})
	}
}

// notFound handles all other requests.
func notFound(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead {
		return
	}
	writeJSON(w, http.StatusNotFound, map[string]any{
		"type":  "error",
		"error": map[string]any{"type": "not_found_error", "message": "agenttest: no " + r.Method + " " + r.URL.Path},
	})
}

// id returns an id that no other answer of any server has.
func (s *Server) id(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%s_%s%08d", kind, s.prefix, s.ids)
}

// readBody reads the whole body and uncompresses gzip.
func readBody(r *http.Request) ([]byte, error) {
	body := io.Reader(r.Body)
	if strings.EqualFold(r.Header.Get("Content-Encoding"), "gzip") {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, fmt.Errorf("agenttest: gzip body: %w", err)
		}
		body = z
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, fmt.Errorf("agenttest: read body: %w", err)
	}
	return raw, nil
}

// guessTokens estimates a model's token count for n bytes.
func guessTokens(n int) int { return max(1, n/4) }

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // the client may have gone away
}
