// Package find selects conversations from a list by what the user typed.
//
// A query is tried in tiers, from the most exact to the most lenient, and the first tier
// with a hit decides: see [Tier]. If no tier has a hit, [Nearest] suggests conversations
// for the user to choose from.
package find

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// A Tier says how exactly a conversation matches a query. A lower tier is more exact.
type Tier int

// The tiers.
const (
	None      Tier = iota // no match
	ByID                  // the global id, or the folder's own name
	ByFolder              // the folder, with or without its date, or a path into it
	Beginning             // the start of the id or folder, or the day
	ByTitle               // the whole title
	InName                // all words in title or folder
	InPrompt              // all words in the first prompt or tags
	InSummary             // all words in the summary
	Anywhere              // each word in any of these
	ByLetters             // scattered letters of title or folder name
)

// An Item holds the properties by which a query finds a conversation.
type Item struct {
	ID      string // the global id
	Folder  string // date and folder name: 2025-11-22/001-brainstorm-api-design
	Title   string
	Summary string
	Prompt  string // the first user prompt
	Tags    []string
}

// Match returns the indexes of the items that match query: all hits of the first tier that
// has any. They are in the order of items, except that scattered-letter hits are sorted
// best first. An empty query matches nothing.
func Match(items []Item, query string) ([]int, Tier) {
	q, ok := Parse(query)
	if !ok {
		return nil, None
	}
	folded := make([]Folded, len(items))
	for i := range items {
		folded[i] = items[i].Fold()
	}
	for tier := ByID; tier < ByLetters; tier++ {
		var hits []int
		for i := range folded {
			if q.Hits(&folded[i], tier) {
				hits = append(hits, i)
			}
		}
		if len(hits) > 0 {
			return hits, tier
		}
	}
	var scores []Score
	for i := range items {
		if s, ok := q.Letters(items[i].Title, items[i].Folder); ok {
			scores = append(scores, Score{i, s})
		}
	}
	if len(scores) == 0 {
		return nil, None
	}
	return Best(scores, len(scores)), ByLetters
}

// How much of an id names a conversation: at least this much of its start, as in git, or
// its end, as lists show it.
const (
	leastOfID = 4
	endOfID   = 4
)

// Names reports whether a query names a conversation: by its id, the start of its id, the end
// of its id that lists show, its folder, or whole words of its title. Other matches only
// describe it.
func (it *Item) Names(query string) bool {
	q, ok := Parse(query)
	if !ok {
		return false
	}
	f, id := it.Fold(), FoldID(it.ID)
	return q.Hits(&f, ByID) || q.Hits(&f, ByFolder) || q.Hits(&f, ByTitle) || it.hasWords(query) ||
		len(q.text) >= leastOfID && strings.HasPrefix(id, string(q.text)) ||
		len(q.text) == endOfID && strings.HasSuffix(id, string(q.text))
}

// hasWords reports whether all words of a query are words of the title.
func (it *Item) hasWords(query string) bool {
	title, words := wordsOf(fold(it.Title)), wordsOf(fold(query))
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(title, w) })
}

// A Folded is an [Item] with case-folded texts.
type Folded struct {
	Name    []byte // title, folder and id: see [AppendName]
	Prompt  []byte // first prompt and tags
	Summary []byte
}

// Fold folds the texts of an item.
func (it *Item) Fold() Folded {
	return Folded{AppendName(nil, it.Title, it.Folder, it.ID), AppendPrompt(nil, it.Prompt, it.Tags), AppendText(nil, it.Summary)}
}

// AppendName appends the folded title, folder and id, each on a line.
func AppendName(dst []byte, title, folder, id string) []byte {
	dst = append(AppendText(dst, title), '\n')
	for i, s := range []string{folder, id} {
		if i > 0 {
			dst = append(dst, '\n')
		}
		begin := len(dst)
		dst = AppendFold(dst, s)
		for k, c := range dst[begin:] {
			if c == '\n' {
				dst[begin+k] = ' '
			}
		}
	}
	return dst
}

// SplitName returns the title and folder of a name; see [AppendName].
func SplitName(name []byte) (title, folder []byte) {
	title, rest, _ := bytes.Cut(name, []byte("\n"))
	folder, _, _ = bytes.Cut(rest, []byte("\n"))
	return title, folder
}

// AppendPrompt appends the folded first prompt and tags, each on a line.
func AppendPrompt(dst []byte, prompt string, tags []string) []byte {
	dst = AppendText(dst, prompt)
	for _, tag := range tags {
		dst = AppendText(append(dst, '\n'), tag)
	}
	return dst
}

// AppendText appends a folded text, with single spaces between words.
func AppendText(dst []byte, text string) []byte {
	begin := len(dst)
	for word := range strings.FieldsSeq(text) {
		if len(dst) > begin {
			dst = append(dst, ' ')
		}
		dst = AppendFold(dst, word)
	}
	return dst
}

// A Query is what the user typed, parsed. Several goroutines may use it.
type Query struct {
	text  []byte   // folded, with single spaces
	place []byte   // folded, if the query is the location of a conversation
	words [][]byte // folded; none if the query is a path to no conversation
}

// Parse parses a query. ok is false if it is empty.
func Parse(query string) (q Query, ok bool) {
	query = strings.Join(strings.Fields(query), " ")
	q.text = AppendFold(nil, query)
	q.place = []byte(location(query))
	if strings.Trim(query, `./\ `) != "" {
		q.words = bytes.Fields(q.text)
	}
	return q, query != ""
}

// Hits reports whether a conversation matches in a tier above [ByLetters].
func (q *Query) Hits(f *Folded, tier Tier) bool {
	switch tier {
	case InName, InPrompt, InSummary, Anywhere:
		return q.hasWords(f, tier)
	}
	title, rest, _ := bytes.Cut(f.Name, []byte("\n"))
	folder, id, _ := bytes.Cut(rest, []byte("\n"))
	name := folder[bytes.LastIndexByte(folder, '/')+1:]
	switch tier {
	case ByID:
		return len(id) > 0 && bytes.Equal(id, q.text) || len(name) > 0 && bytes.Equal(name, q.text)
	case ByFolder:
		return len(folder) > 0 && (bytes.Equal(name, q.place) || leadsTo(q.place, folder))
	case Beginning:
		return bytes.HasPrefix(id, q.text) || len(folder) > 0 && (bytes.HasPrefix(name, q.place) || q.begins(folder))
	case ByTitle:
		return len(title) > 0 && bytes.Equal(title, q.text)
	}
	return false
}

// BaseName returns the folded name of a folder, without its date, as [AppendName] has it.
func BaseName(folder string) string {
	return strings.ReplaceAll(fold(path.Base(folder)), "\n", " ")
}

// FoldID returns a folded id as [AppendName] has it.
func FoldID(id string) string { return strings.ReplaceAll(fold(id), "\n", " ") }

// Exact returns an id, and names that are [BaseName]s or folded ids. Each conversation that
// the query hits in a tier up to [ByFolder] has at least one of them.
func (q *Query) Exact() (id string, bases []string) {
	return string(q.text), append(strings.Split(string(q.place), "/"), string(q.text))
}

// begins reports whether the query is the start of a dated folder, or its date.
func (q *Query) begins(folder []byte) bool {
	rest, ok := bytes.CutPrefix(folder, q.place)
	return ok && (bytes.IndexByte(q.place, '/') >= 0 || bytes.HasPrefix(rest, []byte("/")))
}

// leadsTo reports whether a path contains a folder.
func leadsTo(place, folder []byte) bool {
	for from := 0; ; {
		at := bytes.Index(place[from:], folder)
		if at < 0 {
			return false
		}
		at += from
		end := at + len(folder)
		if (at == 0 || place[at-1] == '/') && (end == len(place) || place[end] == '/') {
			return true
		}
		from = at + 1
	}
}

// hasWords reports whether the texts that a tier searches contain all words of the query.
func (q *Query) hasWords(f *Folded, tier Tier) bool {
	name := f.Name[:max(bytes.LastIndexByte(f.Name, '\n'), 0)]
	for _, w := range q.words {
		if !(bytes.Contains(name, w) && (tier == InName || tier == Anywhere) ||
			(tier == InPrompt || tier == Anywhere) && bytes.Contains(f.Prompt, w) ||
			(tier == InSummary || tier == Anywhere) && bytes.Contains(f.Summary, w)) {
			return false
		}
	}
	return len(q.words) > 0
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
