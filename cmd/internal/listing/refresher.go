package listing

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"cortext/store"
)

// idsOfOld is the cache file in which earlier versions kept the ids and folders of all
// conversations.
const idsOfOld = "ids.json"

// A refresher reads the conversations of a workspace, and brings indexes up to date.
type refresher struct {
	store *store.Store
	opts  Options
	wait  time.Duration // how long to wait for another process that is writing an index
	days  dayFolders
}

func newRefresher(st *store.Store, opts Options) *refresher {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &refresher{store: st, opts: opts, days: dayFolders{store: st}}
}

// A snapshot is the rows of a workspace at one time.
type snapshot struct {
	view   *view
	state  state // zero if everything has just been read and there is no index
	stale  bool  // whether all files should be checked
	behind bool  // whether the index lacks so many conversations that it should be rebuilt
	saved  bool  // whether the index and its state on disk are those of the view
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

// git returns the fingerprint of git's checkout.
func (r *refresher) git() string {
	if r.opts.Git == nil {
		return ""
	}
	return r.opts.Git()
}

// resume uses an index and rereads the known changes since it was made. ok is false if all
// files must be checked.
func (r *refresher) resume(base *index, known *state) (s snapshot, ok bool) {
	if r.opts.Checks == AllFiles || r.opts.Checks == ForReaders && base.n < small {
		return s, false
	}
	changes, ok := r.store.ChangeList().Since(known.mark, known.end)
	if !ok || r.opts.Checks != OnlyFolders && known.git != r.git() {
		return s, false
	}
	dirty := changes.Folders
	if r.opts.Checks == OnlyFolders {
		dirty = slices.DeleteFunc(dirty, func(folder string) bool {
			_, known, err := base.byFolder(folder)
			return known && err == nil
		})
	}
	var names []string
	for _, d := range known.days {
		names = append(names, d.name)
	}
	if known.top == "" || r.store.Folders().LookAtDay("") != known.top {
		now, err := r.store.Folders().Days()
		if err != nil {
			return s, false
		}
		for _, name := range names {
			if _, ok := slices.BinarySearch(now, name); !ok {
				now = append(now, name) // the day and its conversations are gone
			}
		}
		names = now
		slices.Sort(names)
	}
	looked := names
	if r.opts.Checks == ForReaders {
		looked = slices.Clone(names[max(0, len(names)-checkedDays):])
	}
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
	more, err := r.changedDays(base, known, looked)
	if err != nil {
		return s, false
	}
	dirty = append(dirty, more...)
	for _, folder := range known.bare {
		if ok, err := r.store.Folders().HasSession(folder); ok || err != nil {
			dirty = append(dirty, folder)
		}
	}
	slices.Sort(dirty) // a new folder is noted, and its day has changed
	dirty = slices.Compact(dirty)
	most := manyChanges
	if r.opts.Checks != ForReaders && base.n <= manyChanges {
		most = fewChanges // a new index takes less time than it saves the next commands
	}
	if len(dirty) > most {
		return s, false
	}
	v, err := r.viewOf(base, dirty)
	if err != nil {
		return s, false
	}
	age := r.opts.Now().Sub(known.swept)
	stale := age > sweepEvery || age < 0 || len(v.added) > someChanges
	return snapshot{view: v, state: *known, stale: stale, behind: len(dirty) > someChanges}, true
}

// changedDays returns the folders that were added or removed in the given days.
func (r *refresher) changedDays(base *index, known *state, names []string) (dirty []string, err error) {
	changed := make([]bool, len(names))
	lookInParallel(len(names), func(i int) {
		look, ok := known.day(names[i])
		changed[i] = !ok || look == "" || r.store.Folders().LookAtDay(names[i]) != look
	})
	for i, name := range names {
		if changed[i] {
			more, err := r.days.compare(base, name)
			if err != nil {
				return nil, err
			}
			dirty = append(dirty, more...)
		}
	}
	return dirty, nil
}

// viewOf returns the rows of an index with the given folders reread.
func (r *refresher) viewOf(base *index, dirty []string) (*view, error) {
	waits := waitingIn(r.store)
	if len(dirty)+len(waits) == 0 {
		return newView(base, nil)
	}
	up := update{days: &r.days, base: base, waiting: waits}
	if err := up.run(dirty); err != nil {
		return nil, err
	}
	return newView(base, &up)
}

// sweep checks all files, reads what differs from an index, and writes a new one. It
// ignores an index that turns out to be damaged. While a hook waits, it does not rewrite a
// large index because of a few changes: it leaves that to another process, see
// [Listing.Behind].
func (r *refresher) sweep(base *index) (snapshot, error) {
	s, err := r.sweepFrom(base)
	if base != nil && err != nil {
		_ = base.close()
	}
	if base != nil && errors.Is(err, errDamaged) {
		s, err = r.sweepFrom(nil)
	}
	return s, err
}

func (r *refresher) sweepFrom(base *index) (s snapshot, err error) {
	next := state{git: r.git(), swept: r.opts.Now()}
	changes, noted := r.store.ChangeList().Since("", 0)
	sw := sweep{days: &r.days, base: base}
	folders, err := sw.list()
	if err != nil {
		return s, err
	}
	keep := false
	if sw.found >= small || base != nil && base.n < small || r.opts.Checks != ForReaders && sw.found > 0 {
		if unlock, err := r.store.LockCache("listing", r.wait); err == nil {
			defer unlock()
			keep = true
		}
	}
	if next.mark, next.end = changes.Mark, changes.End; keep && (!noted || changes.End > longChanges) {
		if next.mark, next.end, err = r.store.ChangeList().Start(); err != nil {
			keep = false
		}
		if folders, err = sw.list(); err != nil { // before the list of changes starts
			return s, err
		}
	}
	next.top, next.days, next.unreadable = sw.top, sw.looks, r.days.unreadable()
	if err := sw.compare(folders, r.opts.Progress); err != nil {
		return s, err
	}
	few := len(sw.dirty) > 0 && len(sw.dirty) <= someChanges && next.mark == changes.Mark
	if few && (r.opts.Checks == ForCapture || r.opts.Checks == AllFiles) && base != nil && base.n > manyChanges {
		v, err := r.viewOf(base, sw.dirty)
		return snapshot{view: v, state: next, stale: true, behind: true}, err
	}
	up := update{days: &r.days, base: base, progress: r.opts.Progress}
	if err := up.run(sw.dirty); err != nil {
		return s, err
	}
	var file []byte
	if base == nil || len(sw.dirty) > 0 {
		records, err := replaced(base, &up)
		if err != nil {
			return s, err
		}
		if base != nil {
			_ = base.close()
		}
		if base, file, err = inMemory(records); err != nil {
			return s, err
		}
	}
	next.index = base.id
	saved := keep
	v, err := r.viewOf(base, nil)
	if err != nil {
		return s, err
	}
	if next.bare, err = r.bareIn(v); err != nil {
		return s, err
	}
	if keep && file != nil {
		saved = r.store.WriteCache(store.ListedCache, file) == nil
	}
	if saved {
		saved = next.write(r.store) == nil // on failure the next list checks all files
		_ = r.store.RemoveCache(idsOfOld)  // it names conversations that may be removed later
	}
	return snapshot{view: v, state: next, saved: saved}, nil
}

// bareIn returns the folders without session.json.
func (r *refresher) bareIn(v *view) (folders []string, err error) {
	for i := range v.layout.n {
		f, err := v.fixed(i)
		if err != nil {
			return nil, err
		}
		flags, err := v.flags(i)
		if err != nil {
			return nil, err
		}
		if f.messages > 0 && flags&hasNotes == 0 {
			continue // what has messages and no session.json is damaged
		}
		row, err := v.row(i)
		if err != nil {
			return nil, err
		}
		for _, folder := range row.Folders() {
			if there, err := r.store.Folders().HasSession(folder); err == nil && !there {
				folders = append(folders, folder)
			}
		}
	}
	return folders, nil
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

// current returns a view in which the given folders are read again, and the rows at some
// positions are as their files are now.
func (r *refresher) current(v *view, again []string, positions func(*view) ([]int, error)) (*view, error) {
	read := map[string]bool{}
	for round := 0; ; round++ {
		if len(again) > 0 {
			for _, name := range again {
				read[name] = true
			}
			for i := range v.added {
				again = append(again, v.added[i].Folders()...)
			}
			for i := range v.gone {
				r, _, err := v.base.row(i)
				if err != nil {
					return nil, err
				}
				again = append(again, r.Folders()...)
			}
			var err error
			if v, err = r.viewOf(v.base, again); err != nil {
				return nil, err
			}
		}
		at, err := positions(v)
		if err != nil {
			return nil, err
		}
		if again, err = r.outdated(v, at, read); err != nil {
			return nil, err
		}
		if len(again) == 0 || round == rounds {
			return v, nil
		}
	}
}

// outdated returns the folders of rows whose files have changed since they were read,
// except those in read.
func (r *refresher) outdated(v *view, at []int, read map[string]bool) (folders []string, err error) {
	if len(at) > Looked {
		var volatile []int
		for _, i := range at {
			flags, err := v.flags(i)
			if err != nil {
				return nil, err
			}
			if flags&isVolatile != 0 {
				volatile = append(volatile, i)
			}
		}
		at = volatile
	}
	changed := make([]*Row, len(at))
	var failed atomic.Pointer[error]
	lookInParallel(len(at), func(k int) {
		c, err := v.record(at[k])
		if err != nil {
			failed.Store(&err)
			return
		}
		if read[c.Path] {
			return
		}
		if c.flags&isVolatile == 0 {
			if look, ok := r.store.Folders().Look(c.Path); ok && look == c.look {
				return
			}
		}
		changed[k] = &c.Row
	})
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	for _, r := range changed {
		if r != nil {
			folders = append(folders, r.Folders()...)
		}
	}
	return folders, nil
}
