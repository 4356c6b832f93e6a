// Package find selects conversations from a list by what the user typed.
//
// A query is tried in tiers, from the most exact to the most lenient, and the first tier
// with a hit decides: id, folder, id prefix, title, words, and finally scattered letters.
// It guesses no further: for a query without a hit, [Nearest] suggests conversations for
// the user to choose from.
package find

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// An Item holds the properties by which a query finds a conversation.
type Item struct {
	ID      string // the global id
	Folder  string // date and folder name: 2025-11-22/001-brainstorm-api-design
	Title   string
	Summary string
}

// name returns the folder's own name, which is the conversation's id in its workspace.
func (it *Item) name() string { return path.Base(it.Folder) }

// Match returns the indexes of the items that match query: all hits of the first tier
// with any, in the order of items, except that scattered-letter hits are sorted best
// first. An empty query matches nothing.
func Match(items []Item, query string) []int {
	query = strings.Join(strings.Fields(query), " ")
	if query == "" {
		return nil
	}
	for _, tier := range []func([]Item, string) []int{byID, byFolder, byBeginning, byTitle, byWords, byLetters} {
		if hits := tier(items, query); len(hits) > 0 {
			return hits
		}
	}
	return nil
}

func filter(items []Item, hit func(*Item) bool) []int {
	var hits []int
	for i := range items {
		if hit(&items[i]) {
			hits = append(hits, i)
		}
	}
	return hits
}

func byID(items []Item, query string) []int {
	return filter(items, func(it *Item) bool {
		return it.ID != "" && strings.EqualFold(it.ID, query) || it.Folder != "" && it.name() == query
	})
}

// location parses query as the location of a conversation: a folder with or without its
// date, or any path that leads to it or into it.
func location(query string) string {
	place := path.Clean(strings.ReplaceAll(query, `\`, "/"))
	for {
		rest, ok := strings.CutPrefix(place, "../")
		if !ok {
			break
		}
		place = rest
	}
	return fold(strings.TrimPrefix(place, "conversations/"))
}

func byFolder(items []Item, query string) []int {
	place := location(query)
	within := "/" + place + "/"
	return filter(items, func(it *Item) bool {
		if it.Folder == "" {
			return false
		}
		folder := fold(it.Folder)
		return path.Base(folder) == place || strings.Contains(within, "/"+folder+"/")
	})
}

// byBeginning finds ids and folders that begin with query. A date alone, with or without
// a slash, matches all conversations of that day.
func byBeginning(items []Item, query string) []int {
	place := location(query)
	dated := strings.Contains(place, "/")
	return filter(items, func(it *Item) bool {
		if len(query) <= len(it.ID) && strings.EqualFold(it.ID[:len(query)], query) {
			return true
		}
		if it.Folder == "" {
			return false
		}
		folder := fold(it.Folder)
		return strings.HasPrefix(path.Base(folder), place) ||
			strings.HasPrefix(folder, place) && (dated || strings.HasPrefix(folder[len(place):], "/"))
	})
}

func byTitle(items []Item, query string) []int {
	title := fold(query)
	return filter(items, func(it *Item) bool {
		return it.Title != "" && fold(strings.Join(strings.Fields(it.Title), " ")) == title
	})
}

func byWords(items []Item, query string) []int {
	if strings.Trim(query, `./\ `) == "" {
		return nil // a path that leads nowhere, not a word
	}
	words := bytes.Fields(appendFold(nil, query))
	var text []byte
	return filter(items, func(it *Item) bool {
		text = appendFold(text[:0], it.Title)
		text = appendFold(append(text, '\n'), it.Folder)
		text = appendFold(append(text, '\n'), it.Summary)
		return !slices.ContainsFunc(words, func(w []byte) bool { return !bytes.Contains(text, w) })
	})
}
