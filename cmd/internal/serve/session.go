package serve

import (
	"errors"
	"net/http"

	"cortext/cmd/internal/caller"
	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/stop"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/schema/clip"
	"cortext/store"
)

// A session is a whole conversation. The members down to activeFiles are those that other
// programs know.
type session struct {
	ID               string           `json:"id"`
	Name             string           `json:"name"`
	CreatedAt        int64            `json:"createdAt"`
	UpdatedAt        int64            `json:"updatedAt"`
	ShortTermMemory  []message        `json:"shortTermMemory"` // the last messages
	LongTermSummary  string           `json:"longTermSummary"`
	Provider         string           `json:"provider"`
	Modes            portable.Modes   `json:"modes"`
	Metrics          portable.Metrics `json:"metrics"`
	WorkingDirectory string           `json:"workingDirectory"` // relative to the workspace
	ActiveFiles      []string         `json:"activeFiles"`      // that the agent changed, the most recently changed last

	Type        string            `json:"type"`
	Status      string            `json:"status"`
	Archived    bool              `json:"archived"`
	Agent       string            `json:"agent"`
	Model       string            `json:"model"`
	Tags        []string          `json:"tags"`
	Notes       string            `json:"notes"`
	Values      map[string]string `json:"values"`
	Plan        []step            `json:"plan"`
	Branches    []branch          `json:"branches"`
	Related     []string          `json:"related"` // ids of conversations that it is linked with
	Path        string            `json:"path"`
	Workspace   string            `json:"workspace"`
	Description string            `json:"description"`
	Running     bool              `json:"running"` // an agent runs a turn that this server started
}

// A sessionAnswer is the answer with a conversation.
type sessionAnswer struct {
	Session *session `json:"session"`
}

// A forkAnswer is the answer to a fork.
type forkAnswer struct {
	sessionAnswer
	Prompt string `json:"prompt"` // the user's message before which the fork ends; empty: another was named
}

// A branch is one of several branches of a conversation, which rewinds and clones make.
type branch struct {
	Number     int    `json:"number"`     // from 1, in the order in which the branches began
	After      int    `json:"after"`      // number of the message where it leaves an earlier branch; 0: none
	Messages   int    `json:"messages"`   // that no earlier branch has
	LastActive int64  `json:"lastActive"` // time of its last message
	End        string `json:"end"`        // id of its last message
	Words      string `json:"words"`      // beginning of the first user message that no earlier branch has, else of its last message
	Newest     bool   `json:"newest"`     // a resume continues it
}

// A step is a step of the plan.
type step struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// entry returns the conversation that a request names by its id.
func (space *Space) entry(id string) (store.Entry, error) {
	e, err := space.find(id)
	if errors.Is(err, store.ErrNotFound) {
		err = &problem{status: http.StatusNotFound, detail: "there is no conversation " + clip.Characters(id, 100) + " in this workspace"}
	}
	return e, err
}

// find returns the conversation with the given id. The error is store.ErrNotFound if there
// is none.
func (space *Space) find(id string) (store.Entry, error) {
	l, err := space.Listing(nil)
	if err != nil {
		return store.Entry{}, err
	}
	defer l.Close()
	if at, ok := l.ByID(id); ok {
		if e, err := l.Entry(at); !errors.Is(err, store.ErrNotFound) {
			return e, err
		}
	}
	e, ok, err := space.ByConversation(id) // it may have come by hand
	if err == nil && !ok {
		err = store.ErrNotFound
	}
	return e, err
}

// on opens the workspace of a request about one conversation, and finds the conversation.
func (s *Server) on(r *http.Request) (*Space, store.Entry, error) {
	space, err := s.open(r)
	if err != nil {
		return nil, store.Entry{}, err
	}
	e, err := space.entry(r.PathValue("id"))
	if err != nil {
		space.End()
		return nil, store.Entry{}, err
	}
	return space, e, nil
}

// about makes a handler of requests about one conversation.
func (s *Server) about(handle func(r *http.Request, space *Space, e store.Entry) (*answer, error)) handler {
	return func(_ http.ResponseWriter, r *http.Request) (*answer, error) {
		space, e, err := s.on(r)
		if err != nil {
			return nil, err
		}
		defer space.End()
		return handle(r, space, e)
	}
}

// withBody is [Server.about] for requests with a body, which is read first.
func withBody[T any](s *Server, handle func(r *http.Request, in T, space *Space, e store.Entry) (*answer, error)) handler {
	return func(w http.ResponseWriter, r *http.Request) (*answer, error) {
		var in T
		if err := read(r, &in); err != nil {
			return nil, err
		}
		return s.about(func(r *http.Request, space *Space, e store.Entry) (*answer, error) { return handle(r, in, space, e) })(w, r)
	}
}

// sessionTag returns the ETag of a conversation. It covers what people and agents can change
// about the conversation, and its logs.
func (c *content) sessionTag(e store.Entry) string {
	return tagOf(append(e.Session.AppendLine(nil), c.tag...))
}

// expected returns an error if a request demands another state of the conversation than it
// has (If-Match).
func (s *Server) expected(r *http.Request, space *Space, e store.Entry) error {
	want := r.Header.Get("If-Match")
	if want == "" {
		return nil
	}
	c, err := s.content(space, e, 0)
	if err == nil && !hasTag(want, c.sessionTag(e)) {
		err = &problem{status: http.StatusPreconditionFailed, detail: "the conversation has changed since: read it again"}
	}
	return err
}

// get answers GET /api/sessions/{id}.
func (s sessionRoutes) get(r *http.Request, space *Space, e store.Entry) (*answer, error) {
	last, err := intParam(r, "messages", 0, messagesMost, space.Config.KeepMessages)
	if err != nil {
		return nil, err
	}
	c, err := s.content(space, e, 0)
	if err != nil {
		return nil, err
	}
	tag := c.sessionTag(e)
	if hasTag(r.Header.Get("If-None-Match"), tag) {
		return &answer{status: http.StatusNotModified, tag: tag}, nil
	}
	return &answer{body: sessionAnswer{s.full(space, e, c, last)}, tag: tag}, nil
}

// whole answers with a conversation, without its messages.
func (s *Server) whole(space *Space, e store.Entry) (*answer, error) {
	c, err := s.content(space, e, 0)
	if err != nil {
		return nil, err
	}
	return &answer{body: sessionAnswer{s.full(space, e, c, 0)}, tag: c.sessionTag(e)}, nil
}

// created is whole for a new conversation.
func (s *Server) created(space *Space, e store.Entry) (*answer, error) {
	a, err := s.whole(space, e)
	if err == nil {
		a.status, a.location = http.StatusCreated, "/api/sessions/"+e.Session.ID
	}
	return a, err
}

// full describes a conversation with its last messages.
func (s *Server) full(space *Space, e store.Entry, c *content, last int) *session {
	x := e.Session
	out := &session{
		ID: x.ID, Name: x.DisplayTitle(), CreatedAt: millisOf(x.CreatedAt), UpdatedAt: millisOf(x.LastActive),
		ShortTermMemory: c.messages(max(0, len(c.Messages)-last), last), LongTermSummary: x.ContextSummary,
		Provider: portable.ProviderOf(x), Modes: portable.ModesOf(x),
		Metrics:          portable.MetricsOf(x, x.MessageCount, c.about.Calls),
		WorkingDirectory: x.WorkingDir, ActiveFiles: []string{},
		Type: x.ConversationType, Status: workspace.ShownStatus(e), Archived: x.Archived, Agent: x.AgentConfig.Agent, Model: x.AgentConfig.Model,
		Tags: append([]string{}, x.Tags...), Notes: x.Notes, Values: map[string]string{}, Plan: []step{}, Branches: []branch{},
		Related: []string{}, Path: e.Path, Workspace: space.Store.Root(), Description: x.Description, Running: s.turns.runs(x.ID),
	}
	for _, b := range c.Branches {
		out.Branches = append(out.Branches, branch{b.Number, b.After, b.Messages, millisOf(b.Last), b.End, b.Words, b.Newest})
	}
	for _, f := range c.about.Files {
		out.ActiveFiles = append(out.ActiveFiles, f.Path)
	}
	for _, v := range organise.Values(x) {
		out.Values[v.Key] = v.Text
	}
	if x.Plan != nil {
		for _, st := range x.Plan.Steps {
			out.Plan = append(out.Plan, step{st.Content, st.Status})
		}
	}
	if x.Links != nil {
		if x.Links.Parent != "" {
			out.Related = append(out.Related, x.Links.Parent)
		}
		out.Related = append(out.Related, x.Links.Related...)
	}
	return out
}

// A createRequest describes a new conversation.
type createRequest struct {
	Name     string `json:"name"`     // its title; empty: its first words give it one
	Provider string `json:"provider"` // of the model: claude, openai, xai, or another word
	Type     string `json:"type"`     // empty: chat
}

// create answers POST /api/sessions.
func (s sessionRoutes) create(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	var in createRequest
	if err := read(r, &in); err != nil {
		return nil, err
	}
	space, err := s.open(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	e, err := space.begin(in.Type, in.Name)
	if err == nil && in.Provider != "" {
		e, _, err = organise.Apply(space.Workspace, e, func(x *schema.Session) error { portable.SetProvider(x, in.Provider); return nil })
	}
	if err != nil {
		return nil, err
	}
	return s.created(space, e)
}

// chatType is the type of a conversation that the client gives none.
const chatType = "chat"

// begin starts a conversation.
func (space *Space) begin(typ, name string) (store.Entry, error) {
	if typ == "" {
		typ = chatType
	}
	e, _, err := caller.New(space.Workspace, space.Capture).Start(typ, workspace.Plain(name))
	return e, err
}

// remove answers DELETE /api/sessions/{id}: it removes the conversation.
func (s sessionRoutes) remove(r *http.Request, space *Space, e store.Entry) (*answer, error) {
	if err := s.expected(r, space, e); err != nil {
		return nil, err
	}
	if err := stop.Remove(r.Context(), space.Workspace, space.Capture, e); err != nil {
		return nil, err
	}
	return &answer{status: http.StatusNoContent}, nil
}
