package listing

import (
	"maps"
	"slices"
	"sync"

	"cortext/store"
)

// A day is the folder of a day and its look. A look of "" is unknown.
type day struct{ name, look string }

// DayFolders reads the folders of days, and records those that cannot be read. It is safe
// for concurrent use.
type dayFolders struct {
	store *store.Store
	mu    sync.Mutex
	bad   map[string]bool
}

// foldersOf lists the conversations of a day, unsorted. ok is false if nothing in the day's
// folder can be read.
func (d *dayFolders) foldersOf(name string) (folders []string, ok bool) {
	folders, err := d.store.Folders().Of(name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		delete(d.bad, name)
		return folders, true
	}
	if d.bad == nil {
		d.bad = map[string]bool{}
	}
	d.bad[name] = true
	return nil, false
}

// unreadable returns the sorted days whose folders could not be read at the last attempt.
func (d *dayFolders) unreadable() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.bad))
}

// compare returns the folders of a day that were added or removed since an index was made.
func (d *dayFolders) compare(base *index, name string) (dirty []string, err error) {
	folders, _ := d.foldersOf(name)
	rows, err := base.ofDay(name)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, i := range rows {
		r, _, err := base.row(i)
		if err != nil {
			return nil, err
		}
		for _, folder := range r.Folders() {
			if dayOf(folder) == name {
				known[folder] = true
			}
		}
	}
	for _, folder := range folders {
		if !known[folder] {
			dirty = append(dirty, folder)
		}
		delete(known, folder)
	}
	for folder := range known {
		dirty = append(dirty, folder)
	}
	return dirty, nil
}
