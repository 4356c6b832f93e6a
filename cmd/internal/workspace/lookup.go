package workspace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/listing"
	"cortext/schema"
	"cortext/store"
)

// A NotFoundError reports that no conversation matches a query.
type NotFoundError struct {
	Query string
	Near  []store.Entry // the nearest, best first
}

func (e *NotFoundError) Error() string {
	if e.Query == "" {
		return "no conversation matches the flags"
	}
	return fmt.Sprintf("no conversation matches %.100q", e.Query)
}

// An AmbiguousError reports that several conversations match a query.
type AmbiguousError struct {
	Query      string        // empty: no query
	Candidates []store.Entry // the first of them
	More       int           // number of the others
}

// Count returns how many conversations match.
func (e *AmbiguousError) Count() int { return len(e.Candidates) + e.More }

func (e *AmbiguousError) Error() string {
	if e.Query == "" {
		if e.Count() == 1 {
			return "which conversation? there is one"
		}
		return fmt.Sprintf("which conversation? there are %d", e.Count())
	}
	return fmt.Sprintf("%q matches %d conversations", e.Query, e.Count())
}

// A WeakError reports that a query describes a conversation but does not name it, and nobody was
// asked whether it is the one.
type WeakError struct {
	Query string
	Match store.Entry
}

func (e *WeakError) Error() string {
	return fmt.Sprintf("%q only describes a conversation: it is neither its id, its folder nor words of its title", e.Query)
}

// Named reports whether a query names one of the entries; see [find.Item.Names].
func Named(query string, entries []store.Entry) bool {
	return slices.ContainsFunc(entries, func(e store.Entry) bool {
		it := item(e)
		return it.Names(query)
	})
}

// ErrNoConversation is returned if a command needs the current conversation and there is
// none.
var ErrNoConversation = errors.New("no conversation is active")

// ErrEmpty is returned if a command needs any conversation and there is none.
var ErrEmpty = errors.New("there is no conversation in this work tree")

// Conversations finds and opens the conversations of a workspace, wherever their records
// are: in the work tree, where they wait, or only in git.
type Conversations struct {
	Store *store.Store
	Tree  *Tree
	Index Index
}

// Listing returns the conversations as lists show them, from an index. progress is called
// while many files are examined, and may be nil.
func (w Conversations) Listing(progress func(done, of int)) (*listing.Listing, error) {
	return listing.Open(w.Store, w.listingOptions(progress))
}

func (w Conversations) listingOptions(progress func(done, of int)) listing.Options {
	return listing.Options{Git: func() string { return git.State(w.Store.Root()) }, Progress: progress}
}

// RefreshListing makes listings see what people edited by hand.
func (w Conversations) RefreshListing(progress func(done, of int)) error {
	_, err := listing.Refresh(w.Store, w.listingOptions(progress))
	return err
}

// refreshLock is held while a process refreshes the listing in the background. With many
// conversations that takes seconds, during which every list would start another refresh.
const refreshLock = "listing-refresh"

// RefreshListingAlone is RefreshListing, unless another process is running it or the index
// cannot be written: on a read-only disk, each list would repeat the work in vain. On a full one,
// it is repeated once a minute.
func (w Conversations) RefreshListingAlone() error {
	unlock, err := w.Store.LockCache(refreshLock, 0)
	if err != nil {
		return nil
	}
	defer unlock()
	saved, err := listing.Refresh(w.Store, w.listingOptions(nil))
	if !saved {
		_ = w.Store.Postpone(refreshLock) // on failure, the next list repeats the work
	}
	return err
}

// CanRefreshListing reports whether a call of RefreshListingAlone would do anything.
func (w Conversations) CanRefreshListing() bool { return w.Store.CanLockCache(refreshLock) }

// ForgetRemoved deletes everything about removed conversations from the index of lists.
func (w Conversations) ForgetRemoved(progress func(done, of int)) error {
	return listing.Forget(w.Store, w.listingOptions(progress))
}

// nearest is how many conversations are suggested if none matches.
const nearest = 3

// candidates is how many conversations an [AmbiguousError] holds at most, as many as are shown.
// Each is read from its files.
const candidates = 20

// Pick returns the one conversation that query matches. The error is a
// [*NotFoundError] or an [*AmbiguousError].
func (w Conversations) Pick(query string) (store.Entry, error) {
	entries, err := w.PickEach([]string{query})
	if err != nil {
		return store.Entry{}, err
	}
	return entries[0], nil
}

// PickEach is Pick for several queries. It opens the listing once: with many changes since
// its index was made, that takes longer than a lookup. Conversations that several queries
// match are returned once. It ends at the first error.
func (w Conversations) PickEach(queries []string) (entries []store.Entry, err error) {
	l, err := w.Listing(nil)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	have := map[string]bool{}
	for _, query := range queries {
		hits, more, err := w.matchingAnywhere(l, query, candidates)
		switch {
		case err != nil:
			return nil, err
		case len(hits)+more > 1:
			return nil, &AmbiguousError{Query: query, Candidates: hits, More: more}
		}
		if e := hits[0]; !have[e.Path] {
			have[e.Path] = true
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// Matching returns every conversation that matches query and that f selects, best first; a
// nil f selects all. Without a query, all of them match, the most recently active first.
// The error is a [*NotFoundError] if there is none.
func (w Conversations) Matching(query string, f *listing.Filter) (hits []store.Entry, err error) {
	l, err := w.Listing(nil)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if f == nil {
		hits, _, err = w.matchingAnywhere(l, query, math.MaxInt)
	} else {
		hits, _, err = matching(l, query, *f, math.MaxInt)
	}
	return hits, err
}

// matchingAnywhere is the function matching for all conversations, and for those that only git
// has if no other matches.
func (w Conversations) matchingAnywhere(l *listing.Listing, query string, most int) (entries []store.Entry, more int, err error) {
	entries, more, err = matching(l, query, everything, most)
	if errors.As(err, new(*NotFoundError)) {
		entries, err = w.matchingOutside(query, err)
	}
	return entries, more, err
}

// everything selects all conversations.
var everything = listing.Filter{All: true, Archived: true}

// Choices returns the conversations in the order of a selection list: the most recently
// active first, completed ones last. Archived ones are in it only if there are no others.
func (w Conversations) Choices() ([]store.Entry, error) {
	l, err := w.Listing(nil)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	all, _, _, err := found(l, "", listing.Filter{All: true}, math.MaxInt)
	if err == nil && len(all) == 0 {
		all, _, _, err = found(l, "", everything, math.MaxInt)
	}
	completed := func(e store.Entry) bool { return e.Session.Status == schema.Completed }
	return append(slices.DeleteFunc(slices.Clone(all), completed), slices.DeleteFunc(all, func(e store.Entry) bool { return !completed(e) })...), err
}

// Latest returns the conversation that was active last. The error is [ErrEmpty] if there is
// none.
func (w Conversations) Latest() (store.Entry, error) {
	l, err := w.Listing(nil)
	if err != nil {
		return store.Entry{}, err
	}
	defer l.Close()
	p, err := l.Page(listing.Selection{Filter: everything, Limit: 1})
	if err != nil {
		return store.Entry{}, err
	}
	if p.Len() == 0 {
		return store.Entry{}, ErrEmpty
	}
	r := p.Row(0)
	return l.Read(&r)
}

// matching returns up to most of the conversations that a filter selects and a query
// matches, best first, and at least one. more is the number of the others. If one differs
// from its row in the listing, or if none matches and the last check of all files was a
// while ago, it checks all files first: someone may have edited them.
func matching(l *listing.Listing, query string, f listing.Filter, most int) (entries []store.Entry, more int, err error) {
	entries, more, current, err := found(l, query, f, most)
	if err != nil || !current || len(entries) == 0 && l.Stale() {
		if err := l.Refresh(); err != nil {
			return nil, 0, err
		}
		entries, more, _, err = found(l, query, f, most)
	}
	if err != nil || len(entries) > 0 {
		return entries, more, err
	}
	near, _, err := l.Entries(l.Nearest(query, f, nearest))
	if err == nil {
		err = &NotFoundError{Query: query, Near: near}
	}
	return nil, 0, err
}

// found reads the first of what a query matches; see [listing.Listing.Entries].
func found(l *listing.Listing, query string, f listing.Filter, most int) (entries []store.Entry, more int, current bool, err error) {
	var hits []int
	var of int
	if query == "" {
		hits = l.Select(f)
		of = len(hits)
		hits = hits[:min(of, most)]
	} else {
		hits, of, _ = l.First(query, f, most)
	}
	entries, current, err = l.Entries(hits)
	return entries, of - len(hits), current, err
}

// match returns the conversations that match query, best first; at least one.
func match(all []store.Entry, query string) ([]store.Entry, error) {
	items := make([]find.Item, len(all))
	for i, e := range all {
		items[i] = item(e)
	}
	if hits, _ := find.Match(items, query); len(hits) > 0 {
		return selected(all, hits), nil
	}
	return nil, &NotFoundError{Query: query, Near: selected(all, find.Nearest(items, query, nearest))}
}

func item(e store.Entry) find.Item {
	return find.Item{
		ID:      e.Session.ID,
		Folder:  strings.TrimPrefix(e.Path, "conversations/"),
		Title:   e.Session.DisplayTitle(),
		Summary: e.Session.ContextSummary,
		Prompt:  e.Session.Description,
		Tags:    e.Session.Tags,
	}
}

// selected returns the entries at some positions.
func selected(all []store.Entry, at []int) []store.Entry {
	list := make([]store.Entry, len(at))
	for i, n := range at {
		list[i] = all[n]
	}
	return list
}

// Entry returns the list entry of the conversation at the given path, whether its folder is
// in the work tree or its records wait.
func (w Conversations) Entry(path string) (store.Entry, error) {
	c, err := w.Store.Conversation(path)
	waiting := false
	if errors.Is(err, store.ErrNotFound) && slices.Contains(w.Store.Kept().WaitingPaths(), path) {
		waiting = true
		c, err = w.Store.Kept().Waiting(path, "")
	}
	if errors.Is(err, store.ErrNotFound) && w.Tree.Outside(path) {
		return w.entryOutside(path)
	}
	if err != nil {
		return store.Entry{}, err
	}
	defer c.Close()
	s, damage, err := c.Session()
	return store.Entry{Path: path, Session: s, Damage: damage, Waiting: waiting}, err
}

// ByConversation returns the conversation with the given id, wherever its folder is.
func (w Conversations) ByConversation(id string) (store.Entry, bool, error) {
	if e, ok := w.byID(id); ok {
		return e, true, nil
	}
	all, err := w.Store.List() // it may have come by hand
	if err != nil {
		return store.Entry{}, false, err
	}
	i := slices.IndexFunc(all, func(e store.Entry) bool { return schema.SameConversation(e.Session.ID, id) })
	if i < 0 {
		return store.Entry{}, false, nil
	}
	return all[i], true, nil
}

// byID returns the conversation with the given id, if the index has it.
func (w Conversations) byID(id string) (store.Entry, bool) {
	l, err := w.Index.open(listing.OnlyFolders)
	if err != nil {
		return store.Entry{}, false
	}
	defer l.Close()
	at, ok := l.ByID(id)
	if !ok {
		return store.Entry{}, false
	}
	e, err := l.Entry(at)
	return e, err == nil && schema.SameConversation(e.Session.ID, id)
}

// Open opens a listed conversation for reading, with git's copy of its logs if the sparse
// checkout leaves them out. The error is a [*git.NotFetchedError] if those are not on
// this machine.
func (w Conversations) Open(e store.Entry) (*store.Conversation, error) {
	c, err := w.Store.Open(e)
	if err != nil {
		return nil, err
	}
	return c, w.Tree.borrow(c)
}

// PickAt is Pick among the conversations that existed at a given time; more adds
// conversations that are not listed yet.
func (w Conversations) PickAt(query string, at time.Time, more []store.Entry) (store.Entry, error) {
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

// ConversationID returns the id of the conversation at the given path.
func (w Conversations) ConversationID(path string) (string, error) {
	e, err := w.Entry(path)
	if err != nil {
		return "", err
	}
	return e.Session.ID, nil
}

// Conversation opens a conversation for writing: in the work tree, unless [Tree.Away] says
// that it must not be written there, otherwise where records wait. The error is
// [store.ErrNotFound] if this work tree knows nothing about it.
func (w Conversations) Conversation(path string) (*store.Conversation, error) {
	c, err := w.Store.Conversation(path)
	switch {
	case err == nil && w.Tree.Away(c) == "":
		return c, nil
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return nil, err
	case err != nil && !slices.Contains(w.Store.Kept().WaitingPaths(), path) && !w.Tree.Outside(path):
		return nil, err
	}
	return w.waiting(path)
}

// Edit changes the metadata of a conversation and returns the result. A change of
// anything but the status or the time does not make the conversation one that continues in
// this work tree; see [Status.IsHere].
func (c Conversations) Edit(e store.Entry, f func(*schema.Session) error) (*schema.Session, error) {
	if err := c.MergeTwins(e); err != nil {
		return nil, err
	}
	at, err := c.Conversation(e.Path)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	was, kept := c.Store.Written(e.Path), false
	err = at.Edit(func(s *schema.Session) error {
		status, last := s.Status, s.LastActive
		err := f(s)
		kept = s.Status == status && s.LastActive == last
		return err
	})
	if kept {
		c.Store.KeepWritten(e.Path, was)
	}
	if err != nil {
		return nil, err
	}
	s, _, err := at.Session()
	return s, err
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
