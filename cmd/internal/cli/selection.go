package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"cortext/cmd/internal/listing"
	"cortext/store"
)

// A selection is the conversations that a list shows.
type selection struct {
	workspaces []*opened // the first is that of the current folder, if here is set
	here       bool
	listings   []*listing.Listing // of each workspace
	waiting    []map[string]int   // of each workspace: how many messages wait, by path
	at         []place
	page       []listing.Row // instead of at: of the only workspace, as it is on disk now

	matching int  // conversations that the filters select, shown or not
	hidden   int  // conversations that the filters would select, but for their status or because they are archived
	archived int  // the archived ones of those
	named    bool // rows name their workspace
}

// A place is the position of a conversation in one of several listings.
type place struct{ workspace, row int32 }

// close releases the listings and workspaces. Rows must not be used afterwards.
func (s *selection) close(ctx context.Context, a *app) {
	for _, l := range s.listings {
		_ = l.Close()
	}
	for i, w := range s.workspaces {
		if i == 0 && s.here {
			a.close(ctx, w)
		} else {
			_ = w.Close()
		}
	}
}

// choose lists the workspaces and selects a page of their conversations.
func (s *selection) choose(f listing.Filter, o *listOptions) error {
	s.named = o.all
	if len(s.workspaces) == 1 && o.search == "" && len(f.Models) == 0 {
		return s.choosePage(f, o)
	}
	for i, w := range s.workspaces {
		l, err := w.Listing(nil)
		if err != nil {
			return err
		}
		s.listings = append(s.listings, l)
		for _, row := range s.selectIn(l, f, o) {
			s.at = append(s.at, place{int32(i), int32(row)})
		}
	}
	if len(s.listings) > 1 {
		order := orders[listing.Order(o.sort)]
		slices.SortStableFunc(s.at, func(a, b place) int {
			x, y := s.listings[a.workspace].Row(int(a.row)), s.listings[b.workspace].Row(int(b.row))
			return order(&x, &y)
		})
	}
	if o.reverse {
		slices.Reverse(s.at)
	}
	s.matching = len(s.at)
	s.at = s.at[min(o.offset, len(s.at)):]
	if o.limit > 0 {
		s.at = s.at[:min(o.limit, len(s.at))]
	}
	return nil
}

// exactly is how many conversations a workspace has at most for its hidden ones to be told
// apart.
const exactly = 5000

// choosePage is choose for one workspace. It costs as much as it shows.
func (s *selection) choosePage(f listing.Filter, o *listOptions) error {
	l, err := s.workspaces[0].Listing(nil)
	if err != nil {
		return err
	}
	s.listings = []*listing.Listing{l}
	p, err := l.Page(listing.Selection{Filter: f, Order: listing.Order(o.sort), Reverse: o.reverse, Offset: o.offset, Limit: o.limit})
	if err != nil {
		return err
	}
	s.page, s.matching, s.hidden = p.Rows, p.Total, p.Hidden
	switch {
	case s.hidden == 0:
	case l.Len() > exactly:
		s.archived = 1 // some may be
	case !f.Archived:
		wide := f
		wide.All, wide.Archived = len(f.Statuses) == 0, true
		at := l.Select(wide)
		s.hidden = len(at) - s.matching
		for _, i := range at {
			if r := l.Row(i); r.Archived {
				s.archived++
			}
		}
	}
	return nil
}

// selectIn selects conversations of one workspace, sorted, and counts what stays hidden.
func (s *selection) selectIn(l *listing.Listing, f listing.Filter, o *listOptions) []int {
	f.Models = modelsIn(l, f.Models)
	wide := f
	wide.Archived, wide.All = true, len(f.Statuses) == 0
	at := l.Select(f)
	others := l.Select(wide)
	if o.search != "" {
		at, others = withWords(l, at, o.search), withWords(l, others, o.search)
	}
	s.hidden += len(others) - len(at)
	if !f.Archived && len(others) > len(at) {
		for _, i := range others {
			if r := l.Row(i); r.Archived {
				s.archived++
			}
		}
	}
	if o.sort != string(listing.ByLastActive) {
		l.Sort(at, listing.Order(o.sort))
	}
	return at
}

// orders compare rows of different workspaces as [listing.Listing.Sort] does.
var orders = map[listing.Order]func(a, b *listing.Row) int{
	listing.ByLastActive: func(a, b *listing.Row) int { return b.LastActive.Compare(a.LastActive) },
	listing.ByCreated:    func(a, b *listing.Row) int { return b.Created.Compare(a.Created) },
	listing.ByTitle:      func(a, b *listing.Row) int { return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) },
	listing.ByMessages:   func(a, b *listing.Row) int { return cmp.Compare(b.Messages, a.Messages) },
	listing.ByTokens:     func(a, b *listing.Row) int { return cmp.Compare(b.Tokens, a.Tokens) },
}

// modelsIn returns the names of models that contain one of the given parts: opus stands for
// each version of it. Parts that no model has stay, so that they select nothing.
func modelsIn(l *listing.Listing, parts []string) []string {
	if len(parts) == 0 {
		return nil
	}
	seen := map[string]bool{}
	models := slices.Clone(parts)
	for i := range l.Len() {
		model := l.Row(i).Model
		if model == "" || seen[model] {
			continue
		}
		seen[model] = true
		if slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(strings.ToLower(model), strings.ToLower(part)) }) {
			models = append(models, model)
		}
	}
	return models
}

// withWords keeps the positions of conversations that have every word in their title,
// folder, tags, first message or summary.
func withWords(l *listing.Listing, at []int, query string) []int {
	words := strings.Fields(strings.ToLower(query))
	var kept []int
	for _, i := range at {
		r := l.Row(i)
		text := strings.ToLower(strings.Join(append([]string{r.Title, r.Path, r.Summary, r.Description}, r.Tags...), "\n"))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			kept = append(kept, i)
		}
	}
	return kept
}

// rows describes the selected conversations. The rows share strings with the listings.
func (s *selection) rows() iter.Seq[row] {
	return func(yield func(row) bool) {
		for workspace, l := range s.listed() {
			r := listedRow(l)
			if len(s.waiting) > workspace {
				r.Waiting = s.waiting[workspace][r.Path]
			}
			if s.named {
				r.Workspace = s.workspaces[workspace].Here.Workspace()
			}
			if !yield(r) {
				return
			}
		}
	}
}

// listed yields the selected conversations, each with the index of its workspace.
func (s *selection) listed() iter.Seq2[int, *listing.Row] {
	return func(yield func(int, *listing.Row) bool) {
		for i := range s.page {
			if !yield(0, &s.page[i]) {
				return
			}
		}
		for _, p := range s.at {
			r := s.listings[p.workspace].Row(int(p.row))
			if !yield(int(p.workspace), &r) {
				return
			}
		}
	}
}

// len returns how many conversations are shown.
func (s *selection) len() int { return len(s.page) + len(s.at) }

// mostLeftovers is how many conversations of a list are checked for a removal elsewhere,
// which reads their files.
const mostLeftovers = 200

// remarkable reads the selected conversations of a workspace that there may be more to
// say about than a row shows. unread says what cannot be read.
func (s *selection) remarkable(workspace int) (list []store.Entry, unread []string) {
	w := s.workspaces[workspace]
	waiting := map[string]bool{}
	for _, name := range w.Store.WaitingPaths() {
		waiting[name] = true
	}
	removed := w.Removed.Any()
	n := -1
	for of, r := range s.listed() {
		if of != workspace {
			continue
		}
		n++
		if !r.Damaged && r.Status != "newer" && !r.Waiting && len(r.Twins) == 0 && !waiting[r.Path] && !(removed && n < mostLeftovers) {
			continue
		}
		e, err := w.Entry(r.Path)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			d := store.Unread(r.Path, err)
			unread = append(unread, d.Error())
			continue
		}
		e.Twins = r.Twins
		list = append(list, e)
	}
	return list, unread
}
