package serve

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"

	"cortext/cmd/internal/export/portable"
	"cortext/schema"
)

// An answer is what a handler has for the client.
type answer struct {
	status   int    // 0: 200
	body     any    // nil: none
	location string // of what was created
	tag      string // a strong ETag; "": one made of the body, if the request only reads
}

// A handler answers a request. A handler that writes the response itself returns nil, nil.
type handler func(w http.ResponseWriter, r *http.Request) (*answer, error)

// handle turns a route into an HTTP handler: it bounds the body, and writes the answer or
// the problem.
func (s *Server) handle(rt route) http.HandlerFunc {
	limit := int64(maxBody)
	if rt.imports() {
		limit = maxImport
	}
	return func(w http.ResponseWriter, r *http.Request) {
		sent := &sentWriter{ResponseWriter: w}
		defer func() {
			if cause := recover(); cause != nil && cause != http.ErrAbortHandler {
				s.Log(strings.TrimSpace("a request failed: " + string(debug.Stack())))
				if !sent.began {
					(&problem{status: http.StatusInternalServerError, detail: "this request failed; cortext serve printed the details"}).write(sent)
				}
			}
		}()
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // malformed parameters would be ignored
			invalid("the query is malformed: %v", err).write(sent)
			return
		}
		a, err := rt.handle(sent, r)
		switch {
		case err != nil && !sent.began:
			problemOf(err).write(sent)
		case err == nil && a != nil:
			a.write(sent, r)
		}
	}
}

// A sentWriter knows whether a response has begun.
type sentWriter struct {
	http.ResponseWriter
	began bool
}

func (w *sentWriter) WriteHeader(status int) {
	w.began = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *sentWriter) Write(b []byte) (int, error) {
	w.began = true
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *sentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	if a.location != "" {
		h.Set("Location", a.location)
	}
	status := cmp.Or(a.status, http.StatusOK)
	if a.tag != "" {
		h.Set("ETag", a.tag)
		h.Set("Cache-Control", "private, no-cache")
	}
	if a.body == nil {
		w.WriteHeader(status)
		return
	}
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a.body); err != nil {
		problemOf(err).write(w)
		return
	}
	tag := a.tag
	if tag == "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		tag = tagOf(body.Bytes())
	}
	h.Set("Content-Type", "application/json")
	if tag != "" {
		h.Set("ETag", tag)
		h.Set("Cache-Control", "private, no-cache")
		if status == http.StatusOK && hasTag(r.Header.Get("If-None-Match"), tag) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes())
}

// tagOf returns an ETag for some content.
func tagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// hasTag reports whether a header such as If-None-Match names an ETag.
func hasTag(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}

// read reads the JSON body of a request into v. An absent body counts as {}.
func read(r *http.Request, v any) error {
	if typ := r.Header.Get("Content-Type"); typ != "" {
		if media, _, err := mime.ParseMediaType(typ); err != nil || media != "application/json" {
			return &problem{status: http.StatusUnsupportedMediaType, detail: "the body must be application/json"}
		}
	}
	switch err := decode(r.Body, v); {
	case errors.Is(err, io.EOF):
		return nil
	case errors.As(err, new(*http.MaxBytesError)):
		return err
	case err != nil:
		return invalid("the body is not what this request takes: %v", err)
	}
	return nil
}

// decode reads the only JSON value of a text. It refuses members that v lacks, so that
// nothing is dropped. The error is io.EOF if the text has no value.
func decode(text io.Reader, v any) error {
	dec := json.NewDecoder(text)
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("it has more than one JSON value")
	}
	return nil
}

// intParam returns a query parameter that must be a number from least to most. If it is
// absent, intParam returns the last argument.
func intParam(r *http.Request, name string, least, most, otherwise int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, invalid("%s=%q is not a number from %d to %d", name, text, least, most)
	}
	return n, nil
}

// millisOf returns a stored time in milliseconds of Unix time; 0 if it is unknown.
func millisOf(t schema.Time) int64 { return portable.Millis(t.Time()) }
