package listing

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"cortext/store"
)

// Options are the inputs of a listing from its environment.
type Options struct {
	Now func() time.Time
	Git func() string // returns a fingerprint of git's checkout; nil outside a repository

	// Progress, if not nil, is called now and then while many files are examined, with the
	// number of examined and of all conversations.
	Progress func(done, of int)
}

// A Listing is a snapshot of the conversations of a workspace, most recently active first.
// It is safe for concurrent use. It includes everything that cortext wrote before the
// snapshot.
// It reads an index and rereads what has changed since: the changes that other commands
// recorded, and folders that were added or removed. If git has checked out something else,
// it first checks all files. Manual edits show in a [Page] at once, and elsewhere after
// [Refresh].
type Listing struct {
	store *store.Store
	opts  Options

	days dayFolders

	mu    sync.RWMutex // guards the fields below, and the view's index while it is read
	view  atomic.Pointer[view]
	state state // zero if everything has just been read and there is no index
	stale bool
	saved bool     // whether the index and its state on disk are those of the last sweep
	paged []*index // earlier indexes that pages may read

	wait time.Duration // how long to wait for another process that is writing an index
}

const (
	// small is the number of conversations from which an index saves time.
	small = 32

	// checkedDays is how many of the newest days' folders are checked for each list.
	checkedDays = 8

	// manyChanges is the number of changed conversations from which checking all files is
	// simpler. someChanges is the number from which the index should be rebuilt.
	manyChanges, someChanges = 1000, 32

	// sweepEvery is how long a manual edit may go unnoticed while lists are made.
	sweepEvery = time.Minute

	// lockWait is how long a new index that has to be written waits for another process,
	// which may have looked at the files before they changed.
	lockWait = 5 * time.Second

	// longChanges is the size in bytes at which a new list of changes is started.
	longChanges = 1 << 20
)

func newListing(st *store.Store, opts Options) *Listing {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Listing{store: st, opts: opts, days: dayFolders{store: st}}
}

// Open lists the conversations of a workspace.
func Open(st *store.Store, opts Options) (*Listing, error) {
	l := newListing(st, opts)
	base, known := openLast(st)
	if base != nil && known != nil && l.resume(base, known) {
		return l, nil
	}
	if err := l.sweep(base); err != nil {
		return nil, err
	}
	return l, nil
}

// Refresh checks the files of all conversations, so that later listings show what changed.
func Refresh(st *store.Store, opts Options) error {
	l := newListing(st, opts)
	l.wait = lockWait
	base, _ := openLast(st)
	err := l.sweep(base)
	return cmp.Or(err, l.Close())
}

// Forget makes a new index without the removed conversations. If it cannot be written, the
// old one is removed.
func Forget(st *store.Store, opts Options) error {
	l := newListing(st, opts)
	l.wait = lockWait
	base, _ := openLast(st)
	err := l.sweep(base)
	if err != nil || !l.saved {
		st.ForgetListed()
	}
	return cmp.Or(err, l.Close())
}

// Refresh is like the function [Refresh], for an open listing. It invalidates all positions.
func (l *Listing) Refresh() error {
	base, _ := openLast(l.store)
	return l.sweep(base)
}

// SameIndex compares two listings. ok reports whether they use the same index, and same
// whether they also list the same rows.
func (l *Listing) SameIndex(other *Listing) (same, ok bool) {
	v, w := l.view.Load(), other.view.Load()
	if v.base.id != w.base.id {
		return false, false
	}
	return maps.Equal(v.gone, w.gone) && slices.EqualFunc(v.added, w.added, func(a, b *record) bool { return reflect.DeepEqual(a.Row, b.Row) }), true
}

// Close releases the listing and its pages. The strings of their rows stay valid.
func (l *Listing) Close() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, x := range l.paged {
		err = cmp.Or(err, x.close())
	}
	if v := l.view.Load(); v != nil {
		err = cmp.Or(err, v.base.close())
	}
	return err
}

// Stale reports whether the files were last checked so long ago that a manual edit may have
// gone unnoticed. A command then runs [Refresh] in a separate process after it has
// answered.
func (l *Listing) Stale() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.stale
}

// Unreadable returns the sorted days whose folders could not be read. Their conversations
// are not in the listing.
func (l *Listing) Unreadable() []string { return l.days.unreadable() }

// git returns the fingerprint of git's checkout.
func (l *Listing) git() string {
	if l.opts.Git == nil {
		return ""
	}
	return l.opts.Git()
}

// openLast opens the last intact index, if there is one, with its state.
func openLast(st *store.Store) (*index, *state) {
	var base *index
	for range 3 { // another process may be writing both
		known, ok := readState(st)
		f, size, there := st.OpenCache(store.ListedCache)
		if !there {
			return nil, nil
		}
		if base != nil {
			_ = base.close()
		}
		var err error
		if base, err = openIndex(f, size, f.Close); err != nil {
			_ = f.Close()
			return nil, nil
		}
		if ok && known.index == base.id {
			return base, &known
		}
		if !ok {
			break
		}
	}
	return base, nil
}

// resume uses an index and rereads the known changes since it was made. It returns false if
// all files must be checked.
func (l *Listing) resume(base *index, known *state) bool {
	changes, ok := l.store.ChangesSince(known.mark, known.end)
	if !ok || known.git != l.git() {
		return false
	}
	dirty := changes.Folders
	var names []string
	for _, d := range known.days {
		names = append(names, d.name)
	}
	if known.top == "" || l.store.LookAtDay("") != known.top {
		now, err := l.store.Days()
		if err != nil {
			return false
		}
		for _, name := range names {
			if _, ok := slices.BinarySearch(now, name); !ok {
				now = append(now, name) // the day and its conversations are gone
			}
		}
		names = now
		slices.Sort(names)
	}
	looked := slices.Clone(names[max(0, len(names)-checkedDays):])
	for _, name := range names[:len(names)-len(looked)] {
		if _, ok := known.day(name); !ok {
			looked = append(looked, name) // a new day
		}
	}
	for _, name := range known.unreadable {
		if !slices.Contains(looked, name) {
			looked = append(looked, name)
		}
	}
	more, err := l.changedDays(base, known, looked)
	if err != nil {
		return false
	}
	if dirty = append(dirty, more...); len(dirty) > manyChanges {
		return false
	}
	v, err := l.viewOf(base, dirty)
	if err != nil {
		return false
	}
	l.view.Store(v)
	l.state = *known
	age := l.opts.Now().Sub(known.swept)
	l.stale = age > sweepEvery || age < 0 || len(v.added) > someChanges
	return true
}

// day returns the look of a day.
func (s *state) day(name string) (look string, ok bool) {
	i, ok := slices.BinarySearchFunc(s.days, name, func(d day, name string) int { return cmp.Compare(d.name, name) })
	if !ok {
		return "", false
	}
	return s.days[i].look, true
}

// changedDays returns the folders that were added or removed in the given days.
func (l *Listing) changedDays(base *index, known *state, names []string) (dirty []string, err error) {
	changed := make([]bool, len(names))
	inParallel(len(names), func(i int) {
		look, ok := known.day(names[i])
		changed[i] = !ok || look == "" || l.store.LookAtDay(names[i]) != look
	})
	for i, name := range names {
		if changed[i] {
			more, err := l.days.compare(base, name)
			if err != nil {
				return nil, err
			}
			dirty = append(dirty, more...)
		}
	}
	return dirty, nil
}

// viewOf returns the rows of an index with the given folders reread.
func (l *Listing) viewOf(base *index, dirty []string) (*view, error) {
	waits := waitingIn(l.store)
	if len(dirty)+len(waits) == 0 {
		return newView(base, nil)
	}
	up := update{days: &l.days, base: base, waiting: waits}
	if err := up.run(dirty); err != nil {
		return nil, err
	}
	return newView(base, &up)
}

// sweep checks all files, reads what differs from an index, and writes a new one. It
// ignores an index that turns out to be damaged.
func (l *Listing) sweep(base *index) error {
	err := l.sweepFrom(base)
	if base != nil && err != nil {
		_ = base.close()
	}
	if base != nil && errors.Is(err, errDamaged) {
		err = l.sweepFrom(nil)
	}
	return err
}

func (l *Listing) sweepFrom(base *index) error {
	next := state{git: l.git(), swept: l.opts.Now()}
	changes, noted := l.store.ChangesSince("", 0)
	sw := sweep{days: &l.days, base: base}
	folders, err := sw.list()
	if err != nil {
		return err
	}
	keep := false
	if sw.found >= small {
		if unlock, err := l.store.LockCache("listing", l.wait); err == nil {
			defer unlock()
			keep = true
		}
	}
	if next.mark, next.end = changes.Mark, changes.End; keep && (!noted || changes.End > longChanges) {
		if next.mark, next.end, err = l.store.NewChanges(); err != nil {
			keep = false
		}
		if folders, err = sw.list(); err != nil { // before the list of changes starts
			return err
		}
	}
	next.top, next.days, next.unreadable = sw.top, sw.looks, l.days.unreadable()
	if err := sw.compare(folders, l.opts.Progress); err != nil {
		return err
	}
	up := update{days: &l.days, base: base, progress: l.opts.Progress}
	if err := up.run(sw.dirty); err != nil {
		return err
	}
	var file []byte
	if base == nil || len(sw.dirty) > 0 {
		records, err := replaced(base, &up)
		if err != nil {
			return err
		}
		if base != nil {
			_ = base.close()
		}
		if base, file, err = inMemory(records); err != nil {
			return err
		}
	}
	next.index = base.id
	saved := keep
	if keep && file != nil {
		saved = l.store.WriteCache(store.ListedCache, file) == nil
	}
	if saved {
		_ = next.write(l.store) // on failure the next list checks all files
	}
	v, err := l.viewOf(base, nil)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch old := l.view.Swap(v); {
	case old == nil:
	case old.base.paged.Load():
		l.paged = append(l.paged, old.base)
	default:
		_ = old.base.close()
	}
	l.state, l.stale, l.saved = next, false, saved
	return nil
}

// replaced returns the rows of an index, if there is one, after an update.
func replaced(base *index, up *update) ([]*record, error) {
	if base == nil {
		return up.added, nil
	}
	v, err := newView(base, up)
	if err != nil {
		return nil, err
	}
	return v.all()
}

// try calls f with the rows. If the index turns out to be damaged, it reads all files and
// calls f again.
func (l *Listing) try(f func(v *view) error) {
	read := func() error {
		l.mu.RLock()
		defer l.mu.RUnlock()
		return f(l.view.Load())
	}
	if read() != nil && l.sweep(nil) == nil {
		_ = read()
	}
}
