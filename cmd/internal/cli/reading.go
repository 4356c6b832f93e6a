package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// A reading reads conversations for the picker. It opens a separate workspace, because a
// workspace belongs to one goroutine and captures run at the same time.
type reading struct {
	mu      sync.Mutex // held while w reads or changes a conversation
	w       *workspace.Workspace
	removed bool   // whether a conversation was removed
	fixed   string // why nothing can be changed, or ""

	listing sync.Mutex // held while rows and others are replaced
	rows    *listing.Listing
	told    *listing.Listing // what the picker has for this workspace

	seen   []string   // the folders of the other workspaces
	others []*reading // readings of these, once they are shown
	left   []string   // why some of them are not shown

	done []undo // the user's actions, latest last; guarded by mu
}

// An undo undoes an action of the picker. run is nil if that is not possible.
type undo struct {
	did, to string // the action and its conversation
	run     func() error
}

// readingIn opens a workspace for the picker. seen are the folders of the other workspaces. If
// all files have to be checked first, it calls progress.
func readingIn(env workspace.Env, seen []string, progress func(done, of int)) (*reading, error) {
	w, err := workspace.Open(env)
	if err != nil {
		return nil, err
	}
	rows, err := w.Listing(progress)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return &reading{w: w, rows: rows, told: rows, seen: seen, fixed: whyFixed(w)}, nil
}

// whyFixed returns why nothing can be changed in a workspace, or "".
func whyFixed(w *workspace.Workspace) string {
	unlock, err := w.Store.LockCache("picker", 0)
	if err == nil {
		unlock()
	}
	var held *store.LockedError
	if err == nil || errors.As(err, &held) {
		return ""
	}
	return unchangeable(err)
}

// readOnly returns why a conversation cannot be changed, or "".
func (r *reading) readOnly(row listing.Row) string { return r.of(&row).fixed }

// unchangeable says why nothing can be changed.
func unchangeable(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) { // the reason first: a line that does not fit loses its end
		return fmt.Sprintf("nothing can be changed here: %v (%s)", at.Err, at.Path)
	}
	return "nothing can be changed here: " + err.Error()
}

func (r *reading) close() {
	for _, other := range r.others {
		other.close()
	}
	_ = r.rows.Close()
	if r.mu.TryLock() { // otherwise a preview is still being read
		_ = r.w.Close()
	}
}

// forgetRemoved makes the lists of workspaces forget what was removed.
func (r *reading) forgetRemoved() (err error) {
	for _, each := range append([]*reading{r}, r.others...) {
		if each.removed {
			err = errors.Join(err, forgetRemoved(each.w, nil))
		}
	}
	return err
}

// of returns the reading of a row's workspace.
func (r *reading) of(row *listing.Row) *reading {
	if row.Workspace == "" {
		return r
	}
	r.listing.Lock()
	defer r.listing.Unlock()
	for _, other := range r.others {
		if other.w.Here.Workspace() == row.Workspace {
			return other
		}
	}
	return r
}

// refresh lists the conversations again, unless they look the same. It checks
// the files of those in shown, and of all conversations if the last such check was long
// ago. The picker may still be reading the previous listing. The garbage collector closes
// its file once nobody reads it, so a picker that stays open for a day does not fill the
// memory.
func (r *reading) refresh(shown []string) error {
	now, err := r.look(shown)
	if err != nil {
		return err
	}
	r.listing.Lock()
	defer r.listing.Unlock()
	same, ok := now.SameIndex(r.rows)
	if !ok {
		same = picker.Same(r.rows, now)
	}
	if same {
		return now.Close()
	}
	r.rows = now
	return nil
}

func (r *reading) look(shown []string) (*listing.Listing, error) {
	now, err := r.w.Listing(nil)
	if err != nil {
		return nil, err
	}
	if now.Stale() {
		err = now.Refresh()
	} else {
		err = now.Recheck(shown)
	}
	if err != nil {
		return nil, errors.Join(err, now.Close())
	}
	return now, nil
}

// reload returns the current conversations, or nil if the picker already has them. It does
// not have those that everywhere has listed since.
func (r *reading) reload(_ context.Context, shown []string) (picker.Rows, error) {
	err := r.refresh(shown)
	r.listing.Lock()
	defer r.listing.Unlock()
	if err != nil || r.rows == r.told {
		return nil, err
	}
	r.told = r.rows
	return r.told, nil
}

// everywhere returns the current conversations of all workspaces. It skips workspaces that
// cannot be read.
func (r *reading) everywhere(ctx context.Context) (picker.Rows, error) {
	if r.others == nil {
		var others []*reading
		for _, dir := range r.seen {
			if ctx.Err() != nil {
				break
			}
			env := r.w.Env
			env.Dir = dir
			other, err := readingIn(env, nil, nil)
			if err != nil {
				r.left = append(r.left, fmt.Sprintf("%s is left out: %v", dir, err))
				continue
			}
			others = append(others, other)
		}
		r.listing.Lock()
		r.others = others
		r.listing.Unlock()
	}
	all := append([]*reading{r}, r.others...)
	for _, each := range all {
		if err := each.refresh(nil); err != nil {
			return nil, err
		}
	}
	return gather(all), ctx.Err()
}

// exists reports whether a conversation still exists.
func (r *reading) exists(row listing.Row) bool {
	r = r.of(&row)
	if _, err := os.Lstat(filepath.Join(r.w.Store.Root(), filepath.FromSlash(row.Path))); err == nil {
		return true
	}
	if !r.mu.TryLock() { // a preview is being read and will report it
		return true
	}
	defer r.mu.Unlock()
	_, err := r.w.Entry(row.Path) // its records may be waiting, or only in git
	return !errors.Is(err, store.ErrNotFound)
}

// prompts returns the user prompts of a conversation.
func (r *reading) prompts(_ context.Context, row listing.Row) (list []picker.Prompt, err error) {
	r = r.of(&row)
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.w.Entry(row.Path)
	if err != nil {
		return nil, err
	}
	messages, err := history.Prompts(r.w.Conversations, e)
	for _, m := range messages {
		list = append(list, picker.Prompt{Number: m.Number, Text: strings.Join(strings.Fields(m.Content), " ")})
	}
	return list, err
}

// A gathering holds the conversations of several workspaces, most recently active first. A
// conversation that several workspaces have, such as clones, appears once.
type gathering struct {
	lists      []*listing.Listing
	workspaces []string  // of each list
	order      []place   // a page is a list here
	at         [][]int32 // the position of each row of each list, or -1
}

func gather(readings []*reading) *gathering {
	g := &gathering{}
	type key struct {
		place
		active int64
	}
	var keys []key
	newest := map[string]int{}
	for i, r := range readings {
		r.listing.Lock()
		rows := r.rows
		r.listing.Unlock()
		g.lists, g.workspaces = append(g.lists, rows), append(g.workspaces, r.w.Here.Workspace())
		for row := range rows.Len() {
			l := rows.Row(row)
			k := key{place{i, row}, l.LastActive.UnixNano()}
			id := schema.IDKey(l.ID)
			if at, twice := newest[id]; twice && l.ID != "" {
				if keys[at].active < k.active {
					keys[at] = k
				}
				continue
			}
			newest[id] = len(keys)
			keys = append(keys, k)
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return cmp.Compare(b.active, a.active) })
	for _, l := range g.lists {
		at := make([]int32, l.Len())
		for row := range at {
			at[row] = -1
		}
		g.at = append(g.at, at)
	}
	for i, k := range keys {
		g.order = append(g.order, k.place)
		g.at[k.page][k.row] = int32(i)
	}
	return g
}

// Len returns the number of conversations.
func (g *gathering) Len() int { return len(g.order) }

// Row returns the conversation at the given position, with its workspace.
func (g *gathering) Row(i int) listing.Row {
	p := g.order[i]
	row := g.lists[p.page].Row(p.row)
	row.Workspace = g.workspaces[p.page]
	return row
}

// Select returns the positions of the conversations that a filter selects.
func (g *gathering) Select(f listing.Filter) (at []int) {
	for i, l := range g.lists {
		for _, row := range l.Select(f) {
			if k := g.at[i][row]; k >= 0 {
				at = append(at, int(k))
			}
		}
	}
	slices.Sort(at)
	return at
}

// match returns the positions of the conversations that a query matches best, in any workspace,
// among those that a filter selects.
func (g *gathering) match(query string, f listing.Filter) (at []int) {
	best := find.None
	for i, l := range g.lists {
		rows, tier := l.Match(query, f)
		switch {
		case tier == find.None || best != find.None && tier > best:
			continue
		case tier != best:
			best, at = tier, nil
		}
		for _, row := range rows {
			if k := g.at[i][row]; k >= 0 {
				at = append(at, int(k))
			}
		}
	}
	slices.Sort(at)
	return at
}

// ByID returns the position of the conversation with the given id.
func (g *gathering) ByID(id string) (int, bool) {
	for i, l := range g.lists {
		if row, ok := l.ByID(id); ok && g.at[i][row] >= 0 {
			return int(g.at[i][row]), true
		}
	}
	return 0, false
}
