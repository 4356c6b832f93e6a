package redact

import (
	"context"
	"slices"
	"strings"

	"cortext/store"
)

// Linked returns the conversations in all that are linked to those in of, directly or
// indirectly: forks, their origins, and copies in other workspaces. A link counts in both
// directions, whichever side has it. elsewhere holds the sorted ids of linked
// conversations that are not in all.
func Linked(all, of []store.Entry) (linked []store.Entry, elsewhere []string) {
	links := map[string][]string{} // linked ids by id
	entries := map[string]store.Entry{}
	for _, e := range all {
		id := e.Session.ID
		if id == "" {
			continue
		}
		entries[id] = e
		if l := e.Session.Links; l != nil {
			for _, to := range append(slices.Clone(l.Related), l.Parent) {
				links[id], links[to] = append(links[id], to), append(links[to], id)
			}
		}
	}
	seen := map[string]bool{"": true}
	var queue []string
	for _, e := range of {
		if id := e.Session.ID; !seen[id] {
			seen[id], queue = true, append(queue, id)
		}
	}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		for _, to := range links[id] {
			if seen[to] {
				continue
			}
			seen[to], queue = true, append(queue, to)
			if e, ok := entries[to]; ok {
				linked = append(linked, e)
			} else {
				elsewhere = append(elsewhere, to)
			}
		}
	}
	slices.SortFunc(linked, func(a, b store.Entry) int { return strings.Compare(a.Path, b.Path) })
	slices.Sort(elsewhere)
	return linked, elsewhere
}

// Having returns the conversations that contain the text. It calls progress before each one.
func (r *Redactor) Having(ctx context.Context, entries []store.Entry, progress func(i int)) (list []store.Entry, err error) {
	err = r.findEach(ctx, entries, progress, func(c *Conversation) {
		if c.anything() {
			list = append(list, c.Entry)
		}
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}
