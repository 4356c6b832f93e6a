package serve

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/export/portable"
	"cortext/cmd/internal/listing"
	"cortext/schema"
	"cortext/schema/clip"
)

// A sessionMetadata is a conversation in a list. The members down to summary are those that
// other programs know.
type sessionMetadata struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	CreatedAt     int64  `json:"createdAt"` // milliseconds of Unix time, like all times
	UpdatedAt     int64  `json:"updatedAt"`
	MessageCount  int    `json:"messageCount"`
	TokenEstimate int64  `json:"tokenEstimate"`
	Summary       string `json:"summary"` // its first 100 characters

	Type        string   `json:"type"`
	Status      string   `json:"status"`
	Archived    bool     `json:"archived"`
	Agent       string   `json:"agent"`
	Model       string   `json:"model"`
	Provider    string   `json:"provider"`
	Tags        []string `json:"tags"`
	Path        string   `json:"path"`
	Description string   `json:"description"` // the beginning of the first message
	Waiting     bool     `json:"waiting"`     // its folder is not in the work tree
	Damaged     bool     `json:"damaged"`
}

// summaryLen is how many characters of a summary a list shows.
const summaryLen = 100

func describe(r *listing.Row) sessionMetadata {
	d := sessionMetadata{
		ID: strings.Clone(r.ID), Name: strings.Clone(r.Title), CreatedAt: portable.Millis(r.Created), UpdatedAt: portable.Millis(r.LastActive),
		MessageCount: r.Messages, TokenEstimate: r.Tokens, Summary: clip.Characters(r.Summary, summaryLen),
		Type: r.Type, Status: r.Status, Archived: r.Archived, Agent: r.Agent, Model: r.Model, Provider: r.Provider,
		Tags: r.Tags, Path: r.Path, Description: r.Description, Waiting: r.Waiting, Damaged: r.Damaged,
	}
	if d.Tags == nil {
		d.Tags = []string{}
	}
	return d
}

const (
	pageLen  = 50   // conversations on a page, unless the client asks for another number
	pageMost = 1000 // conversations on a page
)

// A listPage is the answer to GET /api/sessions.
type listPage struct {
	Sessions []sessionMetadata `json:"sessions"`
	Total    int               `json:"total"`  // conversations that the filters select
	Offset   int               `json:"offset"` // of the first of sessions
}

// list answers GET /api/sessions.
func (s sessionRoutes) list(w http.ResponseWriter, r *http.Request) (*answer, error) {
	l, err := s.openList(r, r.URL.Query().Get("workspace"))
	if err != nil {
		return nil, err
	}
	defer l.close()
	p, err := rowsOf(l.Listing, l.Selection, strings.TrimSpace(r.URL.Query().Get("q")))
	if err != nil {
		return nil, err
	}
	out := listPage{Sessions: []sessionMetadata{}, Total: p.total, Offset: l.Offset}
	for i := range p.rows {
		out.Sessions = append(out.Sessions, describe(&p.rows[i]))
	}
	linkPages(w, r, l.Selection, p.total)
	if l.Stale() {
		s.lists.refresh(l.space)
	}
	return &answer{body: out}, nil
}

// rows are a page of a list.
type rows struct {
	rows  []listing.Row
	total int // conversations that were selected
}

// rowsOf returns a page of the conversations that a selection and words select.
func rowsOf(l *listing.Listing, sel listing.Selection, words string) (out rows, err error) {
	if words == "" {
		p, err := l.Page(sel)
		if err != nil {
			return rows{}, err
		}
		out.total = p.Total
		all, err := p.Rows()
		if err != nil {
			return rows{}, err
		}
		for r := range all {
			out.rows = append(out.rows, r)
		}
		return out, nil
	}
	at, _ := l.Match(words, sel.Filter)
	if sel.Order != "" {
		l.Sort(at, sel.Order)
	}
	if sel.Reverse {
		slices.Reverse(at)
	}
	out.total = len(at)
	at = at[min(sel.Offset, len(at)):]
	for _, i := range at[:min(sel.Limit, len(at))] {
		out.rows = append(out.rows, l.Row(i))
	}
	return out, nil
}

// allStatuses stands for all statuses.
const allStatuses = "all"

// A selected is the list of a workspace, with what a request selects of it.
type selected struct {
	*listing.Listing
	listing.Selection
	space *Space
}

func (l *selected) close() {
	l.Close()
	l.space.End()
}

// openList opens the list of a workspace, and reads the query. A filter with an unknown agent is
// an error: a misspelled name would match no conversation.
func (s *Server) openList(r *http.Request, root string) (*selected, error) {
	sel, err := selectionOf(r)
	if err != nil {
		return nil, err
	}
	space, err := s.openNamed(root)
	if err != nil {
		return nil, err
	}
	for _, name := range sel.Filter.Agents {
		if !containsFold(space.Env.AgentNames(), name) {
			space.End()
			return nil, invalid("agent=%q is not one of %v", name, space.Env.AgentNames())
		}
	}
	l, err := space.Listing(nil)
	if err != nil {
		space.End()
		return nil, err
	}
	return &selected{l, sel, space}, nil
}

// selectionOf reads the filters, the order and the page from the query.
func selectionOf(r *http.Request) (sel listing.Selection, err error) {
	q := r.URL.Query()
	f := &sel.Filter
	f.Types, f.Tags, f.Agents, f.Models = listOf(q["type"]), listOf(q["tag"]), listOf(q["agent"]), listOf(q["model"])
	f.Statuses = listOf(q["status"])
	for _, name := range f.Statuses {
		switch {
		case strings.EqualFold(name, allStatuses):
			f.All = true
		case !slices.ContainsFunc(schema.Statuses(), func(known schema.Status) bool { return strings.EqualFold(string(known), name) }):
			return sel, invalid("status=%q is not one of %v", name, append(schema.Statuses(), allStatuses))
		}
	}
	if f.All {
		f.Statuses = nil
	}
	if f.Archived, err = boolParam(r, "archived"); err != nil {
		return sel, err
	}
	if f.Since, err = timeParam(r, "since"); err != nil {
		return sel, err
	}
	if f.Until, err = timeParam(r, "until"); err != nil {
		return sel, err
	}
	sel.Order = listing.Order(q.Get("sort"))
	if sel.Order != "" && !slices.Contains(listing.Orders, sel.Order) {
		return sel, invalid("sort=%q is not one of %v", sel.Order, listing.Orders)
	}
	if sel.Reverse, err = boolParam(r, "reverse"); err != nil {
		return sel, err
	}
	if sel.Offset, err = intParam(r, "offset", 0, 1<<30, 0); err != nil {
		return sel, err
	}
	sel.Limit, err = intParam(r, "limit", 1, pageMost, pageLen)
	return sel, err
}

// listOf splits comma-separated values.
func listOf(values []string) (list []string) {
	for _, v := range values {
		for part := range strings.SplitSeq(v, ",") {
			if part = strings.TrimSpace(part); part != "" {
				list = append(list, part)
			}
		}
	}
	return list
}

// boolParam parses a boolean query parameter; a missing one is false.
func boolParam(r *http.Request, name string) (bool, error) {
	switch v := r.URL.Query().Get(name); v {
	case "true", "1":
		return true, nil
	case "", "false", "0":
		return false, nil
	default:
		return false, invalid("%s=%q is neither true nor false", name, v)
	}
}

// timeParam returns a query parameter that is a time: RFC 3339, a date (UTC), or milliseconds.
func timeParam(r *http.Request, name string) (time.Time, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ms < 0 || ms > 1<<52 {
		return time.Time{}, invalid("%s=%q is not a time such as 2025-11-22 or 2025-11-22T10:00:00Z", name, text)
	}
	return time.UnixMilli(ms), nil
}

// linkPages names the next and the previous page in the header Link (RFC 8288).
func linkPages(w http.ResponseWriter, r *http.Request, sel listing.Selection, total int) {
	at := func(offset int, rel string) string {
		q := r.URL.Query()
		q.Set("offset", fmt.Sprint(offset))
		q.Set("limit", fmt.Sprint(sel.Limit))
		return fmt.Sprintf("<%s?%s>; rel=%q", r.URL.EscapedPath(), q.Encode(), rel)
	}
	var links []string
	if next := sel.Offset + sel.Limit; next < total {
		links = append(links, at(next, "next"))
	}
	if sel.Offset > 0 {
		links = append(links, at(max(sel.Offset-sel.Limit, 0), "prev"))
	}
	if len(links) > 0 {
		w.Header().Set("Link", strings.Join(links, ", "))
	}
}
