package serve

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"cortext/cmd/internal/export/page"
	"cortext/cmd/internal/serve/web"
)

// A site serves the page and its files, and refuses every address that is not on a mux.
type site struct {
	guard   *guard
	mux     *http.ServeMux
	token   string
	keyUsed func(next string) // see [Config]
}

// pagePolicy is the Content-Security-Policy of the page: only its own files, and images
// that are in a conversation.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServeHTTP serves the page and its files, and refuses every other path.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
	case r.URL.Path == "/":
		s.home(w, r)
		return
	case r.URL.Path == "/assets/conversation.css":
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		writeAsset(w, r, []byte(page.Style()))
		return
	case strings.HasPrefix(r.URL.Path, "/assets/"):
		name := strings.TrimPrefix(r.URL.Path, "/")
		if b, err := web.Files.ReadFile(name); err == nil {
			w.Header().Set("Content-Type", typeOf(name))
			writeAsset(w, r, b)
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
func (s *site) allowed(r *http.Request) (methods []string) {
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

// writeAsset writes a file that changes only with the program.
func writeAsset(w http.ResponseWriter, r *http.Request, b []byte) {
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
func (s *site) home(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if key := r.URL.Query().Get("key"); key != "" && s.guard.useKey(key) {
		http.SetCookie(w, s.guard.cookie(r))
		h.Set("Location", "/")
		w.WriteHeader(http.StatusSeeOther)
		if s.keyUsed != nil {
			s.keyUsed(s.guard.key())
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
	_, _ = w.Write(bytes.Replace(b, []byte(web.TokenMark), []byte(s.token), 1))
}

// lockedPage is shown to a browser without the cookie.
const lockedPage = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>cortext</title>
<h1>This page needs a key</h1>
<p>Open the address that <code>cortext serve</code> printed last. Each works once.</p>
</html>
`
