package listing

import (
	"maps"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/store"
)

// An update reads conversations again and says which rows of an index they replace. It
// reads everything that may have become part of one of them: twins, and what waits.
type update struct {
	store   *store.Store
	base    *index
	waiting []waiting

	gone    map[int]bool            // rows that no longer count
	read    map[string]*description // by folder
	added   []record
	special map[string]bool // folders that are described together
}

// A waiting is a conversation with records outside of the work tree.
type waiting struct{ path, id string }

// A description is what one folder says. Its entry is nil if the folder is gone.
type description struct {
	entry *store.Entry
	look  store.Look
	known bool
	row   Row
}

// waitingIn lists what waits in a workspace: usually nothing.
func waitingIn(st *store.Store) (list []waiting) {
	for _, name := range st.WaitingPaths() {
		w := waiting{path: name}
		if c, err := st.Waiting(name, ""); err == nil {
			if sess, _, err := c.Session(); err == nil {
				w.id = sess.ID
			}
			_ = c.Close()
		}
		list = append(list, w)
	}
	return list
}

// runUpdate reads the conversations in some folders again.
func runUpdate(st *store.Store, base *index, waits []waiting, folders []string, progress func(done, of int)) (*update, error) {
	u := &update{store: st, base: base, waiting: waits, gone: map[int]bool{}, read: map[string]*description{}, special: map[string]bool{}}
	next, err := u.withRows(folders)
	for _, w := range waits {
		if err != nil {
			return nil, err
		}
		next = append(next, w.path)
		var more []string
		more, err = u.sharing(w.id)
		next = append(next, more...)
	}
	for err == nil && len(next) > 0 {
		next, err = u.describe(next, progress)
	}
	if err != nil {
		return nil, err
	}
	u.group()
	u.collect()
	slices.SortFunc(u.added, compareRecords)
	return u, nil
}

func compareRecords(a, b record) int { return compareRows(&a.Row, &b.Row) }

func compareRows(a, b *Row) int {
	if c := b.LastActive.Compare(a.LastActive); c != 0 {
		return c
	}
	return strings.Compare(b.Path, a.Path)
}

// withRows adds to folders those of the rows that they are in, and retires the rows.
func (u *update) withRows(folders []string) ([]string, error) {
	if u.base == nil {
		return folders, nil
	}
	for _, name := range slices.Clone(folders) {
		row, ok, err := u.base.byFolder(name)
		if err != nil {
			return nil, err
		}
		if !ok || u.gone[row] {
			continue
		}
		r, _, err := u.base.row(row)
		if err != nil {
			return nil, err
		}
		u.gone[row] = true
		folders = append(append(folders, r.Path), r.Twins...)
	}
	return folders, nil
}

// sharing retires the rows of a conversation and returns their folders.
func (u *update) sharing(id string) (folders []string, err error) {
	if u.base == nil || id == "" {
		return nil, nil
	}
	rows, err := u.base.byKey(id)
	for _, i := range rows {
		if u.gone[i] {
			continue
		}
		r, f, err := u.base.row(i)
		if err != nil {
			return nil, err
		}
		if f.flags&knowsID != 0 && schema.IDKey(r.ID) == schema.IDKey(id) {
			u.gone[i] = true
			folders = append(append(folders, r.Path), r.Twins...)
		}
	}
	return folders, err
}

// describe reads folders and returns others that must be read because of them.
func (u *update) describe(folders []string, progress func(done, of int)) (next []string, err error) {
	var names []string
	for _, name := range folders {
		if u.read[name] == nil {
			u.read[name] = new(description)
			names = append(names, name)
		}
	}
	counted := newCounter(len(names), progress)
	inParallel(len(names), func(i int) {
		defer counted.add()
		d := u.read[names[i]]
		e, look, known, ok := u.store.Describe(names[i])
		if !ok {
			return
		}
		d.row, d.look, d.known = rowOf(e), look, known
		e.Session = &schema.Session{ID: e.Session.ID} // the rest is in the row
		d.entry = &e
	})
	for _, name := range names {
		if d := u.read[name]; d.entry != nil && d.entry.KnowsID() {
			more, err := u.sharing(d.entry.Session.ID)
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
	}
	return u.withRows(next)
}

// group finds the folders that are described together: twins, and those that something
// waits for.
func (u *update) group() {
	first := map[string]string{}
	waits := map[string]bool{}
	for _, w := range u.waiting {
		waits[w.path] = true
		if w.id != "" {
			waits["\n"+schema.IDKey(w.id)] = true
		}
	}
	for name, d := range u.read {
		if d.entry == nil {
			continue
		}
		key := schema.IDKey(d.entry.Session.ID)
		knows := d.entry.KnowsID()
		if waits[name] || knows && waits["\n"+key] {
			u.special[name] = true
		}
		if !knows {
			continue
		}
		if other, ok := first[key]; ok {
			u.special[name], u.special[other] = true, true
		} else {
			first[key] = name
		}
	}
	// What waits for one twin concerns all of them.
	for name, d := range u.read {
		if d.entry != nil && d.entry.KnowsID() && u.special[first[schema.IDKey(d.entry.Session.ID)]] {
			u.special[name] = true
		}
	}
}

// collect makes the records.
func (u *update) collect() {
	for name, d := range u.read {
		if d.entry == nil || u.special[name] {
			continue
		}
		r := record{Row: d.row, look: d.look}
		if !d.known {
			r.flags |= isVolatile
		}
		if d.entry.KnowsID() {
			r.flags |= knowsID
		}
		u.added = append(u.added, r)
	}
	if len(u.special)+len(u.waiting) == 0 {
		return
	}
	for _, e := range u.store.ListOf(slices.Sorted(maps.Keys(u.special))) {
		r := record{Row: rowOf(e), flags: isVolatile}
		if e.KnowsID() {
			r.flags |= knowsID
		}
		u.added = append(u.added, r)
	}
}
