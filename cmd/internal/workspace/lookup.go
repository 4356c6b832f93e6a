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

// A NotFoundError says that no conversation matches a query.
type NotFoundError struct {
	Query string
	Near  []store.Entry // the nearest, best first
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("no conversation matches %q", e.Query) }

// An AmbiguousError says that several conversations match a query.
type AmbiguousError struct {
	Query      string // empty: none was given
	Candidates []store.Entry
}

func (e *AmbiguousError) Error() string {
	if e.Query == "" {
		return fmt.Sprintf("which conversation is meant? there are %d", len(e.Candidates))
	}
	return fmt.Sprintf("%q matches %d conversations", e.Query, len(e.Candidates))
}

// ErrNoConversation is returned where a command means the current conversation
// and there is none.
var ErrNoConversation = errors.New("no conversation is active")

// nearest is how many conversations are named if none matches.
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

// match returns the conversations that query matches, best first; at least one.
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

// Entry returns the conversation at a path as a list has it, whether its folder is
// in the work tree or its records wait.
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

// idsFile is the file of the cache with the ids of all conversations.
const idsFile = "ids.json"

// An idIndex has the folders of the conversations by their ids: whoever names an id, as
// agents do, need not wait until a thousand conversations are read.
type idIndex struct {
	Seen string            `json:"seen"` // the conversations that there were
	Path map[string]string `json:"path"` // by id, in lower case; empty where two have it

	Folders map[string][]string `json:"folders,omitempty"` // of conversations that are in several, by the key of the id
	Bare    []string            `json:"bare,omitempty"`    // folders without session.json, which git may bring
}

// readIDs returns the ids that the cache has, if it is of the conversations that
// there are.
func (w *Workspace) readIDs() (known idIndex, ok bool) {
	b, ok := w.Store.ReadCache(idsFile)
	return known, ok && json.Unmarshal(b, &known) == nil && known.Seen == w.Seen() && !slices.ContainsFunc(known.Bare, w.hasSession)
}

// hasSession reports whether there is a session.json in a folder.
func (w *Workspace) hasSession(folder string) bool {
	ok, err := w.Store.Exists(path.Join(folder, ".session", "session.json"))
	return ok || err != nil
}

// byID returns the conversation with an id, if the cache knows it.
func (w *Workspace) byID(id string) (store.Entry, bool) {
	id = strings.ToLower(id)
	known, ok := w.readIDs()
	if !ok || known.Path[id] == "" {
		return store.Entry{}, false
	}
	e, err := w.Entry(known.Path[id])
	return e, err == nil && strings.EqualFold(e.Session.ID, id)
}

// KeepIDs remembers the ids for the next lookup. Capture calls it, since it writes
// anyway: reading leaves nothing behind. A failure costs the next lookup time only.
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

// Open opens a conversation of a list for reading, with what git has of it where the
// sparse checkout leaves its logs out. The error is a [*git.NotFetchedError] if those
// are not on this machine.
func (w *Workspace) Open(e store.Entry) (*store.Conversation, error) {
	c, err := w.Store.Open(e)
	if err != nil {
		return nil, err
	}
	return c, w.borrow(c)
}

// PickAt is Pick among the conversations that there were at a time; more are not listed
// yet.
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
