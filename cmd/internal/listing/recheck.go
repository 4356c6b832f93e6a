package listing

import (
	"errors"
	"sync/atomic"
)

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
	v, err := l.current(l.view.Load(), nil, func(v *view) (at []int, err error) {
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

// current returns a view in which the given folders are read again, and the rows at some
// positions are as their files are now.
func (l *Listing) current(v *view, again []string, positions func(*view) ([]int, error)) (*view, error) {
	read := map[string]bool{}
	for round := 0; ; round++ {
		if len(again) > 0 {
			for _, name := range again {
				read[name] = true
			}
			for i := range v.added {
				again = append(append(again, v.added[i].Path), v.added[i].Twins...)
			}
			for i := range v.gone {
				r, _, err := v.base.row(i)
				if err != nil {
					return nil, err
				}
				again = append(append(again, r.Path), r.Twins...)
			}
			var err error
			if v, err = l.viewOf(v.base, again); err != nil {
				return nil, err
			}
		}
		at, err := positions(v)
		if err != nil {
			return nil, err
		}
		if again, err = l.outdated(v, at, read); err != nil {
			return nil, err
		}
		if len(again) == 0 || round == rounds {
			return v, nil
		}
	}
}

// outdated returns the folders of rows whose files have changed since they were read,
// except those in read.
func (l *Listing) outdated(v *view, at []int, read map[string]bool) (folders []string, err error) {
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
	inParallel(len(at), func(k int) {
		r, err := v.record(at[k])
		if err != nil {
			failed.Store(&err)
			return
		}
		if read[r.Path] {
			return
		}
		if r.flags&isVolatile == 0 {
			if look, ok := l.store.Look(r.Path); ok && look == r.look {
				return
			}
		}
		changed[k] = &r.Row
	})
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	for _, r := range changed {
		if r != nil {
			folders = append(append(folders, r.Path), r.Twins...)
		}
	}
	return folders, nil
}
