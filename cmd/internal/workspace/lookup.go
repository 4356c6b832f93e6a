package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/find"
	"cortext/schema"
	"cortext/store"
)

// A NotFoundError reports that no conversation matches a query.
type NotFoundError struct {
	Query string
	Near  []store.Entry // the nearest, best first
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("no conversation matches %q", e.Query) }

// An AmbiguousError reports that several conversations match a query.
type AmbiguousError struct {
	Query      string // empty: no query
	Candidates []store.Entry
}

func (e *AmbiguousError) Error() string {
	if e.Query == "" {
		return fmt.Sprintf("which conversation is meant? there are %d", len(e.Candidates))
	}
	return fmt.Sprintf("%q matches %d conversations", e.Query, len(e.Candidates))
}

// ErrNoConversation is returned if a command needs the current conversation and there is
// none.
var ErrNoConversation = errors.New("no conversation is active")

// nearest is how many conversations are suggested if none matches.
const nearest = 3

// Pick returns the one conversation that query matches. The error is a
// [*NotFoundError] or an [*AmbiguousError].
func (w *Workspace) Pick(query string) (store.Entry, error) {
	if e, ok := w.byID(query); ok {
		return e, nil
	}
	all, err := w.Store.List()
	if err != nil {
		return store.Entry{}, err
	}
	hits, err := match(all, query)
	var missing *NotFoundError
	if errors.As(err, &missing) {
		return w.pickOutside(query, err)
	}
	if err != nil {
		return store.Entry{}, err
	}
	if len(hits) > 1 {
		return store.Entry{}, &AmbiguousError{Query: query, Candidates: hits}
	}
	return hits[0], nil
}

// match returns the conversations that match query, best first; at least one.
func match(all []store.Entry, query string) ([]store.Entry, error) {
	items := make([]find.Item, len(all))
	for i, e := range all {
		items[i] = find.Item{
			ID:      e.Session.ID,
			Folder:  strings.TrimPrefix(e.Path, "conversations/"),
			Title:   e.Session.DisplayTitle(),
			Summary: e.Session.ContextSummary,
		}
	}
	take := func(at []int) []store.Entry {
		list := make([]store.Entry, len(at))
		for i, n := range at {
			list[i] = all[n]
		}
		return list
	}
	if hits := find.Match(items, query); len(hits) > 0 {
		return take(hits), nil
	}
	return nil, &NotFoundError{Query: query, Near: take(find.Nearest(items, query, nearest))}
}

// Entry returns the list entry of the conversation at a path, whether its folder is in
// the work tree or its records wait.
func (w *Workspace) Entry(path string) (store.Entry, error) {
	c, err := w.Store.Conversation(path)
	waiting := false
	if errors.Is(err, store.ErrNotFound) && slices.Contains(w.Store.WaitingPaths(), path) {
		waiting = true
		c, err = w.Store.Waiting(path, "")
	}
	if errors.Is(err, store.ErrNotFound) && w.Outside(path) {
		return w.entryOutside(path)
	}
	if err != nil {
		return store.Entry{}, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	return store.Entry{Path: path, Session: s, Damage: damage, Waiting: waiting}, err
}

// ByConversation returns the conversation with an id, wherever its folder is.
func (w *Workspace) ByConversation(id string) (store.Entry, bool, error) {
	if e, ok := w.byID(id); ok {
		return e, true, nil
	}
	all, err := w.Store.List()
	if err != nil {
		return store.Entry{}, false, err
	}
	i := slices.IndexFunc(all, func(e store.Entry) bool { return schema.SameConversation(e.Session.ID, id) })
	if i < 0 {
		return store.Entry{}, false, nil
	}
	return all[i], true, nil
}

// Seen returns a fingerprint of the conversation folders. It costs one stat per day.
func (w *Workspace) Seen() string {
	sum := sha256.New()
	root := filepath.Join(w.Store.Root(), "conversations")
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

// readIDs returns the cached ids if they match the current conversations.
func (w *Workspace) readIDs() (known idIndex, ok bool) {
	b, ok := w.Store.ReadCache(idsFile)
	return known, ok && json.Unmarshal(b, &known) == nil && known.Seen == w.Seen() && !slices.ContainsFunc(known.Bare, w.hasSession)
}

// hasSession reports whether there is a session.json in a folder.
func (w *Workspace) hasSession(folder string) bool {
	ok, err := w.Store.Exists(path.Join(folder, ".session", "session.json"))
	return ok || err != nil
}

// byID returns the conversation with an id, if the cache has it.
func (w *Workspace) byID(id string) (store.Entry, bool) {
	id = strings.ToLower(id)
	known, ok := w.readIDs()
	if !ok || known.Path[id] == "" {
		return store.Entry{}, false
	}
	e, err := w.Entry(known.Path[id])
	return e, err == nil && strings.EqualFold(e.Session.ID, id)
}

// KeepIDs caches the ids for the next lookup. Capture calls it because it writes anyway;
// reading leaves nothing behind. If it fails, the next lookup only takes longer.
func (w *Workspace) KeepIDs() {
	if _, ok := w.readIDs(); ok {
		return
	}
	known := idIndex{Seen: w.Seen(), Path: map[string]string{}, Folders: map[string][]string{}}
	all, whole, err := w.Store.ListWhole()
	if err != nil || !whole || len(all) == 0 {
		return
	}
	for _, e := range all {
		if !e.Waiting && (e.Session.CountedBytes == 0 || len(e.Damage)+len(e.Twins) > 0) && !w.hasSession(e.Path) {
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
		_ = w.Store.WriteCache(idsFile, b)
	}
}

// Open opens a listed conversation for reading, with git's copy of its logs if the sparse
// checkout leaves them out. The error is a [*git.NotFetchedError] if those are not on
// this machine.
func (w *Workspace) Open(e store.Entry) (*store.Conversation, error) {
	c, err := w.Store.Open(e)
	if err != nil {
		return nil, err
	}
	return c, w.borrow(c)
}

// PickAt is Pick among the conversations that existed at a given time; more adds
// conversations that are not listed yet.
func (w *Workspace) PickAt(query string, at time.Time, more []store.Entry) (store.Entry, error) {
	all, err := w.Store.List()
	if err != nil {
		return store.Entry{}, err
	}
	all = slices.DeleteFunc(append(all, more...), func(e store.Entry) bool { return e.Session.CreatedAt.Time().After(at) })
	hits, err := match(all, query)
	if err == nil && len(hits) > 1 {
		err = &AmbiguousError{Query: query, Candidates: hits}
	}
	if err != nil {
		return store.Entry{}, err
	}
	return hits[0], nil
}
