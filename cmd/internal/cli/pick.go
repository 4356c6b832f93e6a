package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

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

// pick returns the conversation that query matches. If several match and the user is at a
// terminal, it asks.
func (a *app) pick(ctx context.Context, w *opened, query string) (picked, error) {
	all := listing.Filter{All: true}
	switch {
	case query == "" && a.fullScreen():
		return a.choose(ctx, w, "", all)
	case query != "" && (a.fullScreen() || !a.terminal.present()): // needs no list of all that match
		e, err := w.Pick(query)
		if a.fullScreen() && errors.As(err, new(*workspace.AmbiguousError)) {
			return a.choose(ctx, w, query, all)
		}
		return picked{Entry: e}, err
	}
	list, err := candidates(w, query)
	if err != nil {
		return picked{}, err
	}
	if query != "" && len(list) == 1 {
		return picked{Entry: list[0]}, nil
	}
	return a.pickAmong(ctx, w, selected{query, list, all})
}

// A selected holds the conversations that the user must choose from.
type selected struct {
	query   string
	entries []store.Entry
	filter  listing.Filter // selects them together with the query
}

// pickAmong asks the user at the terminal to choose one of several conversations.
func (a *app) pickAmong(ctx context.Context, w *opened, s selected) (picked, error) {
	switch {
	case !a.terminal.present():
		return picked{}, &workspace.AmbiguousError{Query: s.query, Candidates: s.entries}
	case a.fullScreen():
		return a.choose(ctx, w, s.query, s.filter)
	}
	e, err := a.ask(ctx, w, s.entries)
	return picked{Entry: e}, err
}

// candidates returns the conversations that query matches, or all if it is empty; at least one.
func candidates(w *opened, query string) ([]store.Entry, error) {
	list, err := matching(w, query, nil)
	if err == nil && len(list) == 0 {
		err = workspace.ErrNoConversation
	}
	return list, err
}

// ask lets the user choose from a numbered list. This needs only a line of input and works
// with a screen reader.
func (a *app) ask(ctx context.Context, w *opened, list []store.Entry) (store.Entry, error) {
	for {
		choices(a.screen, list)
		fmt.Fprintf(a.screen.out, "Which one? (1-%d, or search terms; Enter cancels) ", len(list))
		line, err := a.terminal.line(ctx)
		switch {
		case ctx.Err() != nil:
			return store.Entry{}, errInterrupted
		case err != nil:
			return store.Entry{}, err
		case line == "":
			return store.Entry{}, errSilent
		}
		if strings.Trim(line, "0123456789") == "" {
			if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(list) {
				return list[n-1], nil
			}
			fmt.Fprintf(a.screen.out, "there is no number %s, only 1 to %d\n", line, len(list))
			continue
		}
		switch found, err := candidates(w, line); {
		case err != nil:
			fmt.Fprintln(a.screen.out, visible(err.Error()))
		case len(found) == 1:
			return found[0], nil
		default:
			list = found
		}
	}
}

// choices prints a numbered list: type, title, when, status, summary.
func choices(on screen, entries []store.Entry) {
	for i, e := range entries {
		s := e.Session
		fmt.Fprintf(on.out, "%3d  %s / %s  (%s, %s)\n", i+1, oneLine(s.ConversationType), bold(on.out, oneLine(s.DisplayTitle())), workspace.ShownStatus(e), on.ago(s))
		if s.ContextSummary != "" {
			fmt.Fprintf(on.out, "     %s\n", cut(oneLine(s.ContextSummary), 110))
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
func (a *app) confirmCompleted(ctx context.Context, e store.Entry) error {
	if e.Session.Status != schema.Completed {
		return nil
	}
	title := oneLine(e.Session.DisplayTitle())
	if !a.terminal.present() {
		return fmt.Errorf("%s is completed: %s reopens it", title, shell.Quote("cortext", "status", e.Session.ID, "active"))
	}
	yes, err := a.terminal.ask(ctx, fmt.Sprintf("%s is completed. Resume it?", title))
	if err == nil && !yes {
		err = errSilent
	}
	return err
}
