package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"cortext/schema"
	"cortext/store"
)

// IDs is the cached index of the conversations by id.
type IDs struct{ store *store.Store }

// Seen returns a fingerprint of the conversation folders. It costs one stat per day.
func (i IDs) Seen() string {
	sum := sha256.New()
	root := filepath.Join(i.store.Root(), "conversations")
	days, _ := os.ReadDir(root)
	for _, d := range days {
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(sum, "%s %d\n", d.Name(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// idsFile is the cache file with the ids of all conversations.
const idsFile = "ids.json"

// An idIndex maps ids to conversation folders, so that looking up an id, as agents do,
// does not read a thousand conversations.
type idIndex struct {
	Seen string            `json:"seen"` // the conversations that existed
	Path map[string]string `json:"path"` // by lower-case id; empty if two have the id

	Folders map[string][]string `json:"folders,omitempty"` // of conversations in several folders, by id key
	Bare    []string            `json:"bare,omitempty"`    // folders without session.json, which git may restore
}

// read returns the cached ids if they match the current conversations.
func (i IDs) read() (known idIndex, ok bool) {
	b, ok := i.store.ReadCache(idsFile)
	return known, ok && json.Unmarshal(b, &known) == nil && known.Seen == i.Seen() && !slices.ContainsFunc(known.Bare, i.hasSession)
}

// hasSession reports whether there is a session.json in a folder.
func (i IDs) hasSession(folder string) bool {
	ok, err := i.store.Exists(path.Join(folder, ".session", "session.json"))
	return ok || err != nil
}

// Keep caches the ids for the next lookup. Capture calls it because it writes anyway;
// reading leaves nothing behind. If it fails, the next lookup only takes longer.
func (i IDs) Keep() {
	if _, ok := i.read(); ok {
		return
	}
	known := idIndex{Seen: i.Seen(), Path: map[string]string{}, Folders: map[string][]string{}}
	all, whole, err := i.store.ListWhole()
	if err != nil || !whole || len(all) == 0 {
		return
	}
	for _, e := range all {
		if !e.Waiting && (e.Session.CountedBytes == 0 || len(e.Damage)+len(e.Twins) > 0) && !i.hasSession(e.Path) {
			known.Bare = append(known.Bare, e.Path)
		}
		id := strings.ToLower(e.Session.ID)
		if _, twice := known.Path[id]; twice || e.Waiting || len(e.Twins) > 0 {
			known.Path[id] = ""
		} else {
			known.Path[id] = e.Path
		}
		if len(e.Twins) > 0 && !e.Waiting {
			known.Folders[schema.IDKey(id)] = append([]string{e.Path}, e.Twins...)
		}
	}
	if b, err := json.Marshal(known); err == nil {
		_ = i.store.WriteCache(idsFile, b)
	}
}

// Twinned returns the folders of a conversation if several have records of it, so that the
// writer merges them, or if a folder other than at has them. If the cache has no current
// index, Twinned builds one. That is rare, because it happens only after folders came or
// went.
func (i IDs) Twinned(id, at string) (store.Entry, bool) {
	known, ok := i.read()
	if !ok {
		i.Keep()
		known, ok = i.read()
	}
	folders := known.Folders[schema.IDKey(strings.ToLower(id))]
	if !ok || len(folders) == 0 {
		return store.Entry{}, false
	}
	others := folders
	if at == folders[0] {
		others = folders[1:]
	}
	if !slices.ContainsFunc(others, i.store.HasRecords) {
		return store.Entry{}, false
	}
	return store.Entry{Path: folders[0], Twins: folders[1:]}, true
}

// FullTwins lists the other folders of a conversation that still have records.
func (c Conversations) FullTwins(e store.Entry) (full []string) {
	for _, name := range e.Twins {
		if c.Store.HasRecords(name) {
			full = append(full, name)
		}
	}
	return full
}

// MergeTwins moves the records of a conversation in several folders into the logs of the
// first folder, before a write that the user asked for.
func (c Conversations) MergeTwins(e store.Entry) error {
	if len(e.Twins) == 0 || c.Tree.Operation() != "" {
		return nil
	}
	first, err := c.Store.Open(e)
	if err != nil {
		return err
	}
	defer first.Close()
	if c.Tree.Away(first) != "" {
		return nil
	}
	return first.Update(func(*store.Tx, *schema.Session) error { return nil })
}
