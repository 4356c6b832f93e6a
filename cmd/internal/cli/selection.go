package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/listing"
	"cortext/store"
)

// A selection holds the conversations that a list shows.
type selection struct {
	workspaces []*opened // the first is the current folder's, if here is set
	here       bool
	listings   []*listing.Listing // of each workspace
	pages      []*listing.Page    // the candidates of each workspace
	waiting    []map[string]int   // number of waiting messages by path, for each workspace
	merged     []place            // the rows shown, if there are several pages
	named      bool               // rows name their workspace
}

// A place is a row of one of several pages.
type place struct{ page, row int }

// open opens the workspace of the current folder and, if rows name their workspace, all others
// on this machine.
func (s *selection) open(a *app, cmd *cobra.Command) error {
	w, err := a.open(cmd)
	switch {
	case err == nil:
		s.workspaces, s.here = []*opened{w}, true
	case !s.named || !errors.Is(err, store.ErrNoWorkspace):
		return err
	}
	if s.named {
		s.workspaces = append(s.workspaces, a.others(cmd)...)
	}
	return nil
}

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

// choose lists the workspaces and selects a page of their conversations. For one workspace
// that costs as much as the page has rows.
func (s *selection) choose(f listing.Filter, o *listOptions, progress func(done, of int)) error {
	f.Words = strings.Fields(o.search)
	sel := listing.Selection{Filter: f, Order: listing.Order(o.sort), Reverse: o.reverse, Offset: o.offset, Limit: o.limit}
	if len(s.workspaces) != 1 { // the first rows may come from any of them
		if sel.Offset = 0; o.limit > 0 {
			sel.Limit += o.offset
		}
	}
	for _, w := range s.workspaces {
		l, err := w.Listing(progress)
		if err != nil {
			return err
		}
		s.listings = append(s.listings, l)
		p, err := l.Page(sel)
		if err != nil {
			return err
		}
		s.pages = append(s.pages, p)
	}
	if len(s.pages) == 1 {
		return nil
	}
	return s.merge(o)
}

// merge merges sorted pages and selects the rows to show.
func (s *selection) merge(o *listOptions) error {
	for _, p := range s.pages {
		if _, err := p.Rows(); err != nil {
			return err
		}
	}
	order := orders[listing.Order(o.sort)]
	heads, at := make([]listing.Row, len(s.pages)), make([]int, len(s.pages))
	load := func(i int) {
		if at[i] < s.pages[i].Len() {
			heads[i] = s.pages[i].Row(at[i])
		}
	}
	for i := range s.pages {
		load(i)
	}
	for n := 0; o.limit == 0 || n < o.offset+o.limit; n++ {
		first := -1
		for i, p := range s.pages {
			if at[i] == p.Len() {
				continue
			}
			if first < 0 || !o.reverse && order(&heads[i], &heads[first]) < 0 || o.reverse && order(&heads[i], &heads[first]) > 0 {
				first = i
			}
		}
		if first < 0 {
			break
		}
		if n >= o.offset {
			s.merged = append(s.merged, place{first, at[first]})
		}
		at[first]++
		load(first)
	}
	return nil
}

// orders compare rows of different workspaces in the order of a page.
var orders = map[listing.Order]func(a, b *listing.Row) int{
	listing.ByLastActive: func(a, b *listing.Row) int { return b.LastActive.Compare(a.LastActive) },
	listing.ByCreated:    func(a, b *listing.Row) int { return b.Created.Compare(a.Created) },
	listing.ByTitle:      func(a, b *listing.Row) int { return cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) },
	listing.ByMessages:   func(a, b *listing.Row) int { return cmp.Compare(b.Messages, a.Messages) },
	listing.ByTokens:     func(a, b *listing.Row) int { return cmp.Compare(b.Tokens, a.Tokens) },
}

// places yields the place of each row that is shown: the index of its page and workspace,
// and its index on the page.
func (s *selection) places() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		if len(s.pages) == 1 {
			for k := range s.pages[0].Len() {
				if !yield(0, k) {
					return
				}
			}
			return
		}
		for _, p := range s.merged {
			if !yield(p.page, p.row) {
				return
			}
		}
	}
}

// rows describes the selected conversations. The rows share strings with the listings.
func (s *selection) rows() (iter.Seq[row], error) {
	for _, p := range s.pages {
		if _, err := p.Rows(); err != nil {
			return nil, err
		}
	}
	return func(yield func(row) bool) {
		for i, k := range s.places() {
			l := s.pages[i].Row(k)
			r := row{Listed: l.Listed(), damaged: l.Damaged, active: l.LastActive}
			r.Waiting = s.waiting[i][r.Path]
			if s.named {
				r.Workspace = s.workspaces[i].Here.Workspace()
			}
			if !yield(r) {
				return
			}
		}
	}, nil
}

// printJSON prints the rows as one array.
func (s *selection) printJSON(out io.Writer) error {
	if len(s.pages) == 1 && !s.named && len(s.waiting[0]) == 0 {
		return s.pages[0].WriteJSON(out)
	}
	rows, err := s.rows()
	if err != nil {
		return err
	}
	return printJSON(out, rows)
}

// counts returns how many conversations are shown, how many the filters select, how many
// others are hidden only because of their status or because they are archived, and how many
// of those are archived.
func (s *selection) counts() (shown, matching, hidden, archived int) {
	for _, p := range s.pages {
		matching, hidden, archived = matching+p.Total, hidden+p.Hidden, archived+p.Archived
	}
	if shown = len(s.merged); len(s.pages) == 1 {
		shown = s.pages[0].Len()
	}
	return shown, matching, hidden, archived
}

// mostLeftovers is how many conversations of a list are checked for a removal in another
// clone. The check looks up each of their sources.
const mostLeftovers = 200

// remarkable returns the selected conversations of a workspace that may need a notice. It
// reads the files of those that are damaged, waiting or in several folders; the others have
// only what is in their rows, and their sources. unread holds the errors.
func (s *selection) remarkable(workspace int) (list []store.Entry, unread []string) {
	w := s.workspaces[workspace]
	waiting := map[string]bool{}
	for _, name := range w.Store.Kept().WaitingPaths() {
		waiting[name] = true
	}
	left := 0 // number to check for a removal
	if w.Removed.Any() {
		left = mostLeftovers
	}
	for i, k := range s.places() {
		if i != workspace {
			continue
		}
		left--
		noted := s.pages[i].HasNotes(k)
		if left < 0 && len(waiting) == 0 && !noted {
			continue
		}
		r := s.pages[i].Row(k)
		if !noted && !waiting[r.Path] {
			if left < 0 {
				continue
			}
			if sources, err := s.pages[i].Sources(k); err == nil {
				e := r.Entry()
				e.Session.Sources = sources
				list = append(list, e)
				continue
			}
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
