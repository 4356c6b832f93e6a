// Package listing lists, filters, sorts and ranks the conversations of a workspace.
package listing

import (
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/find"
	"cortext/schema"
	"cortext/store"
)

// A Row describes a conversation in a listing.
type Row struct {
	ID          string // the global id
	Path        string // of its folder, relative to the workspace, with slashes
	Title       string // never empty
	Type        string
	Status      string // a [schema.Status], or "newer" if a later cortext wrote it
	Archived    bool
	Agent       string
	Model       string
	Provider    string
	Created     time.Time
	LastActive  time.Time
	Messages    int
	Tokens      int64
	Summary     string
	Description string // the first message of the user, shortened
	Tags        []string
	Damaged     bool
	Waiting     bool     // its folder is not in the work tree: its records wait
	Twins       []string // other folders of the same conversation
}

// Folder returns the date and the name of the conversation's folder:
// 2025-11-22/1030-brainstorm-api-design-hv37.
func (r *Row) Folder() string { return strings.TrimPrefix(r.Path, "conversations/") }

// Options are what a listing takes from its environment.
type Options struct {
	Now func() time.Time
	Git func() string // a fingerprint of what git has checked out; nil: no repository

	// Progress is called now and then while many files are examined, with the number
	// of conversations examined and the number there are; nil: nobody wants to know.
	Progress func(done, of int)
}

// A Listing is the conversations of a workspace at one moment, most recently active first.
// It may be used by several goroutines.
type Listing struct {
	store *store.Store
	rows  []Row
}

// Open lists the conversations of a workspace.
func Open(st *store.Store, opts Options) (*Listing, error) {
	all, err := st.List()
	if err != nil {
		return nil, err
	}
	l := &Listing{store: st, rows: make([]Row, len(all))}
	for i, e := range all {
		l.rows[i] = rowOf(e)
	}
	return l, nil
}

// Close releases the listing. Strings of its rows must not be used afterwards.
func (l *Listing) Close() error { return nil }

// Stale reports whether the files were last examined so long ago that an edit by hand may
// have gone unnoticed. A command then starts [Refresh] in a process of its own, after it
// has answered.
func (l *Listing) Stale() bool { return false }

// Refresh examines the files of all conversations, and makes what changed known to later
// listings.
func Refresh(st *store.Store, opts Options) error { return nil }

// Len returns the number of conversations.
func (l *Listing) Len() int { return len(l.rows) }

// Row returns the conversation at a position, counted from 0. Whether it still is so is
// not examined; see [Listing.Page].
func (l *Listing) Row(i int) Row { return l.rows[i] }

// Entry reads the conversation at a position from its files. The error is
// [store.ErrNotFound] if it is gone.
func (l *Listing) Entry(i int) (store.Entry, error) {
	r := l.rows[i]
	e := store.Entry{Path: r.Path, Session: &schema.Session{ID: r.ID}, Waiting: r.Waiting, Twins: r.Twins}
	c, err := l.store.Open(e)
	if err != nil {
		return e, err
	}
	defer c.Close()
	e.Session, e.Damage, err = c.Session()
	return e, err
}

// A Selection says which conversations to show, and in which order.
type Selection struct {
	Filter  Filter
	Order   Order // "": ByLastActive
	Reverse bool
	Offset  int
	Limit   int // 0: all from Offset on
}

// A Page is a part of a list, as it is on disk now.
type Page struct {
	Rows   []Row
	Total  int // conversations selected
	Hidden int // others that the filter would select if they were not completed or archived
}

// Page returns what a selection shows. Each row is as its files are now: changed ones were
// read again, and none is gone.
func (l *Listing) Page(s Selection) (Page, error) {
	at := l.Select(s.Filter)
	if s.Order != "" {
		l.Sort(at, s.Order)
	}
	if s.Reverse {
		slices.Reverse(at)
	}
	p := Page{Total: len(at)}
	if all := s.Filter; !all.All || !all.Archived {
		all.All, all.Archived = true, true
		p.Hidden = len(l.Select(all)) - p.Total
	}
	at = at[min(s.Offset, len(at)):]
	if s.Limit > 0 {
		at = at[:min(s.Limit, len(at))]
	}
	for _, i := range at {
		p.Rows = append(p.Rows, l.rows[i])
	}
	return p, nil
}

// Match returns the positions of the conversations that a query matches, among those that
// a filter selects, and how exactly. See [find.Match] for the order.
func (l *Listing) Match(query string, f Filter) ([]int, find.Tier) {
	at := l.Select(f)
	hits, tier := find.Match(l.items(at), query)
	return pick(at, hits), tier
}

// Nearest returns the positions of up to n conversations that a query without a match may
// have meant, best first.
func (l *Listing) Nearest(query string, n int) []int {
	at := l.Select(Filter{All: true, Archived: true})
	return pick(at, find.Nearest(l.items(at), query, n))
}

func pick(from, at []int) []int {
	for k, i := range at {
		at[k] = from[i]
	}
	return at
}

func (l *Listing) items(at []int) []find.Item {
	items := make([]find.Item, len(at))
	for k, i := range at {
		r := &l.rows[i]
		items[k] = find.Item{ID: r.ID, Folder: r.Folder(), Title: r.Title, Summary: r.Summary, Prompt: r.Description, Tags: r.Tags}
	}
	return items
}

func rowOf(e store.Entry) Row {
	s := e.Session
	r := Row{
		ID: s.ID, Path: e.Path, Title: s.DisplayTitle(), Type: s.ConversationType, Status: string(s.Status), Archived: s.Archived,
		Agent: s.AgentConfig.Agent, Model: s.AgentConfig.Model, Created: s.CreatedAt.Time(), LastActive: s.LastActive.Time(),
		Messages: s.MessageCount, Tokens: s.Tokens, Summary: s.ContextSummary, Description: s.Description, Tags: s.Tags,
		Damaged: len(e.Damage) > 0, Waiting: e.Waiting, Twins: e.Twins,
	}
	if p := s.AgentConfig.Provider; p != nil {
		r.Provider = p.Type
	}
	if slices.ContainsFunc(e.Damage, func(d store.Damage) bool { return d.Kind == store.Newer }) {
		r.Status, r.Damaged = "newer", false
	}
	return r
}

// A Filter selects conversations. The zero value selects all that are active or paused and
// not archived; fields that are set narrow the selection.
type Filter struct {
	Types, Tags, Agents, Models []string // any of each; matched without regard to case
	Statuses                    []string // any of; empty: active, paused and newer
	Since, Until                time.Time
	Archived                    bool // select archived conversations, too
	All                         bool // select every status
}

// Selects reports whether the filter selects a conversation.
func (f *Filter) Selects(r *Row) bool {
	statuses := f.Statuses
	switch {
	case r.Archived && !f.Archived,
		!anyOf(f.Types, r.Type), !anyOf(f.Agents, r.Agent), !anyOf(f.Models, r.Model),
		!f.Since.IsZero() && r.LastActive.Before(f.Since),
		!f.Until.IsZero() && !r.LastActive.Before(f.Until):
		return false
	case len(statuses) > 0 && !anyOf(statuses, r.Status),
		len(statuses) == 0 && !f.All && r.Status == string(schema.Completed):
		return false
	}
	return len(f.Tags) == 0 || slices.ContainsFunc(r.Tags, func(tag string) bool { return anyOf(f.Tags, tag) })
}

func anyOf(list []string, value string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, value) })
}

// An Order is how a selection is sorted.
type Order string

// The orders. All but ByTitle put the newest or largest first.
const (
	ByLastActive Order = "last_active"
	ByCreated    Order = "created"
	ByTitle      Order = "title"
	ByMessages   Order = "messages"
	ByTokens     Order = "tokens"
)

// Orders lists the orders, for help and completion.
var Orders = []Order{ByLastActive, ByCreated, ByTitle, ByMessages, ByTokens}

// Select returns the positions of the conversations that a filter selects, most recently
// active first.
func (l *Listing) Select(f Filter) []int {
	var at []int
	for i := range l.rows {
		if f.Selects(&l.rows[i]) {
			at = append(at, i)
		}
	}
	return at
}

// Sort sorts positions; conversations that are equal stay in their order.
func (l *Listing) Sort(at []int, by Order) {
	less := map[Order]func(a, b *Row) int{
		ByLastActive: func(a, b *Row) int { return b.LastActive.Compare(a.LastActive) },
		ByCreated:    func(a, b *Row) int { return b.Created.Compare(a.Created) },
		ByTitle:      func(a, b *Row) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) },
		ByMessages:   func(a, b *Row) int { return b.Messages - a.Messages },
		ByTokens:     func(a, b *Row) int { return int(b.Tokens - a.Tokens) },
	}[by]
	slices.SortStableFunc(at, func(i, j int) int { return less(&l.rows[i], &l.rows[j]) })
}

// ByID returns the position of the conversation with an id.
func (l *Listing) ByID(id string) (int, bool) {
	i := slices.IndexFunc(l.rows, func(r Row) bool { return schema.SameConversation(r.ID, id) })
	return i, i >= 0
}

// ByFolder returns the position of the conversation whose folder, or one of whose twins,
// is at a path relative to the workspace.
func (l *Listing) ByFolder(path string) (int, bool) {
	i := slices.IndexFunc(l.rows, func(r Row) bool { return r.Path == path || slices.Contains(r.Twins, path) })
	return i, i >= 0
}
