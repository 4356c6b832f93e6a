package serve

import (
	"net/http"
	"slices"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/payload"
	"cortext/cmd/internal/search"
	"cortext/resume"
)

// A found is a conversation that a search found.
type found struct {
	Session sessionMetadata `json:"session"`
	Count   int             `json:"count"` // texts that match
	Hits    []hit           `json:"hits"`  // some of them
}

// A searchAnswer is the answer to a search.
type searchAnswer struct {
	Results []found  `json:"results"`
	Total   int      `json:"total"`            // conversations that match
	Unread  []string `json:"unread,omitempty"` // why some conversations were not searched
}

// A hit is a text that matches.
type hit struct {
	Place     string   `json:"place"`
	Number    int      `json:"number"` // of the message; 0: none, or on a branch that was left
	MessageID string   `json:"messageId"`
	Parts     []string `json:"parts"` // the sentence: text and matches in turn, text first
}

const (
	foundLen  = 50  // conversations in the answer to a search, unless the client asks for another number
	foundMost = 500 // conversations in it
	hitsLen   = 3   // hits of each
)

// search answers GET /api/search.
func (s findRoutes) search(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	q, err := queryOf(r)
	if err != nil {
		return nil, err
	}
	limit, err := intParam(r, "limit", 1, foundMost, foundLen)
	if err != nil {
		return nil, err
	}
	l, err := s.openList(r, r.URL.Query().Get("workspace"))
	if err != nil {
		return nil, err
	}
	defer l.close()
	l.Filter.All = l.Filter.All || len(l.Filter.Statuses) == 0
	from := search.Source{Store: l.space.Store, Open: l.space.Open, Index: search.OpenIndex(l.space.Store.Cache)}
	defer from.Index.Close()
	for _, i := range l.Select(l.Filter) {
		from.Rows = append(from.Rows, l.Row(i))
	}
	var results []*search.Result
	err = q.Run(r.Context(), []search.Source{from}, hitsLen, func(one *search.Result) { results = append(results, one) })
	missing, unread := git.WithoutNotFetched(err)
	if len(missing) > 0 {
		return nil, missing[0] // one error for all that a partial clone lacks
	} else if err := r.Context().Err(); err != nil {
		return nil, err
	}
	slices.SortFunc(results, (*search.Result).Compare)
	total := len(results)
	out := []found{}
	for _, one := range results[:min(limit, total)] {
		f := found{Session: describe(&one.Row), Count: one.Count, Hits: []hit{}}
		for _, h := range one.Hits {
			f.Hits = append(f.Hits, hit{string(h.Place), h.Message, h.MessageID, h.Parts()})
		}
		out = append(out, f)
	}
	body := searchAnswer{Results: out, Total: total}
	if unread != nil {
		body.Unread = strings.Split(unread.Error(), "\n")
	}
	return &answer{body: body}, nil
}

func queryOf(r *http.Request) (*search.Query, error) {
	text := strings.TrimSpace(r.URL.Query().Get("q"))
	if text == "" {
		return nil, invalid("q is missing: what to search for")
	}
	regexp, err := boolParam(r, "regexp")
	if err != nil {
		return nil, err
	}
	var q *search.Query
	if regexp {
		q, err = search.ParseRegexps([]string{text})
	} else {
		q, err = search.Parse(text)
	}
	if err != nil {
		return nil, invalid("q: %v", err)
	}
	in := search.Field(r.URL.Query().Get("in"))
	if in != "" && !slices.Contains(search.Fields, in) {
		return nil, invalid("in=%q is not one of %v", in, search.Fields)
	}
	q.In = in
	return q, nil
}

// A preview is what an agent would get.
type preview struct {
	Agent      string           `json:"agent"`
	Strategy   string           `json:"strategy"`
	Tokens     int              `json:"tokens"`
	Budget     int              `json:"budget"`
	Room       int              `json:"room"`     // tokens that the model has room for; 0: unknown
	Original   int              `json:"original"` // messages
	Included   int              `json:"included"`
	Summarized int              `json:"summarized"`
	Parts      []resume.Part    `json:"parts"`
	LeftOut    []resume.LeftOut `json:"leftOut"`
	Text       string           `json:"text,omitempty"` // the payload, if the request asks for it
}

// context answers GET /api/sessions/{id}/context: the payload of a resume.
func (s findRoutes) context(_ http.ResponseWriter, r *http.Request) (*answer, error) {
	o := payload.Options{Strategy: r.URL.Query().Get("strategy")}
	var err error
	if o.Budget, err = intParam(r, "budget", 1, 1<<30, 0); err != nil {
		return nil, err
	}
	if o.Last, err = intParam(r, "last", 1, 1<<30, 0); err != nil {
		return nil, err
	}
	if o.Branch, err = intParam(r, "branch", 1, 1<<20, 0); err != nil {
		return nil, err
	}
	text, err := boolParam(r, "text")
	if err != nil {
		return nil, err
	}
	if o.Strategy != "" && !slices.Contains(resume.Strategies(), o.Strategy) {
		return nil, invalid("strategy=%q is not one of %v", o.Strategy, resume.Strategies())
	}
	space, e, err := s.on(r)
	if err != nil {
		return nil, err
	}
	defer space.End()
	to, err := space.Payloads.Target(e, payload.Recipient{Agent: r.URL.Query().Get("agent")}, o)
	if err != nil {
		return nil, err
	}
	built, err := space.Payloads.Build(r.Context(), e, to)
	if err != nil {
		return nil, err
	}
	p := built.Payload
	out := preview{Agent: to.For, Strategy: p.Strategy, Tokens: p.Tokens, Budget: p.Budget, Room: built.Room, Original: p.Original, Included: p.Included, Summarized: p.Summarized, Parts: append([]resume.Part{}, p.Parts...), LeftOut: append([]resume.LeftOut{}, p.LeftOut...)}
	if text {
		out.Text = p.Text
	}
	return &answer{body: out}, nil
}

// A place is a workspace.
type place struct {
	Path    string   `json:"path"` // its folder
	Current bool     `json:"current"`
	Types   []string `json:"types,omitempty"` // of conversations that can begin there
	Agents  []string `json:"agents,omitempty"`
	Total   int      `json:"total"` // conversations; 0 if they were not counted
}

// A workspacesAnswer lists workspaces.
type workspacesAnswer struct {
	Workspaces []place `json:"workspaces"`
}

// workspaces answers GET /api/workspaces.
func (s findRoutes) workspaces(http.ResponseWriter, *http.Request) (*answer, error) {
	list := []place{{Path: s.Root, Current: true}}
	for _, root := range s.Workspaces() {
		if root != s.Root {
			list = append(list, place{Path: root})
		}
	}
	return &answer{body: workspacesAnswer{list}}, nil
}

// placeOf describes an open workspace.
func (s daemonRoutes) placeOf(space *Space) (place, error) {
	l, err := space.Listing(nil)
	if err != nil {
		return place{}, err
	}
	defer l.Close()
	root := space.Store.Root()
	return place{Path: root, Current: root == s.Root, Types: space.Prompts.Types(), Agents: space.Env.AgentNames(), Total: l.Len()}, nil
}

// encodedRow is an entry of GET /workspaces/{encodedPath}/sessions.
type encodedRow struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Model     string `json:"model"`
	Status    string `json:"status"`
	UpdatedAt int64  `json:"updatedAt"`
}

// workspaceSessions answers GET /workspaces/{encodedPath}/sessions.
func (s daemonRoutes) workspaceSessions(w http.ResponseWriter, r *http.Request) (*answer, error) {
	l, err := s.openList(r, r.PathValue("encodedPath"))
	if err != nil {
		return nil, err
	}
	defer l.close()
	if r.URL.Query().Get("limit") == "" {
		l.Limit = pageMost
	}
	if len(l.Filter.Statuses) == 0 {
		l.Filter.All = true
	}
	p, err := rowsOf(l.Listing, l.Selection, "")
	if err != nil {
		return nil, err
	}
	list := []encodedRow{}
	for i := range p.rows {
		d := describe(&p.rows[i])
		list = append(list, encodedRow{d.ID, d.Name, d.Model, d.Status, d.UpdatedAt})
	}
	linkPages(w, r, l.Selection, p.total)
	return &answer{body: list}, nil
}
