package listing

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"cortext/schema"
	"cortext/store"
	"cortext/store/parallel"
)

// Len returns the number of conversations.
func (l *Listing) Len() int { return l.view.Load().layout.n }

// Row returns the conversation at the given position, counted from 0. The row may be
// outdated; see [Listing.Page].
func (l *Listing) Row(i int) (r Row) {
	l.try(func(v *view) (err error) {
		if i < v.layout.n {
			r, err = v.row(i)
		}
		return err
	})
	return r
}

// Entry reads the conversation at the given position from its files; see [Listing.Read].
func (l *Listing) Entry(i int) (store.Entry, error) {
	r := l.Row(i)
	return l.Read(&r)
}

// Read reads the conversation of a row from its files, as [store.Store.List] does. The
// error is [store.ErrNotFound] if it is gone.
func (l *Listing) Read(r *Row) (store.Entry, error) {
	for _, e := range l.refresher.store.ListOf(r.Folders()) {
		if r.isIn(e.Path) && e.Waiting == r.Waiting {
			return e, nil
		}
	}
	return store.Entry{}, fmt.Errorf("conversation %q: %w", r.Path, store.ErrNotFound)
}

// readAtOnce is the maximum number of conversations that Entries reads from their files.
// Above it, entries come from the listing.
const readAtOnce = 64

// Entries reads the conversations at the given positions from their files, unless there are
// many. current is false if one of them differs from the listing.
func (l *Listing) Entries(at []int) (entries []store.Entry, current bool, err error) {
	current = true
	for k, i := range at {
		r := l.Row(i)
		if k >= readAtOnce {
			entries = append(entries, r.Entry())
			continue
		}
		e, err := l.Read(&r)
		if errors.Is(err, store.ErrNotFound) {
			current = false
			continue
		}
		if err != nil {
			return nil, false, err
		}
		now := rowOf(e)
		current = current && now.ID == r.ID && now.Path == r.Path && now.Title == r.Title && now.Status == r.Status &&
			now.Archived == r.Archived && now.Summary == r.Summary && now.Description == r.Description && slices.Equal(now.Tags, r.Tags)
		entries = append(entries, e)
	}
	return entries, current, nil
}

// Entry describes a conversation by its row alone, without sources, plan, notes and other
// fields that no list shows.
func (r *Row) Entry() store.Entry {
	s := &schema.Session{
		Version: schema.Version, ID: r.ID, ConversationID: r.ConversationID, Title: r.Title, ConversationType: r.Type, Status: schema.Status(r.Status),
		Archived: r.Archived, CreatedAt: schema.NewTime(r.Created), LastActive: schema.NewTime(r.LastActive), MessageCount: r.Messages,
		Tokens: r.Tokens, ContextSummary: r.Summary, Description: r.Description, Tags: r.Tags,
	}
	s.AgentConfig.Agent, s.AgentConfig.Model = r.Agent, r.Model
	return store.Entry{Path: r.Path, Session: s, Waiting: r.Waiting, Twins: r.Twins}
}

// ByID returns the position of the conversation with the given id.
func (l *Listing) ByID(id string) (at int, ok bool) {
	l.try(func(v *view) (err error) { at, ok, err = v.byID(id); return err })
	return at, ok
}

// Select returns the positions of the conversations that a filter selects, most recently
// active first.
func (l *Listing) Select(f Filter) (at []int) {
	l.try(func(v *view) (err error) {
		at, err = v.selectAll(&f)
		return err
	})
	return at
}

func (v *view) selectAll(f *Filter) (at []int, err error) {
	if f.ofAnyKind() {
		return v.selectOfAnyKind(f)
	}
	s, err := v.selector(f)
	if err != nil {
		return nil, err
	}
	if f.onlyActive() {
		return v.selectActive(s)
	}
	if err := s.decide(v.base); err != nil {
		return nil, err
	}
	at = make([]int, 0, v.layout.n)
	err = v.eachSelected(s, func(i int) bool { at = append(at, i); return true })
	return at, err
}

// selectActive is selectAll for a filter that selects no other conversations than active ones.
func (v *view) selectActive(s *selector) ([]int, error) {
	rows, err := v.base.listed(activeSection)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row int) bool {
		ok, e := s.selected(v.base, row)
		err = cmp.Or(err, e)
		return !ok
	})
	return v.positions(rows, func(r *record) bool { return s.filter.Selects(&r.Row) }), err
}

// selectOfAnyKind is selectAll for a filter that hides no conversations but archived ones.
func (v *view) selectOfAnyKind(f *Filter) ([]int, error) {
	var hidden []int
	if !f.Archived {
		rows, err := v.base.listed(archivedSection)
		if err != nil {
			return nil, err
		}
		hidden = v.positions(rows, func(r *record) bool { return r.Archived })
	}
	at := make([]int, 0, v.layout.n)
	for i := range v.layout.n {
		if len(hidden) > 0 && hidden[0] == i {
			hidden = hidden[1:]
			continue
		}
		at = append(at, i)
	}
	return at, nil
}

// positions returns the sorted positions of those of the given rows of the index that are
// left, and of those added rows for which also returns true.
func (v *view) positions(rows []int, also func(r *record) bool) (at []int) {
	for _, row := range rows {
		if i, ok := v.layout.position(row); ok {
			at = append(at, i)
		}
	}
	for _, s := range v.layout.spans {
		if s.base < 0 && also(v.added[s.added]) {
			at = append(at, s.at)
		}
	}
	slices.Sort(at)
	return at
}

// Sort sorts positions. The sort is stable.
func (l *Listing) Sort(at []int, by Order) {
	l.try(func(v *view) error { return v.sort(at, by) })
}

func (v *view) sort(at []int, by Order) error {
	type key struct {
		at     int
		number int64
		text   string
	}
	keys := make([]key, len(at))
	for k, i := range at {
		f, err := v.fixed(i)
		if err != nil {
			return err
		}
		keys[k].at = i
		switch by {
		case ByCreated:
			keys[k].number = f.created.UnixMilli()
		case ByMessages:
			keys[k].number = f.messages
		case ByTokens:
			keys[k].number = f.tokens
		case ByTitle:
			r, err := v.row(i)
			if err != nil {
				return err
			}
			keys[k].text = strings.ToLower(r.Title)
		default:
			keys[k].number = f.active.UnixMilli()
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(b.number, a.number), strings.Compare(a.text, b.text))
	})
	for k := range keys {
		at[k] = keys[k].at
	}
	return nil
}

// A Selection says which conversations to show, and in which order.
type Selection struct {
	Filter  Filter
	Order   Order // "": ByLastActive
	Reverse bool
	Offset  int
	Limit   int // 0: no limit
}

// A Page is a part of a list in its current state on disk.
type Page struct {
	Total    int // number of selected conversations
	Hidden   int // number of others that are excluded only because they are completed or archived
	Archived int // number of archived ones among the hidden

	listing   *Listing
	selection Selection
	view      *view
	at        []int // positions
}

// Page returns the rows that a selection shows. They match the files on disk: changed rows
// are reread and missing ones dropped. If the index turns out to be damaged, Page reads
// all files; an error comes from that.
func (l *Listing) Page(s Selection) (*Page, error) {
	p, err := l.page(s)
	if errors.Is(err, errDamaged) {
		if err = l.sweep(nil); err == nil {
			p, err = l.page(s)
		}
	}
	if err != nil {
		return nil, err
	}
	p.listing, p.selection = l, s
	return p, nil
}

func (l *Listing) page(s Selection) (*Page, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	v := l.view.Load()
	v.base.paged.Store(true)
	var again []string // folders to read again
	if s.Limit == 0 || s.Limit > Looked {
		names := make([]string, len(l.state.days))
		for i, d := range l.state.days {
			names[i] = d.name
		}
		var err error
		if again, err = l.refresher.changedDays(v.base, &l.state, names); err != nil {
			return nil, err
		}
	}
	var p *Page
	_, err := l.refresher.current(v, again, func(v *view) (at []int, err error) {
		if p, err = v.page(s); err != nil {
			return nil, err
		}
		return p.at, nil
	})
	return p, err
}

// Len returns the number of rows.
func (p *Page) Len() int { return len(p.at) }

// Row returns a row, counted from 0. For a page of more than [Looked] rows, [Page.Rows] is
// called first.
func (p *Page) Row(k int) Row {
	r, _ := p.view.row(p.at[k]) // cannot fail: this part of the index was already read
	return r
}

// HasNotes reports whether the conversation of a row needs a notice because it is damaged,
// waiting, in several folders, or written by a later cortext.
func (p *Page) HasNotes(k int) bool {
	base, added := p.view.layout.find(p.at[k])
	if base < 0 {
		return p.view.added[added].hasNotes()
	}
	flags, err := p.view.base.sections.flags(base)
	return err != nil || flags&hasNotes != 0
}

// Sources returns the agent, native id and beginning of each source of a row's
// conversation. The error means that the index is damaged.
func (p *Page) Sources(k int) ([]schema.Source, error) { return p.view.sources(p.at[k]) }

// Rows yields the rows. If the index turns out to be damaged, Rows reads all files; an
// error comes from that.
func (p *Page) Rows() (iter.Seq[Row], error) {
	if len(p.at) > Looked { // a shorter page has already read its rows
		if err := p.again(p.view.base.checkRows()); err != nil {
			return nil, err
		}
	}
	return func(yield func(Row) bool) {
		for k := range p.at {
			if !yield(p.Row(k)) {
				return
			}
		}
	}, nil
}

// again makes the page again if err says that the index is damaged.
func (p *Page) again(err error) error {
	if !errors.Is(err, errDamaged) {
		return err
	}
	if err := p.listing.sweep(nil); err != nil {
		return err
	}
	now, err := p.listing.Page(p.selection)
	if err == nil {
		*p = *now
	}
	return err
}

// inChunks calls f in parallel for parts of n, and returns one of its errors.
func inChunks(n int, f func(from, end int) error) error {
	const chunk = 512
	var failed atomic.Pointer[error]
	parallel.Each((n+chunk-1)/chunk, func(k int) {
		if err := f(k*chunk, min((k+1)*chunk, n)); err != nil {
			failed.Store(&err)
		}
	})
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

// rounds limits how often a page is remade while its files keep changing.
const rounds = 16

// page returns the positions that a selection shows.
func (v *view) page(s Selection) (p *Page, err error) {
	p = &Page{view: v}
	simple := s.Filter.isZero() && (s.Order == "" || s.Order == ByLastActive) && !s.Reverse && s.Limit > 0 && s.Limit <= Looked
	if simple {
		if p.Total, p.Archived, err = v.counts(); err != nil {
			return nil, err
		}
		p.Hidden = v.layout.n - p.Total
		skip := s.Offset
		err = v.each(&s.Filter, func(i int) bool {
			if skip > 0 {
				skip--
				return true
			}
			p.at = append(p.at, i)
			return len(p.at) < s.Limit
		})
		return p, err
	}
	at, err := v.selectCounting(p, &s.Filter)
	if err != nil {
		return nil, err
	}
	p.Total = len(at)
	if s.Order != "" && s.Order != ByLastActive {
		if err := v.sort(at, s.Order); err != nil {
			return nil, err
		}
	}
	if s.Reverse {
		slices.Reverse(at)
	}
	at = at[min(max(s.Offset, 0), len(at)):]
	if s.Limit > 0 {
		at = at[:min(s.Limit, len(at))]
	}
	p.at = at
	return p, nil
}

// selectCounting selects conversations, and counts those that a filter excludes only
// because they are completed or archived. If the filter names statuses, it counts only
// archived ones.
func (v *view) selectCounting(p *Page, f *Filter) (at []int, err error) {
	if f.Archived && (f.All || len(f.Statuses) > 0) { // nothing is hidden
		return v.selectAll(f)
	}
	if _, err := v.base.sections.load(rowSection); err != nil {
		return nil, err
	}
	wide, narrow := *f, *f
	wide.All, wide.Archived = true, true
	narrow.Words, narrow.Tags = nil, nil // already checked by wide
	s, err := v.selector(&narrow)
	if err != nil {
		return nil, err
	}
	var failed error
	err = v.each(&wide, func(i int) bool {
		base, added := v.layout.find(i)
		var ok bool
		if base < 0 {
			ok = narrow.Selects(&v.added[added].Row)
		} else if ok, failed = s.selected(v.base, base); failed != nil {
			return false
		}
		if ok {
			at = append(at, i)
			return true
		}
		p.Hidden++
		var flags uint32
		if flags, failed = v.flags(i); flags&isArchived != 0 && !f.Archived {
			p.Archived++
		}
		return failed == nil
	})
	return at, cmp.Or(err, failed)
}
