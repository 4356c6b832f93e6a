package screen

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"cortext/cmd/internal/picker"
)

// A search finds words in messages. Its hits replace the list.
type search struct {
	on     bool
	words  line
	hits   []picker.Hit // best first
	at     map[int]int  // index in hits, by position in the rows
	number int          // number of the search, to ignore hits of an earlier one
	busy   bool
	stop   context.CancelFunc
}

// hitsFound carries the hits that a search has found since the last message.
type hitsFound struct {
	number int
	hits   []picker.Hit
	next   tea.Cmd // waits for more hits; nil if the search has ended
	err    error
}

// searchAfter is how long the picker waits for the next key before it searches.
const searchAfter = 150 * time.Millisecond

// enter starts a search with the words that filter the list.
func (s *search) enter(c *contents) tea.Cmd {
	*s = search{on: true, words: newLine(c.words.String()), number: s.number}
	return s.again(c)
}

// leave goes back to the list.
func (s *search) leave(c *contents) tea.Cmd {
	s.cancel()
	s.on = false
	return c.filter()
}

func (s *search) cancel() {
	if s.stop != nil {
		s.stop()
	}
	s.stop, s.busy = nil, false
	s.number++
}

// again searches for the current words.
func (s *search) again(c *contents) tea.Cmd {
	s.cancel()
	s.hits = nil
	s.show(c)
	words, number := s.words.String(), s.number
	if len(newQuery(words).words) == 0 {
		return nil
	}
	ctx, stop := context.WithCancel(c.ctx)
	s.stop, s.busy = stop, true
	hits, end := make(chan picker.Hit, 64), make(chan error, 1)
	run := c.work.do(func() tea.Msg {
		defer close(hits)
		if ctx.Err() != nil {
			return nil
		}
		end <- c.o.Search(ctx, words, func(h picker.Hit) {
			select {
			case hits <- h:
			case <-ctx.Done():
			}
		})
		return nil
	})
	return tea.Batch(after(searchAfter, run), func() tea.Msg { return listen(number, hits, end) })
}

// listen waits for hits and returns those found so far.
func listen(number int, hits <-chan picker.Hit, end <-chan error) tea.Msg {
	msg := hitsFound{number: number, next: func() tea.Msg { return listen(number, hits, end) }}
	h, ok := <-hits
	for ok {
		msg.hits = append(msg.hits, h)
		select {
		case h, ok = <-hits:
			continue
		default:
		}
		return msg
	}
	msg.next = nil
	select {
	case msg.err = <-end:
	default: // it was cancelled before it began
	}
	return msg
}

// add shows more hits.
func (s *search) add(c *contents, more hitsFound) tea.Cmd {
	if !s.on || more.number != s.number {
		return nil
	}
	s.hits = append(s.hits, more.hits...)
	s.busy = more.next != nil
	chosen := c.list.cursor
	s.show(c)
	c.list.moveTo(chosen)
	return more.next
}

// show lists the conversations of the hits.
func (s *search) show(c *contents) {
	s.at = map[int]int{}
	var items []int
	for i, h := range s.hits {
		if at, ok := c.rows.ByID(h.ID); ok {
			if _, twice := s.at[at]; !twice {
				items = append(items, at)
				s.at[at] = i
			}
		}
	}
	c.list.set(items)
}
