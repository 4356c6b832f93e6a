package listing

import (
	"slices"
	"strings"

	"cortext/schema"
	"cortext/store"
	"cortext/store/parallel"
)

// An update rereads conversations and determines which rows of an index they replace. It
// reads everything that may belong to them: twins and waiting records.
type update struct {
	days     *dayFolders
	base     *index // nil: there is none
	waiting  []waiting
	progress func(done, of int)

	gone  map[int]bool            // replaced or removed rows
	read  map[string]*description // by folder
	added []*record               // sorted as a list is
}

// A waiting is a conversation with records outside the work tree.
type waiting struct{ path, id string }

// A description is the content of one folder.
type description struct {
	record
	there   bool // whether the folder exists
	grouped bool // whether it is described together with others
}

// knowsID reports whether the id of a conversation comes from its session.json.
func (r *record) knowsID() bool { return r.flags&knowsID != 0 }

// waitingIn lists the conversations of a workspace with waiting records, usually none.
func waitingIn(st *store.Store) (list []waiting) {
	for _, name := range st.Kept().WaitingPaths() {
		w := waiting{path: name}
		if c, err := st.Kept().Waiting(name, ""); err == nil {
			if sess, _, err := c.Session(); err == nil {
				w.id = sess.ID
			}
			_ = c.Close()
		}
		list = append(list, w)
	}
	return list
}

// run rereads the conversations in the given folders.
func (u *update) run(folders []string) error {
	u.gone, u.read = map[int]bool{}, make(map[string]*description, len(folders))
	folders = slices.Clone(folders)
	for _, w := range u.waiting {
		folders = append(folders, w.path)
	}
	next, err := u.withRows(folders)
	for _, w := range u.waiting {
		if err != nil {
			return err
		}
		var more []string
		more, err = u.sharing(w.id)
		next = append(next, more...)
	}
	for err == nil && len(next) > 0 {
		next, err = u.describe(next)
	}
	if err != nil {
		return err
	}
	u.group()
	u.collect()
	slices.SortFunc(u.added, compareRecords)
	return nil
}

func compareRecords(a, b *record) int { return compareRows(&a.Row, &b.Row) }

func compareRows(a, b *Row) int {
	if c := b.LastActive.Compare(a.LastActive); c != 0 {
		return c
	}
	return strings.Compare(b.Path, a.Path)
}

// withRows adds the other folders of each folder's row, and retires the rows.
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
		folders = append(folders, r.Folders()...)
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
			folders = append(folders, r.Folders()...)
		}
	}
	return folders, err
}

// describe reads folders and returns others that must be read because of them.
func (u *update) describe(folders []string) (next []string, err error) {
	made := make([]description, len(folders))
	var names []string
	for i, name := range folders {
		if u.read[name] == nil {
			u.read[name] = &made[i]
			names = append(names, name)
		}
	}
	counted := newCounter(len(names), u.progress)
	parallel.Each(len(names), func(i int) {
		defer counted.add()
		e, look, known, ok := u.days.store.Describe(names[i])
		if !ok {
			return
		}
		d := u.read[names[i]]
		d.record, d.there = record{Row: rowOf(e), look: look, sources: e.Session.Sources}, true
		if !known {
			d.flags |= isVolatile
		}
		if e.KnowsID() {
			d.flags |= knowsID
		}
	})
	missing := map[string]bool{}
	for _, name := range names {
		d := u.read[name]
		if !d.there {
			missing[dayOf(name)] = true
		}
		if d.there && d.knowsID() {
			more, err := u.sharing(d.ID)
			if err != nil {
				return nil, err
			}
			next = append(next, more...)
		}
	}
	for day := range missing {
		_, _ = u.days.foldersOf(day) // records the day if it cannot be read
	}
	return u.withRows(next)
}

// group finds the folders that are described together: twins, and those with waiting
// records.
func (u *update) group() {
	first := make(map[string]*description, len(u.read))
	waits := map[string]bool{}
	for _, w := range u.waiting {
		waits[w.path] = true
		if w.id != "" {
			waits["\n"+schema.IDKey(w.id)] = true
		}
	}
	twins := false
	for name, d := range u.read {
		if !d.there {
			continue
		}
		key := schema.IDKey(d.ID)
		if len(waits) > 0 && (waits[name] || d.knowsID() && waits["\n"+key]) {
			d.grouped = true
		}
		if !d.knowsID() {
			continue
		}
		if other, ok := first[key]; ok {
			d.grouped, other.grouped, twins = true, true, true
		} else {
			first[key] = d
		}
	}
	if !twins {
		return
	}
	// Records that wait for one twin concern all of them.
	for _, d := range u.read {
		if d.there && d.knowsID() && first[schema.IDKey(d.ID)].grouped {
			d.grouped = true
		}
	}
}

// collect makes the records.
func (u *update) collect() {
	var grouped []string
	for name, d := range u.read {
		switch {
		case !d.there:
		case d.grouped:
			grouped = append(grouped, name)
		default:
			u.added = append(u.added, &d.record)
		}
	}
	if len(grouped)+len(u.waiting) == 0 {
		return
	}
	slices.Sort(grouped)
	for _, e := range u.days.store.ListOf(grouped) {
		if e.Waiting && len(u.waiting) == 0 {
			continue // an index has only folders; the waiting ones are added to each view
		}
		r := record{Row: rowOf(e), flags: isVolatile, sources: e.Session.Sources}
		if e.KnowsID() {
			r.flags |= knowsID
		}
		u.added = append(u.added, &r)
	}
}
