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

	Checks Checks

	// Progress, if not nil, is called now and then while many files are examined, with the
	// number of examined and of all conversations.
	Progress func(done, of int)
}

// Checks says how closely a listing looks before it relies on its index.
type Checks int

const (
	// ForReaders looks at the folders of the newest days. In a small workspace, or after git
	// has checked out something else, it looks at the files of all conversations.
	ForReaders Checks = iota

	// ForCapture looks at the folders of all days, since what is missed may be captured
	// twice, and at all files after git has checked out something else. Because capture
	// writes anyway, it also makes an index for a small workspace.
	ForCapture

	// OnlyFolders is ForCapture without a look at git or at changes by cortext: it relies on
	// what the index says about the folders that it knows. Their ids do not change.
	OnlyFolders

	// AllFiles is ForCapture with a look at the files of all conversations.
	AllFiles
)

// A Listing is a snapshot of the conversations of a workspace, most recently active first.
// It is safe for concurrent use. It includes everything that cortext wrote before the
// snapshot.
// It reads an index and rereads what has changed since: the changes that other commands
// recorded, and folders that were added or removed. If git has checked out something else,
// it first checks all files. Manual edits show in a [Page] at once, and elsewhere after
// [Refresh].
type Listing struct {
	refresher *refresher

	mu     sync.RWMutex // guards the fields below, and the view's index while it is read
	view   atomic.Pointer[view]
	state  state
	stale  bool
	behind bool
	paged  []*index // earlier indexes that pages may read
}

const (
	// small is the least number of conversations for which an index saves time.
	small = 32

	// checkedDays is how many of the newest days' folders are checked for each list.
	checkedDays = 8

	// manyChanges is how many changed conversations make it simpler to check all files.
	// someChanges is how many make it worth rebuilding the index; for an index of at most
	// manyChanges conversations, which takes milliseconds, it is fewChanges.
	manyChanges, someChanges, fewChanges = 1000, 32, 4

	// sweepEvery is how long a manual edit may go unnoticed while lists are made.
	sweepEvery = time.Minute

	// lockWait is how long a new index that has to be written waits for another process,
	// which may have looked at the files before they changed.
	lockWait = 5 * time.Second

	// longChanges is the size in bytes at which a new list of changes is started.
	longChanges = 1 << 20
)

// Open lists the conversations of a workspace.
func Open(st *store.Store, opts Options) (*Listing, error) {
	l := &Listing{refresher: newRefresher(st, opts)}
	base, known := openLast(st)
	if base != nil && known != nil {
		if s, ok := l.refresher.resume(base, known); ok {
			l.show(s)
			return l, nil
		}
	}
	if err := l.sweep(base); err != nil {
		return nil, err
	}
	return l, nil
}

// Refresh checks the files of all conversations, so that later listings show what changed. It
// reports whether the index is on disk.
func Refresh(st *store.Store, opts Options) (saved bool, err error) {
	r := newRefresher(st, opts)
	r.wait = lockWait
	base, _ := openLast(st)
	s, err := r.sweep(base)
	if err != nil {
		return false, err
	}
	return s.saved, s.view.base.close()
}

// Forget makes a new index without the removed conversations. If it cannot be written, the
// old one is removed.
func Forget(st *store.Store, opts Options) error {
	saved, err := Refresh(st, opts)
	if !saved {
		st.ForgetListed()
	}
	return err
}

// Refresh is like the function [Refresh], for an open listing. It invalidates all positions.
func (l *Listing) Refresh() error {
	base, _ := openLast(l.refresher.store)
	return l.sweep(base)
}

// sweep checks all files, and shows what is found.
func (l *Listing) sweep(base *index) error {
	s, err := l.refresher.sweep(base)
	if err == nil {
		l.show(s)
	}
	return err
}

// show makes the listing use a snapshot.
func (l *Listing) show(s snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch old := l.view.Swap(s.view); {
	case old == nil:
	case old.base.paged.Load():
		l.paged = append(l.paged, old.base)
	default:
		_ = old.base.close()
	}
	l.state, l.stale, l.behind = s.state, s.stale, s.behind
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

// Behind reports whether so many conversations have changed since the index was made that
// rereading them for each listing costs more than a new index. A hook then has one made in
// a separate process.
func (l *Listing) Behind() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.behind
}

// Unreadable returns the sorted days whose folders could not be read. Their conversations
// are not in the listing.
func (l *Listing) Unreadable() []string { return l.refresher.days.unreadable() }

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

// Looked is the maximum number of rows whose files a page checks one by one. A longer page
// checks the folders of all days.
const Looked = 4096

// Recheck looks at the files of the conversations in some folders, and rereads those that
// changed. It invalidates all positions.
func (l *Listing) Recheck(folders []string) error {
	err := l.recheck(folders)
	if errors.Is(err, errDamaged) {
		return l.sweep(nil)
	}
	return err
}

func (l *Listing) recheck(folders []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	v, err := l.refresher.current(l.view.Load(), nil, func(v *view) (at []int, err error) {
		for _, folder := range folders {
			i, ok, err := v.byFolder(folder)
			if err != nil {
				return nil, err
			}
			if ok {
				at = append(at, i)
			}
		}
		return at, nil
	})
	if err != nil {
		return err
	}
	l.view.Store(v)
	return nil
}
