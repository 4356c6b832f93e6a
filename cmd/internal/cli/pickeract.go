package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/git"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/search"
	"cortext/cmd/internal/stop"
	"cortext/schema"
)

// The keys of the actions that the picker offers.
const (
	archiveKey = 'x'
	removeKey  = 'd'
	titleKey   = 'e'
	tagKey     = 't'
)

// pickerActions are the actions that the picker offers.
var pickerActions = []picker.Action{
	{Key: titleKey, Name: "title", Input: "The new title:", Begin: func(row listing.Row) string { return row.Title }},
	{Key: tagKey, Name: "tag", Input: "Tags to add, or -TAG to remove one:"},
	{Key: archiveKey, Name: "archive"},
	{Key: removeKey, Name: "remove", Ask: "Remove it and its folder? No undo; git keeps commits."},
}

// act runs an action on a conversation and returns what it did.
func (r *reading) act(ctx context.Context, a picker.Action, row listing.Row) (said string, err error) {
	of := r.of(&row)
	of.mu.Lock()
	back, err := of.change(ctx, a, row)
	of.mu.Unlock()
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, back)
	if back.run == nil {
		return back.did + ": " + back.to, nil
	}
	return back.did + " (Alt+u undoes it): " + back.to, nil
}

// undoLast undoes the last action not undone yet, and returns what it did.
func (r *reading) undoLast(context.Context) (said string, err error) {
	r.mu.Lock()
	n := len(r.done)
	if n == 0 {
		r.mu.Unlock()
		return "", errors.New("there is nothing to undo")
	}
	last := r.done[n-1]
	r.done = r.done[:n-1]
	r.mu.Unlock()
	if last.run == nil {
		return "", fmt.Errorf("this cannot be undone: %s: %s", last.did, last.to)
	}
	if err := last.run(); err != nil {
		return "", err
	}
	return "undone: " + last.did + ": " + last.to, nil
}

// change runs an action on a conversation of this workspace and returns how to undo it.
func (r *reading) change(ctx context.Context, a picker.Action, row listing.Row) (back undo, err error) {
	e, err := r.w.Entry(row.Path)
	if err != nil {
		return back, err
	}
	was := e.Session.Clone()
	back.to = oneLine(e.Session.DisplayTitle())
	var change organise.Change
	var had string // what it is if nothing changes
	switch a.Key {
	case titleKey:
		s, err := r.w.SetTitle(e, a.Text)
		if err != nil {
			return back, err
		}
		if s.Title == was.Title {
			return back, errors.New("already called " + back.to)
		}
		back.did, back.to = "renamed", oneLine(s.DisplayTitle())
		back.run = func() error { return r.restore(was.ID, backToTitle(was.Title, s.Title)) }
		return back, nil
	case removeKey:
		r.removed = true
		back.did = "removed for good"
		if known, err := r.w.Repository.Knows(ctx, e.Path); err == nil && known {
			back.did = "removed, but for git's commits"
		}
		return back, stop.Remove(ctx, r.w, capture.New(r.w), e)
	case archiveKey:
		change, back.did = organise.SetArchived(!was.Archived), "archived"
		if was.Archived {
			back.did = "back in lists"
		}
	case tagKey:
		if change, back.did, had, err = tagging(a.Text); err != nil {
			return back, err
		}
	default:
		return back, fmt.Errorf("there is no action %q", a.Name)
	}
	after, changed, err := organise.Apply(r.w, e, change)
	if err != nil {
		return back, err
	}
	if !changed && had != "" {
		return back, fmt.Errorf("%s: %s", had, back.to)
	}
	undoing := organise.SetArchived(was.Archived)
	if a.Key == tagKey {
		undoing = backToTags(was.Tags, after.Session.Tags)
	}
	back.run = func() error { return r.restore(was.ID, undoing) }
	return back, nil
}

// tagging returns the change that a list of tags asks for, where a hyphen before a tag removes it,
// what the change does, and what it finds if it changes nothing.
func tagging(list string) (change organise.Change, did, had string, err error) {
	tags, err := organise.ParseTags(list)
	if err != nil {
		return nil, "", "", err
	}
	var add, remove []string
	for _, tag := range tags {
		if name, ok := strings.CutPrefix(tag, "-"); ok {
			remove = append(remove, strings.TrimSpace(name))
		} else {
			add = append(add, tag)
		}
	}
	if slices.Contains(remove, "") {
		return nil, "", "", errors.New("there is no tag after the hyphen")
	}
	change = func(s *schema.Session) error {
		if err := organise.Tag(add)(s); err != nil {
			return err
		}
		return organise.Untag(remove)(s)
	}
	added, removed := oneLine(strings.Join(add, ", ")), oneLine(strings.Join(remove, ", "))
	switch {
	case len(remove) == 0:
		return change, "tagged " + added, "already tagged " + added, nil
	case len(add) == 0:
		return change, "no longer tagged " + removed, "was not tagged " + removed, nil
	}
	return change, "tagged " + added + ", no longer " + removed, "already tagged " + added + ", not " + removed, nil
}

// backToTitle undoes a rename, unless somebody else renamed the conversation since.
func backToTitle(was, now string) organise.Change {
	return func(s *schema.Session) error {
		if s.Title != now {
			return fmt.Errorf("it was renamed again since, to %s: Alt+e renames it", oneLine(s.DisplayTitle()))
		}
		s.Title = was
		return nil
	}
}

// backToTags undoes a change of tags from was to now, but not what somebody else changed since.
func backToTags(was, now []string) organise.Change {
	return func(s *schema.Session) error {
		without := func(list, minus []string) []string {
			return slices.DeleteFunc(slices.Clone(list), func(tag string) bool { return slices.Contains(minus, tag) })
		}
		if err := organise.Untag(without(now, was))(s); err != nil {
			return err
		}
		return organise.Tag(without(was, now))(s)
	}
}

// restore makes the change that undoes an action to the conversation with the given id.
func (r *reading) restore(id string, change organise.Change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.w.Pick(id)
	if err != nil {
		return err
	}
	var refused error // without the place of the file, which would push it off the screen
	_, _, err = organise.Apply(r.w, e, func(s *schema.Session) error {
		refused = change(s)
		return refused
	})
	return cmp.Or(refused, err)
}

// search finds conversations whose messages have the words, best first. A hit shows a
// passage only if it contains one of the words: the row already shows the title. If some
// conversations cannot be read, it still finds the others.
func (r *reading) search(ctx context.Context, words string, found func(picker.Hit)) error {
	q, err := search.Parse(words)
	if err != nil {
		return err
	}
	r.listing.Lock()
	all := append([]*reading{r}, r.others...)
	r.listing.Unlock()
	var results []*search.Result
	var unread error
	for _, each := range all {
		unread = errors.Join(unread, each.searchIn(ctx, q, &results))
	}
	slices.SortFunc(results, (*search.Result).Compare)
	for _, res := range results {
		hit := picker.Hit{ID: res.Row.ID, Count: res.Count}
		if n := len(res.Hits); n > 0 {
			h := res.Hits[n-1]
			hit.Message, hit.Sentence, hit.Marks = h.Message, h.Text, h.Matches
		}
		found(hit)
	}
	return unread
}

// searchIn adds the results of a query in this workspace.
func (r *reading) searchIn(ctx context.Context, q *search.Query, results *[]*search.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.w.Listing(nil)
	if err != nil {
		return err
	}
	defer list.Close()
	source := sourceOf(r.w, list, listing.Filter{All: true, Archived: true})
	defer source.Index.Close()
	err = q.Run(ctx, []search.Source{source}, 1, func(res *search.Result) { *results = append(*results, res) })
	missing, rest := git.WithoutNotFetched(err)
	if len(missing) > 0 && len(*results) == 0 { // otherwise titles and summaries have what was searched for
		return errors.Join(rest, missing[0])
	}
	return rest
}
