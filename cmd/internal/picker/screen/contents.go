package screen

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
)

// Contents holds the conversations that the list shows, filtered by words or found by a
// search.
type contents struct {
	ctx  context.Context
	o    picker.Options
	work work

	words  line
	asked  []string    // the words of o.Query, folded
	search search      // started by /; its hits replace the filtered list
	rows   picker.Rows // the current conversations
	home   *index      // the index of this workspace
	finder *finder
	answer answer
	rest   tea.Cmd // completes the first filtering
	list   list

	everywhere bool // whether all workspaces are listed
	archived   bool // whether hidden conversations are also listed
	busy       int  // number of running commands that will add conversations
}

// The picker waits before it builds the index and ranks all matches, so that this does not
// compete with drawing. It spends at most a tenth of its time looking for changes.
const (
	indexAfter  = 50 * time.Millisecond
	rankAfter   = 20 * time.Millisecond
	reloadEvery = time.Second
	reloadShare = 10
)

func (c *contents) selection() listing.Filter {
	f := c.o.Filter
	if c.archived {
		f.Archived, f.All, f.Statuses = true, true, nil
	}
	return f
}

func (c *contents) makeIndex() tea.Cmd {
	x := c.finder.index
	return after(indexAfter, c.work.do(func() tea.Msg {
		x.grow(len(x.entries))
		return nil
	}))
}

func (c *contents) later(wait time.Duration) tea.Cmd {
	if c.o.Reload == nil {
		return nil
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return reload{} })
}

// poll looks for changes, and does so again later.
func (c *contents) poll() tea.Cmd {
	look := c.reload()
	if look == nil {
		return c.later(reloadEvery)
	}
	return func() tea.Msg {
		msg := look()
		if now, ok := msg.(reloaded); ok {
			now.next = true
			return now
		}
		return msg
	}
}

// reload looks for changes. It filters everything before showing it, so that the list does
// not jump.
func (c *contents) reload() tea.Cmd {
	if c.o.Reload == nil || c.everywhere {
		return nil
	}
	q, selection, shown := newQuery(c.words.String()), c.selection(), c.list.shown(c.rows)
	return c.work.do(func() tea.Msg {
		began := c.o.Now()
		msg := reloaded{}
		rows, err := c.o.Reload(c.ctx, shown)
		if msg.err = err; err == nil && rows != nil {
			x := newIndex(rows)
			x.grow(rows.Len())
			msg.of = newFinder(x, selection)
			first, rest := c.find(msg.of, q)
			if msg.answer = first; rest != nil {
				msg.answer, _ = rest()
				msg.of.keep(msg.answer)
			}
		}
		msg.took = c.o.Now().Sub(began)
		return msg
	})
}

// refresh shows the current conversations. The cursor stays on its conversation. If that is
// gone, the row stays, struck through; if it is only hidden now, the cursor goes to the next.
func (c *contents) refresh(now reloaded) tea.Cmd {
	if now.of == nil || c.everywhere || now.of.filter.Archived != c.selection().Archived {
		return nil
	}
	c.home = now.of.index
	before, was, top := c.chosen(), c.list.cursor, c.list.top
	cmd := c.use(now.of, func() tea.Cmd {
		if now.answer.query.text != c.words.String() {
			return c.filter()
		}
		c.show(now.answer)
		return nil
	})
	c.settle(before, was, top)
	return cmd
}

// settle puts the cursor back in its place in the same list of other rows, if its conversation is
// no longer listed there.
func (c *contents) settle(before *listing.Row, was, top int) {
	if before == nil {
		return
	}
	if _, ok := c.rows.ByID(before.ID); !ok {
		c.list.keep(*before, was)
		c.list.top = top
	} else if row := c.list.row(c.rows); row == nil || row.ID != before.ID {
		c.list.cursor, c.list.top = max(min(was, len(c.list.items)-1), 0), top
	}
}

// listEverywhere lists the conversations of all workspaces. If these were listed before, the
// cursor keeps its place, as in refresh.
func (c *contents) listEverywhere(rows picker.Rows) tea.Cmd {
	again := c.everywhere
	before, was, top := c.chosen(), c.list.cursor, c.list.top
	c.everywhere = true
	cmd := c.replace(newIndex(rows))
	if again {
		c.settle(before, was, top)
	}
	return cmd
}

// replace lists other conversations, or the same ones with another filter.
func (c *contents) replace(x *index) tea.Cmd {
	return c.use(newFinder(x, c.selection()), func() tea.Cmd { return tea.Batch(c.makeIndex(), c.filter()) })
}

// use switches to another finder.
func (c *contents) use(f *finder, find func() tea.Cmd) tea.Cmd {
	before, was, top := c.chosen(), c.list.cursor, c.list.top
	c.finder, c.rows = f, f.index.rows
	c.list.back(c.rows)
	var cmd tea.Cmd
	if c.search.on {
		c.answer = answer{whole: true}
		c.search.show(c)
	} else {
		cmd = find()
	}
	if before != nil {
		c.list.stay(before.ID, c.rows)
		if top > 0 { // also keep the row's place on the screen
			c.list.top = max(c.list.cursor-(was-top), 0)
		}
	}
	return cmd
}

// filter lists the conversations that match the words. It shows quick results at once, and
// returns a command that finds the rest.
func (c *contents) filter() tea.Cmd {
	f := c.finder
	first, rest := c.find(f, newQuery(c.words.String()))
	c.show(first)
	if rest == nil {
		return nil
	}
	return after(rankAfter, c.work.do(func() tea.Msg {
		if whole, current := rest(); current {
			return found{f, whole}
		}
		return nil
	}))
}

// find is [finder.find], except that for the words that the picker was started with it
// lists what the command found for them: the command looked at more than the picker does.
func (c *contents) find(f *finder, q query) (answer, func() (answer, bool)) {
	if c.o.Found != nil && slices.Equal(q.words, c.asked) {
		if at := c.o.Found(f.index.rows); len(at) > 0 {
			return f.given(q, at), nil
		}
	}
	return f.find(q)
}

// show lists an answer. The cursor moves to the best match.
func (c *contents) show(a answer) {
	c.answer = a
	c.list.set(a.shown)
}

// complete lists the whole answer after quick results. A cursor that is not on the best
// match stays on its conversation.
func (c *contents) complete(a answer) {
	if was := c.list.cursor; was > 0 && was < len(c.list.items) {
		if at := slices.Index(a.shown, c.list.items[was]); at >= 0 {
			c.answer = a
			c.list.items, c.list.cursor = a.shown, at
			return
		}
	}
	c.show(a)
}

// chosen returns the conversation at the cursor, or nil if there is none.
func (c *contents) chosen() *listing.Row { return c.list.row(c.rows) }

// itemHeight returns how many lines an item takes, with its heading if it has one.
func (c *contents) itemHeight(headings bool) func(item int, top bool) int {
	return func(item int, top bool) int {
		n := 1
		if c.search.on {
			n = 2
		} else if headings && (top || c.newDay(item)) {
			n = 2
		}
		return n
	}
}

// newDay reports whether an item starts a new day in the list.
func (c *contents) newDay(item int) bool {
	now := c.o.Now()
	return item == 0 || heading(c.list.at(c.rows, item).LastActive, now) != heading(c.list.at(c.rows, item-1).LastActive, now)
}

// line returns the line that the user is editing.
func (c *contents) line() *line {
	if c.search.on {
		return &c.search.words
	}
	return &c.words
}

// typed changes the words and updates the list.
func (c *contents) typed(change func(*line) bool) tea.Cmd {
	before := c.line().String()
	if !change(c.line()) || c.line().String() == before {
		return nil
	}
	if c.search.on {
		return c.search.again(c)
	}
	return c.filter()
}

// loadEverywhere reads the conversations of all workspaces.
func (c *contents) loadEverywhere() tea.Cmd {
	c.busy++
	return c.work.do(func() tea.Msg {
		rows, err := c.o.Everywhere(c.ctx)
		return elsewhere{rows, err}
	})
}

// carryOut runs an action for a conversation.
func (c *contents) carryOut(a picker.Action, row listing.Row) tea.Cmd {
	return c.work.do(func() tea.Msg {
		said, err := c.o.Act(c.ctx, a, row)
		return acted{a, row.ID, said, err, 1}
	})
}

// after returns a command that waits before it runs another command.
func after(wait time.Duration, cmd tea.Cmd) tea.Cmd {
	return tea.Tick(wait, func(time.Time) tea.Msg { return cmd() })
}
