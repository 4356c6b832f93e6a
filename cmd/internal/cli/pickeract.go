package cli

import (
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
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
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
	{Key: titleKey, Name: "title", Input: "The new title:"},
	{Key: tagKey, Name: "tag", Input: "Tags to add, or -TAG to remove one:"},
	{Key: archiveKey, Name: "archive"},
	{Key: removeKey, Name: "remove", Ask: "Remove this conversation with its folder? That cannot be undone here; commits keep what they have."},
}

// act carries out an action on a conversation, and says what it did.
func (r *reading) act(ctx context.Context, a picker.Action, row listing.Row) (said string, err error) {
	of := r.of(&row)
	of.mu.Lock()
	said, back, err := of.change(ctx, a, row)
	of.mu.Unlock()
	if err != nil {
		return "", err
	}
	if back.run != nil {
		said += "; u undoes it"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = append(r.done, back)
	return said, nil
}

// undoLast undoes the last action that was not undone yet, and says so.
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
		return "", fmt.Errorf("%s: this cannot be undone here", last.what)
	}
	if err := last.run(); err != nil {
		return "", err
	}
	return "undone: " + last.what, nil
}

// change carries out an action on a conversation of this workspace.
func (r *reading) change(ctx context.Context, a picker.Action, row listing.Row) (said string, back undo, err error) {
	e, err := r.w.Entry(row.Path)
	if err != nil {
		return "", back, err
	}
	title := oneLine(e.Session.DisplayTitle())
	var change organise.Change
	switch a.Key {
	case titleKey:
		back.what = "renamed to " + oneLine(a.Text)
	case removeKey:
		r.removed = true
		back.what = "removed " + title
		return back.what + gitHas(ctx, r.w, e), back, stop.Remove(ctx, r.w, capture.New(r.w), e)
	case archiveKey:
		change, back.what = organise.Archive(!e.Session.Archived), "archived "+title
		if e.Session.Archived {
			back.what = title + " is in lists again"
		}
	case tagKey:
		text, remove := strings.CutPrefix(a.Text, "-")
		tags, err := organise.ParseTags(text)
		if err != nil {
			return "", back, err
		}
		change, back.what = organise.Tag(tags), "tagged "+title+": "+oneLine(strings.Join(tags, ", "))
		if remove {
			change, back.what = organise.Untag(tags), "no longer tagged: "+oneLine(strings.Join(tags, ", "))
		}
	default:
		return "", back, fmt.Errorf("there is no action %q", a.Name)
	}
	was := e.Session.Clone()
	back.run = func() error { return r.restore(was, a.Key) }
	if change == nil {
		_, err = r.w.SetTitle(e, a.Text)
	} else {
		_, err = organise.Apply(r.w, e, change)
	}
	return back.what, back, err
}

// restore gives back to a conversation what an action changed.
func (r *reading) restore(was *schema.Session, action rune) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.w.Pick(was.ID)
	if err != nil {
		return err
	}
	change := organise.Archive(was.Archived)
	switch action {
	case titleKey:
		_, err = r.w.SetTitle(e, was.DisplayTitle())
		return err
	case tagKey:
		change = func(s *schema.Session) error { s.Tags = was.Tags; return nil }
	}
	_, err = organise.Apply(r.w, e, change)
	return err
}

// gitHas says how a conversation that is about to be removed can be had back, if git has it.
func gitHas(ctx context.Context, w *workspace.Workspace, e store.Entry) string {
	if known, err := git.Knows(ctx, w.Store.Root(), e.Path); err != nil || !known {
		return ": it is gone"
	}
	return ": git still has what was committed"
}

// search finds conversations in which words were said, best first.
func (r *reading) search(ctx context.Context, words string, found func(picker.Hit)) error {
	q, err := search.Parse(words)
	if err != nil {
		return err
	}
	r.listing.Lock()
	all := append([]*reading{r}, r.others...)
	r.listing.Unlock()
	var results []*search.Result
	for _, each := range all {
		if err := each.searchIn(ctx, q, &results); err != nil {
			return err
		}
	}
	slices.SortFunc(results, (*search.Result).Compare)
	for _, res := range results {
		hit := picker.Hit{ID: res.Row.ID, Count: res.Count}
		if len(res.Hits) > 0 {
			h := res.Hits[0]
			hit.Message, hit.Sentence, hit.Marks = h.Message, h.Text, h.Matches
		}
		found(hit)
	}
	return nil
}

// searchIn adds what a query finds in this workspace.
func (r *reading) searchIn(ctx context.Context, q *search.Query, results *[]*search.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, err := r.w.Listing(nil)
	if err != nil {
		return err
	}
	defer list.Close()
	source := search.Source{Store: r.w.Store, Open: r.w.Open, Index: search.OpenIndex(r.w.Store.Cache)}
	defer source.Index.Close()
	for _, i := range list.Select(listing.Filter{All: true, Archived: true}) {
		source.Rows = append(source.Rows, list.Row(i))
	}
	return q.Run(ctx, []search.Source{source}, 1, func(res *search.Result) { *results = append(*results, res) })
}
