package listing

import (
	"cortext/cmd/internal/find"
)

// Match returns the positions of the conversations that a query matches, among those that
// a filter selects, and how exactly. See [find.Match] for the order.
func (l *Listing) Match(query string, f Filter) ([]int, find.Tier) {
	at := l.Select(f)
	hits, tier := find.Match(l.items(at), query)
	return pick(at, hits), tier
}

// Nearest returns the positions of up to n conversations that a query without a match may
// have meant, best first.
func (l *Listing) Nearest(query string, n int) []int {
	at := l.Select(Filter{All: true, Archived: true})
	return pick(at, find.Nearest(l.items(at), query, n))
}

func pick(from, at []int) []int {
	for k, i := range at {
		at[k] = from[i]
	}
	return at
}

func (l *Listing) items(at []int) []find.Item {
	items := make([]find.Item, len(at))
	for k, i := range at {
		r := l.Row(i)
		items[k] = find.Item{ID: r.ID, Folder: r.Folder(), Title: r.Title, Summary: r.Summary, Prompt: r.Description, Tags: r.Tags}
	}
	return items
}
