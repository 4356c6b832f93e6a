// Package search searches conversations: titles, summaries, messages, and the inputs and
// outputs of tool calls.
//
// A conversation matches if every term of the query occurs in it, not necessarily in one
// message. The best come first: those with all terms in title and summary, then those
// with all terms in one message or call, then those with more hits, then the most recently
// active.
//
// Of several lines with the same id, only the one that counts is searched. Damaged lines,
// the model's reasoning and the conversations of sub-agents are not searched. The texts
// are as stored, with secrets redacted.
package search

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"cortext/cmd/internal/listing"
	"cortext/schema"
	"cortext/store"
)

// A Source holds the conversations of a workspace to search.
type Source struct {
	Store *store.Store
	Open  func(store.Entry) (*store.Conversation, error) // includes records that only git has
	Rows  []listing.Row
	Index *Index // may be nil

	// Complete says that all records are in the work tree: none wait, or are only in git.
	Complete bool
}

// A Result is a conversation that matches.
type Result struct {
	Source int // the index of its source
	Row    listing.Row
	Count  int   // texts with at least one term
	Hits   []Hit // those with the most terms, in the order of the conversation

	named    bool // title and summary have all terms
	together bool // one record has all terms
}

// A Hit is a text with at least one term.
type Hit struct {
	Place     Place
	Message   int    // number of the message, as in the payload; 0 if none, or on a branch that was left
	MessageID string // "" if none
	Sentence
}

// Compare orders results, best first.
func (r *Result) Compare(o *Result) int {
	return cmp.Or(
		cmp.Compare(bit(o.named), bit(r.named)),
		cmp.Compare(bit(o.together), bit(r.together)),
		cmp.Compare(o.Count, r.Count),
		o.Row.LastActive.Compare(r.Row.LastActive),
		strings.Compare(o.Row.Path, r.Row.Path),
		cmp.Compare(r.Source, o.Source), // of copies in several workspaces
	)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Run searches conversations and calls found with each one that matches, as soon as it is
// found, from one goroutine at a time. A result has at most this many hits in messages and
// calls; 0 means all. The error joins the errors of the conversations that could not be
// read; their titles and summaries, and the other conversations, are still searched.
func (q *Query) Run(ctx context.Context, sources []Source, hits int, found func(*Result)) error {
	type job struct{ source, row int }
	var jobs []job
	indexes := make([]*lookup, len(sources))
	for s := range sources {
		if x := sources[s].Index; x != nil {
			indexes[s] = x.lookUp(q)
		}
		for r := range sources[s].Rows {
			jobs = append(jobs, job{s, r})
		}
	}
	var next atomic.Int64
	var group sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			use := &memory{}
			for i := next.Add(1) - 1; i < int64(len(jobs)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				j := jobs[i]
				from := &sources[j.source]
				r, err := q.conversation(from, indexes[j.source], use, j.row, hits)
				mu.Lock()
				if err != nil && !errors.Is(err, store.ErrNotFound) { // it may be removed meanwhile
					errs = append(errs, err)
				}
				if r != nil {
					r.Source = j.source
					found(r)
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// all is the set of all terms.
func (q *Query) all() uint64 { return ^uint64(0) >> (64 - len(q.terms)) }

// in returns the set of terms that occur in a text.
func (q *Query) in(text string) (set uint64) {
	for i, t := range q.terms {
		if at, _ := t.find(text, 0); at >= 0 {
			set |= 1 << i
		}
	}
	return set
}

// conversation searches one conversation. The result is nil if it does not match.
func (q *Query) conversation(from *Source, index *lookup, use *memory, place, hits int) (*Result, error) {
	row := &from.Rows[place]
	found, have := q.named(row)
	rare := q.rarest(have)
	if rare >= 0 && index != nil && from.Complete && index.ruleOut(from.Store, row, rare) {
		return nil, nil
	}
	e := entryOf(row)
	c, err := from.Open(e)
	if err != nil {
		if have != q.all() {
			found = nil
		}
		return found, err
	}
	defer c.Close()
	reading := &reading{Query: q, c: &c.Reader, entry: e, index: index, use: use}
	defer reading.close()
	result, err := reading.search(found, have, hits)
	if err == nil { // what counts as empty may not have been searched
		err = reading.unread()
	}
	return result, err
}

// named searches the title and the summary of a conversation. It also returns the set of
// terms in them.
func (q *Query) named(row *listing.Row) (found *Result, have uint64) {
	found = &Result{Row: *row}
	if q.In != "" {
		return found, 0
	}
	for _, p := range []passage{{InTitle, row.Title}, {InSummary, row.Summary}} {
		if set := q.in(p.text); set != 0 {
			have |= set
			found.together = found.together || set == q.all()
			found.Count++
			found.Hits = append(found.Hits, Hit{Place: p.place, Sentence: q.sentence(p.text)})
		}
	}
	found.named = have == q.all()
	return found, have
}

// search adds the records of a conversation to what was found in its title and summary.
// The result is nil if it does not match.
func (r *reading) search(found *Result, have uint64, hits int) (*Result, error) {
	records, err := r.records(have)
	if err != nil {
		return nil, err
	}
	for i := range records {
		have |= records[i].terms
		found.together = found.together || records[i].terms == r.all()
		found.Count += records[i].texts
	}
	if have != r.all() {
		return nil, nil
	}
	more, err := r.hits(records, hits)
	found.Hits = append(found.Hits, more...)
	return found, err
}

// entryOf returns the fields of an entry that are needed to open the conversation.
func entryOf(row *listing.Row) store.Entry {
	return store.Entry{Path: row.Path, Waiting: row.Waiting, Twins: row.Twins, Session: &schema.Session{ID: row.ID}}
}

// count returns the number of terms in a set.
func count(set uint64) int { return bits.OnesCount64(set) }
