package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/search"
	"cortext/cmd/internal/stop"
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
	{Key: removeKey, Name: "remove", Ask: "Remove this conversation with its folder? Commits keep what they have."},
}

// act carries out an action on a conversation, and says what it did.
func (r *reading) act(ctx context.Context, a picker.Action, row listing.Row) (said string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, err := r.w.Entry(row.Path)
	if err != nil {
		return "", err
	}
	title := oneLine(e.Session.DisplayTitle())
	var change organise.Change
	switch a.Key {
	case titleKey:
		_, err = r.w.SetTitle(e, a.Text)
		return "renamed to " + oneLine(a.Text), err
	case removeKey:
		r.removed = true
		return "removed " + title, stop.Remove(ctx, r.w, capture.New(r.w), e)
	case archiveKey:
		change, said = organise.Archive(!e.Session.Archived), "archived "+title+": h shows what is hidden, and x there undoes it"
		if e.Session.Archived {
			said = title + " is in lists again"
		}
	case tagKey:
		text, remove := strings.CutPrefix(a.Text, "-")
		tags, err := organise.ParseTags(text)
		if err != nil {
			return "", err
		}
		change, said = organise.Tag(tags), "tagged "+oneLine(strings.Join(tags, ", "))
		if remove {
			change, said = organise.Untag(tags), "no longer tagged "+oneLine(strings.Join(tags, ", "))
		}
	default:
		return "", fmt.Errorf("there is no action %q", a.Name)
	}
	_, err = organise.Apply(r.w, e, change)
	return said, err
}

// search finds conversations in which words were said, best first.
func (r *reading) search(ctx context.Context, words string, found func(picker.Hit)) error {
	q, err := search.Parse(words)
	if err != nil {
		return err
	}
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
	var results []*search.Result
	err = q.Run(ctx, []search.Source{source}, 1, func(res *search.Result) { results = append(results, res) })
	slices.SortFunc(results, (*search.Result).Compare)
	for _, res := range results {
		hit := picker.Hit{ID: res.Row.ID, Count: res.Count}
		if len(res.Hits) > 0 {
			h := res.Hits[0]
			hit.Message, hit.Sentence, hit.Marks = h.Message, h.Text, h.Matches
		}
		found(hit)
	}
	return err
}
