package search

import (
	"errors"
	"slices"
	"time"

	"cortext/cmd/internal/search/grams"
	"cortext/store"
)

// forgetWait is how long Forget waits for a process that updates the index.
const forgetWait = 10 * time.Second

// Forget removes the parts of the index of a workspace that are about conversations whose
// folder is gone, since they have traces of text. The next search treats whatever else they
// covered as new.
func Forget(st *store.Store) error {
	if len(st.ListCache(indexDir)) == 0 {
		return nil
	}
	unlock, err := st.LockCache(indexDir, forgetWait)
	if err != nil {
		return err
	}
	defer unlock()
	there := logs(st.Folders())
	x := OpenIndex(st.Cache)
	defer x.Close()
	names := x.damaged // what they are about is not known
	for _, s := range x.shards {
		if slices.ContainsFunc(s.Entries, func(e grams.Entry) bool { return !there[e.Log] }) {
			names = append(names, s.name)
		}
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, x.cache.RemoveCache(name))
	}
	return errors.Join(errs...)
}

// logs returns the hashes of the names of all logs that can be read.
func logs(folders store.Folders) map[uint64]bool {
	there := map[uint64]bool{}
	days, _ := folders.Days()
	for _, day := range days {
		paths, _ := folders.Of(day)
		for _, p := range paths {
			names, _, _ := folders.LogStates(p)
			for _, name := range names {
				there[hash(name)] = true
			}
		}
	}
	return there
}
