package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cortext/cmd/internal/companion"
	"cortext/cmd/internal/history"
	"cortext/cmd/internal/listing"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// A picked is what the user chose to do, and with which conversation.
type picked struct {
	store.Entry
	agent string          // agent to resume in, if the user chose one
	fresh *newChat        // conversation to start instead
	fork  *history.Choice // point to fork from first
	dir   string          // folder of its workspace, if that is not the current one
}

// A chooser finds the conversation of a workspace that a command is about, and lets the user
// choose if there are several.
type chooser struct {
	app *app
	w   *opened
}

// toResume returns the conversation to resume. If several match, those with messages since
// --since come first.
func (c chooser) toResume(ctx context.Context, query string, only *listing.Filter, o resumeOptions) (picked, error) {
	switch {
	case o.latest && only == nil:
		e, err := latest(c.w, query)
		return picked{Entry: e}, err
	case o.session != "":
		e, err := c.w.Pick(query)
		return picked{Entry: e}, err
	case only == nil && o.Since.IsZero():
		return c.pick(ctx, query)
	}
	list, err := matching(c.w, query, only)
	if err != nil {
		return picked{}, err
	}
	since := o.Since
	if some := recent(list, since); len(some) > 0 {
		list = some
	} else if since = (time.Time{}); query == "" {
		return picked{}, &workspace.NotFoundError{}
	}
	if len(list) == 1 || o.latest {
		return picked{Entry: list[0]}, nil
	}
	filter, err := o.candidates.filter(c.app.Now())
	if err != nil {
		return picked{}, err
	}
	filter.All, filter.Since = len(filter.Statuses) == 0, since
	return c.among(ctx, selected{query, list, filter})
}

// pick returns the conversation that query matches. If several match and the user is at a
// terminal, it asks.
func (c chooser) pick(ctx context.Context, query string) (picked, error) {
	all := listing.Filter{All: true}
	switch {
	case query == "" && c.app.fullScreen():
		return c.onFullScreen(ctx, "", all)
	case query != "" && (c.app.fullScreen() || !c.app.terminal.present()): // needs no list of all that match
		e, err := c.w.Pick(query)
		if c.app.fullScreen() && errors.As(err, new(*workspace.AmbiguousError)) {
			return c.onFullScreen(ctx, query, all)
		}
		return picked{Entry: e}, err
	}
	list, err := candidates(c.w, query)
	if err != nil {
		return picked{}, err
	}
	if query != "" && len(list) == 1 {
		return picked{Entry: list[0]}, nil
	}
	return c.among(ctx, selected{query, list, all})
}

// A selected holds the conversations that the user must choose from.
type selected struct {
	query   string
	entries []store.Entry
	filter  listing.Filter // selects them together with the query
}

// among asks the user at the terminal to choose one of several conversations.
func (c chooser) among(ctx context.Context, s selected) (picked, error) {
	switch {
	case !c.app.terminal.present():
		return picked{}, &workspace.AmbiguousError{Query: s.query, Candidates: s.entries}
	case c.app.fullScreen():
		return c.onFullScreen(ctx, s.query, s.filter)
	}
	e, err := c.fromList(ctx, s.entries)
	return picked{Entry: e}, err
}

// candidates returns the conversations that query matches, or all if it is empty; at least one.
func candidates(w *opened, query string) ([]store.Entry, error) {
	list, err := matching(w, query, nil)
	if err == nil && len(list) == 0 {
		err = workspace.ErrEmpty
	}
	return list, err
}

// mostNumbered is the maximum number of conversations in a numbered list. The first entries
// of a longer list would scroll off the screen.
const mostNumbered = 20

// fromList lets the user choose from a numbered list. This needs only a line of input and
// works with a screen reader.
func (c chooser) fromList(ctx context.Context, list []store.Entry) (store.Entry, error) {
	if _, err := companion.Picker.Find(); err != nil && c.app.terminal.fits() {
		c.app.screen.warn("a list on a full screen is not available: " + err.Error())
	}
	for {
		shown := list[:min(len(list), mostNumbered)]
		choices(c.app.screen, shown)
		if more := len(list) - len(shown); more > 0 {
			fmt.Fprintf(c.app.screen.out, "     and %d more: type search terms to find them\n", more)
		}
		fmt.Fprintf(c.app.screen.out, "Which one? (1-%d, or search terms; Enter cancels) ", len(shown))
		line, err := c.app.terminal.line(ctx)
		switch {
		case ctx.Err() != nil:
			return store.Entry{}, errInterrupted
		case err != nil:
			return store.Entry{}, err
		case line == "":
			return store.Entry{}, errSilent
		}
		if strings.Trim(line, "0123456789") == "" {
			if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(shown) {
				return shown[n-1], nil
			}
			fmt.Fprintf(c.app.screen.out, "there is no number %s, only 1 to %d\n", line, len(shown))
			continue
		}
		switch found, err := candidates(c.w, line); {
		case err != nil:
			fmt.Fprintln(c.app.screen.out, visible(err.Error()))
		case len(found) == 1:
			return found[0], nil
		default:
			list = found
		}
	}
}

// choices prints a numbered list on a terminal: type, title, when, status; and summaries, if the
// list and the question below it still fit, because the first entries are the likeliest.
func choices(on screen, entries []store.Entry) {
	width, height := sizeOf(on.out)
	summaries := 2*len(entries)+2 < height
	for i, e := range entries {
		s := e.Session
		before := fmt.Sprintf("%3d  %s / ", i+1, oneLine(s.ConversationType))
		after := fmt.Sprintf("  (%s, %s)", workspace.ShownStatus(e), on.ago(s))
		title := oneLine(s.DisplayTitle())
		if room := max(width-textWidth(before+after), 1); textWidth(title) > room {
			title = cutRight(title, room)
		}
		fmt.Fprintf(on.out, "%s%s%s\n", before, bold(on.out, title), after)
		if summaries && s.ContextSummary != "" {
			fmt.Fprintf(on.out, "     %s\n", cutRight(oneLine(s.ContextSummary), width-5))
		}
	}
}

// latest returns the most recently active conversation. A query is a usage error.
func latest(w *opened, query string) (store.Entry, error) {
	if query != "" {
		return store.Entry{}, &usageError{"--continue cannot be combined with a query", ""}
	}
	return w.Latest()
}

// confirmCompleted asks before resuming a completed conversation.
func confirmCompleted(ctx context.Context, t terminal, e store.Entry) error {
	if e.Session.Status != schema.Completed {
		return nil
	}
	title := oneLine(e.Session.DisplayTitle())
	if !t.present() {
		return fmt.Errorf("%s is completed: %s reopens it", title, shell.Quote("cortext", "status", e.Session.ID, "active"))
	}
	yes, err := t.ask(ctx, fmt.Sprintf("%s is completed. Resume it?", title))
	if err == nil && !yes {
		err = errSilent
	}
	return err
}

// unasked returns an error if an argument only describes the conversation that it selected: a
// command that cannot be undone must ask then. The entries are those of the arguments, in the
// same order and without duplicates.
func unasked(w *opened, queries []string, entries []store.Entry) error {
	if len(entries) == 1 && workspace.Named(strings.Join(queries, " "), entries) {
		return nil // words that together name it
	}
	next := 0 // all before it are named
	for _, query := range queries {
		if next < len(entries) && workspace.Named(query, entries[next:next+1]) {
			next++
			continue
		}
		if workspace.Named(query, entries[:next]) {
			continue // named again
		}
		e, err := w.Pick(query)
		if err != nil {
			return err
		}
		return &workspace.WeakError{Query: query, Match: e}
	}
	return nil
}

// pickMany returns the conversations that the arguments name, without duplicates, or the
// current conversation if there are no arguments. Words that together name one conversation
// count as one argument, as in commands for one conversation.
func pickMany(w *opened, queries []string) ([]store.Entry, error) {
	if len(queries) == 0 {
		e, err := w.caller().Current()
		return []store.Entry{e}, err
	}
	entries, err := w.PickEach(queries)
	if err != nil && len(queries) > 1 && errors.As(err, new(*workspace.NotFoundError)) {
		if together, err := w.Pick(strings.Join(queries, " ")); err == nil {
			return []store.Entry{together}, nil
		}
	}
	return entries, err
}
