// Package listing lists, filters, sorts and ranks the conversations of a workspace.
package listing

import (
	"slices"
	"strings"
	"time"

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

// A Listing is the conversations of a workspace at one moment, most recently active first.
// It may be used by several goroutines.
type Listing struct {
	store *store.Store
	rows  []Row
}

// Open lists the conversations of a workspace.
func Open(st *store.Store) (*Listing, error) {
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

// Len returns the number of conversations.
func (l *Listing) Len() int { return len(l.rows) }

// Row returns the conversation at a position, counted from 0.
func (l *Listing) Row(i int) Row { return l.rows[i] }

// Entry reads the conversation at a position from its files. The error is
// [store.ErrNotFound] if it is gone.
func (l *Listing) Entry(i int) (store.Entry, error) {
	r := l.rows[i]
	e := store.Entry{Path: r.Path, Waiting: r.Waiting, Twins: r.Twins}
	c, err := l.store.Open(e)
	if err != nil {
		return e, err
	}
	defer c.Close()
	e.Session, e.Damage, err = c.Session()
	return e, err
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
