package capture

import (
	"strings"

	"cortext/store"
)

// headsName is the cache file with the results of reading the beginnings of transcripts.
// Most transcripts never belong to a conversation. The file shows that they have not
// changed, so they need not be opened.
const headsName = "heads.json"

// A head is what was found in a file, together with the state of the file.
type head struct {
	Look  string `json:"look"`
	Found string `json:"found"`
}

// heads are the cached results, by kind of search and by file.
type heads struct {
	store   *store.Store
	known   map[string]head // nil: not read yet
	used    map[string]bool // by file
	changed bool
}

// load reads the cache file, which each command does once.
func (h *heads) load() {
	if h.known == nil && (!readCached(h.store, headsName, &h.known) || h.known == nil) {
		h.known = map[string]head{}
	}
}

// find returns what read finds in a file. It does not call read while the file is
// unchanged.
func (h *heads) find(what, file string, read func() (string, error)) (string, error) {
	h.load()
	look, ok := store.LookAt(file)
	key := what + " " + file
	have, known := h.known[key]
	if h.used[file] = true; ok && known && have.Look == look {
		return have.Found, nil
	}
	found, err := read()
	if ok && err == nil {
		h.known[key], h.changed = head{look, found}, true
	}
	return found, err
}

// prune drops entries for files that were not used, after a complete scan.
func (h *heads) prune() {
	h.load()
	for key := range h.known {
		if _, file, _ := strings.Cut(key, " "); !h.used[file] {
			delete(h.known, key)
			h.changed = true
		}
	}
}

// write saves the results.
func (h *heads) write() {
	if !h.changed {
		return
	}
	writeCached(h.store, headsName, h.known)
	h.changed = false
}
