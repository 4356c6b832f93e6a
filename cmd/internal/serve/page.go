package serve

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/serve/web"
	"cortext/schema"
	"cortext/schema/clip"
)

// rendered is a range of messages as HTML.
type rendered struct {
	HTML  string `json:"html"` // sections like those of an exported page, with nothing active in them
	From  int    `json:"from"` // number of the first message
	To    int    `json:"to"`   // and of the last
	Total int    `json:"total"`
}

// html answers GET /api/sessions/{id}/html: messages as an exported page shows them.
func (s messageRoutes) html(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	from, err := number(r, "from", 1, 1<<30, 1)
	if err != nil {
		return nil, err
	}
	to, err := number(r, "to", 1, 1<<30, 1<<30)
	if err != nil {
		return nil, err
	}
	space, e, c, err := s.onBranch(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	out := rendered{From: from, To: min(to, len(c.Messages), from+messagesMost-1), Total: len(c.Messages)}
	known := tagFor(r, c)
	if hasTag(r.Header.Get("If-None-Match"), known) {
		return &answer{status: http.StatusNotModified, tag: known}, nil
	}
	in := page.Input{Session: e.Session, History: c.History, Root: c.root, Content: func(sum string) ([]byte, bool) { return space.Attachments.Read(e, sum) }}
	out.HTML, err = s.fragment(c, &in, out.From, out.To)
	return &answer{body: out, tag: known}, err
}

// fragment returns the HTML of the messages with numbers from first to last.
func (s messageRoutes) fragment(c *content, in *page.Input, first, last int) (string, error) {
	name := s.fragments.nameOf(in.Root, c, first, last)
	if html, ok := s.fragments.get(name); ok {
		return html, nil
	}
	// One request renders it, the others wait and get what it rendered.
	defer s.renderers.lock(name)()
	if html, ok := s.fragments.get(name); ok {
		return html, nil
	}
	var html bytes.Buffer
	if err := page.New(s.markdown()).Messages(&html, in, first, last); err != nil {
		return "", err
	}
	s.fragments.put(name, html.String())
	return html.String(), nil
}

// markdown returns what renders Markdown; nil if nothing does.
func (s *Server) markdown() page.Markdown {
	if s.Markdown == nil {
		return nil
	}
	return s.Markdown()
}

// tagFor returns the ETag of what a request gets of a conversation's messages.
func tagFor(r *http.Request, c *content) string {
	return tagOf([]byte(c.tag + r.URL.Path + "?" + r.URL.RawQuery))
}

// A promptLine is a prompt of the user, in an index.
type promptLine struct {
	Number    int    `json:"number"`
	ID        string `json:"id"`
	Timestamp int64  `json:"timestamp"`
	Text      string `json:"text"` // its first 200 characters, on one line
}

const promptLen = 200

// A promptsAnswer is an index of a conversation.
type promptsAnswer struct {
	Prompts []promptLine `json:"prompts"`
	Total   int          `json:"total"` // messages on this branch
}

// prompts answers GET /api/sessions/{id}/prompts.
func (s messageRoutes) prompts(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	space, _, c, err := s.onBranch(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	list := []promptLine{}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == schema.User {
			list = append(list, promptLine{m.Number, m.ID, millisOf(m.Timestamp), clip.Characters(strings.Join(strings.Fields(m.Content), " "), promptLen)})
		}
	}
	return &answer{body: promptsAnswer{list, len(c.Messages)}, tag: tagFor(r, c)}, nil
}

// pagePolicy is the Content-Security-Policy of the page: only its own files, and images
// that are in a conversation.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed openapi.json
var openapiJSON []byte

// openapi answers GET /api/openapi.json.
func (s findRoutes) openapi(http.ResponseWriter, *http.Request) (*answer, error) {
	return &answer{body: json.RawMessage(openapiJSON)}, nil
}

// static serves the page and its files, and refuses every other path.
func (s *Server) static(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
	case r.URL.Path == "/":
		s.home(w, r)
		return
	case r.URL.Path == "/assets/conversation.css":
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		s.asset(w, r, []byte(page.Style()))
		return
	case strings.HasPrefix(r.URL.Path, "/assets/"):
		name := strings.TrimPrefix(r.URL.Path, "/")
		if b, err := web.Files.ReadFile(name); err == nil {
			w.Header().Set("Content-Type", typeOf(name))
			s.asset(w, r, b)
			return
		}
	}
	if allowed := s.allowed(r); len(allowed) > 0 && !slices.Contains(allowed, r.Method) {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		(&problem{status: http.StatusMethodNotAllowed, detail: r.Method + " is not for this address"}).write(w)
		return
	}
	(&problem{status: http.StatusNotFound, detail: "there is nothing at this address: /api/openapi.json describes what there is"}).write(w)
}

// allowed returns the methods that there are for the address of a request.
func (s *Server) allowed(r *http.Request) (methods []string) {
	if r.URL.Path == "/" || strings.HasPrefix(r.URL.Path, "/assets/") {
		return []string{http.MethodGet, http.MethodHead}
	}
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		try := r.Clone(r.Context())
		try.Method = m
		if _, pattern := s.mux.Handler(try); pattern != "/" {
			methods = append(methods, m)
		}
	}
	return methods
}

// typeOf returns the media type of a file of the page, whatever the system knows about its
// ending.
func typeOf(name string) string {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "css":
		return "text/css; charset=utf-8"
	case "js":
		return "text/javascript; charset=utf-8"
	case "svg":
		return "image/svg+xml"
	case "png":
		return "image/png"
	}
	return "application/octet-stream"
}

// asset writes a file that changes only with the program.
func (s *Server) asset(w http.ResponseWriter, r *http.Request, b []byte) {
	h, tag := w.Header(), tagOf(b)
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if r.Method == http.MethodGet {
		_, _ = w.Write(b)
	}
}

// home serves the page. The address that cortext serve prints has a key, which home
// exchanges for a cookie. A browser with the cookie gets the page with the token, which the
// page needs to change anything.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if key := r.URL.Query().Get("key"); key != "" && s.guard.useKey(key) {
		http.SetCookie(w, s.guard.cookie(r))
		h.Set("Location", "/")
		w.WriteHeader(http.StatusSeeOther)
		if s.KeyUsed != nil {
			s.KeyUsed(s.guard.key())
		}
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	if !s.guard.authorized(r) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(lockedPage))
		return
	}
	if r.URL.RawQuery != "" { // a key that was used already must not stay in the address
		h.Set("Location", "/")
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	b, err := web.Files.ReadFile("index.html")
	if err != nil {
		problemOf(err).write(w)
		return
	}
	_, _ = w.Write(bytes.Replace(b, []byte(web.TokenMark), []byte(s.Token), 1))
}

// lockedPage is shown to a browser without the cookie.
const lockedPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>cortext</title>
<h1>This page needs a key</h1>
<p>Open the address that <code>cortext serve</code> printed last. Each works once.</p>
</html>
`
