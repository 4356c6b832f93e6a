package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/export"
	"cortext/cmd/internal/export/bundle"
	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/search"
	"cortext/cmd/internal/serve/live"
	"cortext/cmd/internal/workspace"
	"cortext/inject"
	"cortext/resume"
	"cortext/schema"
	"cortext/store"
)

// A problem is an error as a client gets it (RFC 9457).
type problem struct {
	status int
	detail string
	hint   string
}

func (p *problem) Error() string { return p.detail }

// invalid is the problem of a request that cannot be understood.
func invalid(format string, args ...any) *problem {
	return &problem{status: http.StatusBadRequest, detail: fmt.Sprintf(format, args...)}
}

func (p *problem) write(w http.ResponseWriter) {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail"`
		Hint   string `json:"hint,omitempty"`
	}{"about:blank", http.StatusText(p.status), p.status, p.detail, p.hint})
	if err != nil {
		body = []byte(`{"type":"about:blank"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Del("ETag")
	if p.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(append(body, '\n'))
}

// problemOf describes an error to a client.
func problemOf(err error) *problem {
	var p *problem
	var broken *http.MaxBytesError
	var stopped *inject.PreflightError
	var version *schema.VersionError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &broken):
		return &problem{status: http.StatusRequestEntityTooLarge, detail: fmt.Sprintf("the request has more than %d bytes", broken.Limit)}
	case errors.As(err, new(*workspace.TypeError)), errors.As(err, new(*workspace.TitleError)), errors.As(err, new(*organise.InputError)),
		errors.As(err, new(*capture.AgentError)), errors.As(err, new(*search.QueryError)), errors.As(err, new(*fork.EmptyError)), errors.Is(err, resume.ErrBudget):
		return &problem{status: http.StatusUnprocessableEntity, detail: err.Error()}
	case errors.As(err, new(*export.RangeError)):
		return invalid("%v", err)
	case errors.As(err, new(*bundle.Error)):
		return &problem{status: http.StatusUnprocessableEntity, detail: "the bundle is refused: " + err.Error()}
	case errors.As(err, new(*git.NotFetchedError)):
		return &problem{status: http.StatusConflict, detail: err.Error(), hint: "git has the conversation elsewhere: cortext show fetches it"}
	case errors.As(err, new(*store.LockedError)), errors.Is(err, store.ErrCheckpoint):
		return &problem{status: http.StatusServiceUnavailable, detail: err.Error(), hint: "try again"}
	case errors.Is(err, live.ErrClosed), errors.Is(err, live.ErrFull):
		return &problem{status: http.StatusServiceUnavailable, detail: err.Error()}
	case errors.As(err, new(*workspace.NotFoundError)), errors.As(err, new(*history.NumberError)), errors.As(err, new(*history.AtError)),
		errors.As(err, new(*history.BranchError)), errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrNoWorkspace):
		return &problem{status: http.StatusNotFound, detail: err.Error()}
	case errors.As(err, &stopped):
		return &problem{status: http.StatusConflict, detail: err.Error(), hint: stopped.Fix}
	case errors.As(err, &version):
		return &problem{status: http.StatusConflict, detail: err.Error(), hint: "install a later cortext"}
	case errors.Is(err, fs.ErrPermission):
		return &problem{status: http.StatusForbidden, detail: err.Error(), hint: "the folder and its files must be writable by the user that runs cortext serve"}
	case errors.Is(err, context.Canceled):
		return &problem{status: http.StatusServiceUnavailable, detail: "the request was cancelled"}
	}
	return &problem{status: http.StatusInternalServerError, detail: strings.TrimSpace(err.Error())}
}
