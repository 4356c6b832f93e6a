package cli

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/picker"
	"cortext/cmd/internal/settings"
)

// fullScreen reports whether the picker can be shown.
func (a *app) fullScreen() bool {
	if !a.terminal.fits() {
		return false
	}
	_, err := companion.Picker.Find()
	return a.Pick != nil || err == nil
}

// goOnWithPicker replaces this program with the one that has the picker. That one starts over
// with the same arguments: this program has changed and printed nothing so far.
func (a *app) goOnWithPicker() error {
	program, err := companion.Picker.Find()
	if err != nil {
		return err
	}
	return replaceProgram(program, append([]string{program}, a.Args...), os.Environ())
}

// How much garbage may grow for a moment while the picker starts, in percent of what is in use.
const (
	firstGarbagePercent = 1000
	firstGarbage        = 200 * time.Millisecond
)

// onFullScreen shows the picker, in which the user chooses or starts a conversation.
func (c chooser) onFullScreen(ctx context.Context, query string, filter listing.Filter) (picked, error) {
	if c.app.Pick == nil {
		return picked{}, c.app.goOnWithPicker()
	}
	if c.app.collects {
		// The first frame of a large workspace should not wait for the collector.
		debug.SetGCPercent(firstGarbagePercent)
		time.AfterFunc(firstGarbage, func() { debug.SetGCPercent(garbagePercent) })
	}
	opened := make(chan *reading, 1)
	var unread []error
	on := picker.Terminal{In: c.app.In, Out: c.app.Out, Environ: os.Environ()}
	chosen, err := c.app.Pick(ctx, on, func(_ context.Context, progress func(done, of int)) (picker.Options, error) {
		r, err := readingIn(c.w.Env, c.app.seen(), progress)
		if err != nil {
			return picker.Options{}, err
		}
		opened <- r
		o := c.pickerOptions(r, query, filter)
		if query == "" && c.w.Config.Autosave != settings.AutosaveOff {
			o.Prepare = func(ctx context.Context) error {
				out, err := c.w.leftovers().Discover(ctx)
				if out != nil {
					unread = out.Errors
				}
				return err
			}
		}
		return o, nil
	})
	select {
	case r := <-opened:
		defer r.close()
		err = errors.Join(err, r.forgetRemoved())
		c.app.screen.warn(r.left...)
	default: // the user left before the list was there
	}
	c.app.screen.warnUnread(unread)
	switch {
	case err != nil:
		return picked{}, err
	case chosen.Kind == picker.Interrupted:
		return picked{}, errInterrupted
	case chosen.Kind == picker.New:
		return picked{fresh: &newChat{chosen.Type, chosen.Topic}}, nil
	case chosen.Kind == picker.Left:
		return picked{}, errSilent
	}
	p := picked{agent: chosen.Agent}
	if chosen.Kind == picker.Fork {
		p.fork = &history.Choice{}
		if chosen.At > 0 {
			p.fork.At = strconv.Itoa(chosen.At)
		}
	}
	if dir := chosen.Row.Workspace; dir != "" && dir != c.w.Here.Workspace() {
		p.Entry, p.dir = chosen.Row.Entry(), dir
		return p, nil
	}
	p.Entry, err = c.w.Entry(chosen.Row.Path)
	return p, err
}

// pickerOptions returns what the picker shows, and what it can do, in a workspace.
func (c chooser) pickerOptions(r *reading, query string, filter listing.Filter) picker.Options {
	o := picker.Options{
		Now: c.app.Now, Rows: r.rows, Filter: filter, Query: strings.TrimPrefix(query, "conversations/"),
		Agents: c.w.Env.AgentNames(), Types: c.w.Prompts.Types(),
		Reload: r.reload, Everywhere: r.everywhere, Preview: r.preview, Exists: r.exists, Search: r.search, Prompts: r.prompts,
		Act: r.act, Actions: pickerActions, Undo: r.undoLast, ReadOnly: r.readOnly,
	}
	if query != "" {
		wide := filter
		wide.Archived = true // like the search whose matches the user chooses from
		o.Found = func(rows picker.Rows) []int { return foundIn(rows, query, wide) }
	}
	return o
}

// foundIn returns the positions of the conversations of one or several workspaces that a query
// matches and a filter selects.
func foundIn(rows picker.Rows, query string, f listing.Filter) (at []int) {
	switch rows := rows.(type) {
	case *listing.Listing:
		at, _ = rows.Match(query, f)
	case *gathering:
		at = rows.match(query, f)
	}
	return at
}
