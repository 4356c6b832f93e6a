package serve

import (
	"net/http"

	"cortext/cmd/internal/fork"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/stop"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// A forkRequest names the point at which another conversation begins.
type forkRequest struct {
	At     string `json:"at"`     // a message, by number or id; empty: the end
	Branch int    `json:"branch"` // 0: the one that a resume continues
	Name   string `json:"name"`   // of the new conversation; empty: that of the old one
}

// fork answers POST /api/sessions/{id}/fork.
func (s sessionRoutes) fork(r *http.Request, in forkRequest, space *Space, e store.Entry) (*answer, error) {
	forked, err := fork.From(space.Workspace, space.Workspace, e, fork.Options{Choice: history.Choice{Branch: in.Branch, At: in.At}, Title: in.Name})
	if err != nil {
		return nil, err
	}
	a, err := s.created(space, forked.Entry)
	if err == nil {
		a.body = forkAnswer{a.body.(sessionAnswer), forked.Prompt}
	}
	return a, err
}

// A stopped is the answer to a stop.
type stopped struct {
	Status    string `json:"status"`
	Summary   string `json:"summary"`
	Committed bool   `json:"committed"`
	Unsaved   string `json:"unsaved,omitempty"` // why something could not be saved
}

// stop answers POST /api/sessions/{id}/stop.
func (s sessionRoutes) stop(r *http.Request, space *Space, e store.Entry) (*answer, error) {
	done, err := stop.New(space.Workspace, space.Capture, space.Compact).Stop(r.Context(), e)
	if err != nil {
		return nil, err
	}
	out := stopped{Status: workspace.ShownStatus(done.Entry), Summary: done.Summary, Committed: done.Committed}
	if done.Unsaved != nil {
		out.Unsaved = done.Unsaved.Error()
	}
	return &answer{body: out}, nil
}

// A summarized is the answer to a summarize.
type summarized struct {
	Summary     string `json:"summary"`
	TokensSaved int64  `json:"tokensSaved"` // that the new summaries save, compared with what they summarize
}

// summarize answers POST /api/sessions/{id}/summarize: it makes the missing summaries of
// old messages.
func (s sessionRoutes) summarize(r *http.Request, space *Space, e store.Entry) (*answer, error) {
	done, err := space.Compact.Compact(r.Context(), e)
	if err != nil {
		return nil, err
	}
	out := summarized{Summary: e.Session.ContextSummary}
	for _, part := range done.Ranges {
		if part.Tokens > 0 {
			out.TokensSaved += part.SourceTokens - int64(part.Tokens)
		}
	}
	if out.Summary == "" {
		out.Summary = e.Session.Description
	}
	if len(done.Failed) > 0 {
		return nil, &problem{status: http.StatusBadGateway, detail: done.Failed[0].Error(), hint: "what was summarized before is kept: try again"}
	}
	return &answer{body: out}, nil
}
