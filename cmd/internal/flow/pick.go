package flow

import (
	"encoding/json"
	"strings"

	"cortext/store"
)

// Pick returns the conversation that query means.
func (w *Workspace) Pick(query string) (store.Entry, error) {
	seen := w.conversationsSeen()
	if e, ok := w.byID(seen, query); ok {
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
	w.writeIDs(seen, all)
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

// byID returns the conversation with an id, if the cache is of the conversations
// that were seen.
func (w *Workspace) byID(seen, id string) (store.Entry, bool) {
	id = strings.ToLower(id)
	var known idIndex
	b, ok := w.Store.ReadCache(idsFile)
	if !ok || json.Unmarshal(b, &known) != nil || known.Seen != seen || known.Path[id] == "" {
		return store.Entry{}, false
	}
	e, err := w.entry(known.Path[id])
	return e, err == nil && strings.EqualFold(e.Session.ID, id)
}

// writeIDs remembers the ids, unless that were all that reading leaves behind. A
// failure costs the next look time only.
func (w *Workspace) writeIDs(seen string, all []store.Entry) {
	if !w.Store.HasCache() {
		return
	}
	known := idIndex{Seen: seen, Path: map[string]string{}}
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
