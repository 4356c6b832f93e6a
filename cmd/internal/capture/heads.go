package capture

import (
	"encoding/json"

	"cortext/store"
)

// headsName is the file of the cache with what was found at the beginnings of transcripts,
// of which most are never ours: that they have not changed is seen without opening them.
const headsName = "heads.json"

// A head is what was found in a file, and how the file looked.
type head struct {
	Look  string `json:"look"`
	Found string `json:"found"`
}

// heads are the beginnings that are known, by the file and what was looked for.
type heads struct {
	known   map[string]head
	used    map[string]head
	changed bool
}

func (c *Capture) readHeads() *heads {
	h := &heads{used: map[string]head{}}
	if b, ok := c.ws.Store.ReadCache(headsName); !ok || json.Unmarshal(b, &h.known) != nil {
		h.known = map[string]head{}
	}
	return h
}

// of returns what read finds in a file, which it need not call while the file looks as it
// did.
func (h *heads) of(file string, read func() (string, error)) (string, error) {
	look, ok := store.LookAt(file)
	if have, known := h.known[file]; ok && known && have.Look == look {
		h.used[file] = have
		return have.Found, nil
	}
	found, err := read()
	if ok && err == nil {
		h.used[file] = head{look, found}
		h.changed = true
	}
	return found, err
}

// write keeps what was used. A failure costs the next look time only.
func (h *heads) write(c *Capture) {
	if !h.changed && len(h.used) == len(h.known) {
		return
	}
	if b, err := json.Marshal(h.used); err == nil {
		_ = c.ws.Store.WriteCache(headsName, b)
	}
}
