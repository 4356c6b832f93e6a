package flow

import (
	"encoding/json"
	"strings"

	"cortext/store"
)

// Pick returns the conversation that query means.
func (w *Workspace) Pick(query string) (store.Entry, error) {
	if e, ok := w.byID(query); ok {
		return e, nil
	}
	all, err := w.Store.List()
	if err != nil {
		return store.Entry{}, err
	}
	hits, err := w.match(all, query)
	if err != nil {
		return store.Entry{}, err
	}
	if len(hits) > 1 {
		return store.Entry{}, &AmbiguousError{Query: query, Candidates: hits}
	}
	return hits[0], nil
}

// idsFile is the file of the cache with the ids of all conversations.
const idsFile = "ids.json"

// An idIndex has the folders of the conversations by their ids: whoever names an id, as
// agents do, need not wait until a thousand conversations are read.
type idIndex struct {
	Seen string            `json:"seen"` // the conversations that there were
	Path map[string]string `json:"path"` // by id, in lower case; empty where two have it
}

// readIDs returns the ids that the cache has, if it is of the conversations that
// there are.
func (w *Workspace) readIDs() (known idIndex, ok bool) {
	b, ok := w.Store.ReadCache(idsFile)
	return known, ok && json.Unmarshal(b, &known) == nil && known.Seen == w.conversationsSeen()
}

// byID returns the conversation with an id, if the cache knows it.
func (w *Workspace) byID(id string) (store.Entry, bool) {
	id = strings.ToLower(id)
	known, ok := w.readIDs()
	if !ok || known.Path[id] == "" {
		return store.Entry{}, false
	}
	e, err := w.entry(known.Path[id])
	return e, err == nil && strings.EqualFold(e.Session.ID, id)
}

// keepIDs remembers the ids, for who looks for one next. It is called where capture
// writes anyway: reading leaves nothing behind. A failure costs the next look time
// only.
func (w *Workspace) keepIDs() {
	if _, ok := w.readIDs(); ok {
		return
	}
	known := idIndex{Seen: w.conversationsSeen(), Path: map[string]string{}}
	all, err := w.Store.List()
	if err != nil || len(all) == 0 {
		return
	}
	for _, e := range all {
		id := strings.ToLower(e.Session.ID)
		if _, twice := known.Path[id]; twice {
			known.Path[id] = ""
		} else {
			known.Path[id] = e.Path
		}
	}
	if b, err := json.Marshal(known); err == nil {
		_ = w.Store.WriteCache(idsFile, b)
	}
}
