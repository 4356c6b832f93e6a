package cli

import (
	"context"
	"errors"
	"fmt"

	"cortext/cmd/internal/history"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

// pick returns the conversation that query matches. If several match and the user is at a
// terminal, it asks: a numbered list needs only a line of input, and works with a screen
// reader.
func (a *app) pick(ctx context.Context, w *opened, query string) (store.Entry, error) {
	var candidates []store.Entry
	if query == "" {
		all, err := history.Listed(w.Store)
		if err != nil {
			return store.Entry{}, err
		}
		if len(all) == 0 {
			return store.Entry{}, workspace.ErrNoConversation
		}
		candidates = all
	} else {
		e, err := w.Pick(query)
		var ambiguous *workspace.AmbiguousError
		if !errors.As(err, &ambiguous) {
			return e, err
		}
		candidates = ambiguous.Candidates
	}
	return a.choose(ctx, w, query, candidates)
}

// choose asks the user at the terminal which of several conversations is meant.
func (a *app) choose(ctx context.Context, w *opened, query string, candidates []store.Entry) (store.Entry, error) {
	if !a.terminal.present() {
		return store.Entry{}, &workspace.AmbiguousError{Query: query, Candidates: candidates}
	}
	for {
		choices(a.screen, candidates)
		fmt.Fprintf(a.screen.out, "Which one? (1-%d, or search terms; Enter cancels) ", len(candidates))
		line, err := a.terminal.line(ctx)
		if err != nil {
			return store.Entry{}, err
		}
		if line == "" {
			return store.Entry{}, errSilent
		}
		var n int
		if _, err := fmt.Sscanf(line, "%d", &n); err == nil && fmt.Sprint(n) == line && n >= 1 && n <= len(candidates) {
			return candidates[n-1], nil
		}
		e, err := w.Pick(line)
		var ambiguous *workspace.AmbiguousError
		switch {
		case err == nil:
			return e, nil
		case errors.As(err, &ambiguous):
			candidates = ambiguous.Candidates
		default:
			fmt.Fprintln(a.screen.out, visible(err.Error()))
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

// latest returns the conversation that was active last. It takes no query.
func latest(w *opened, query string) (store.Entry, error) {
	if query != "" {
		return store.Entry{}, &usageError{"--continue cannot be combined with a query", ""}
	}
	all, err := w.Store.List()
	if err == nil && len(all) == 0 {
		err = workspace.ErrNoConversation
	}
	if err != nil {
		return store.Entry{}, err
	}
	return all[0], nil
}

// confirmCompleted asks before resuming a completed conversation.
func (a *app) confirmCompleted(ctx context.Context, e store.Entry) error {
	if e.Session.Status != schema.Completed {
		return nil
	}
	title := oneLine(e.Session.DisplayTitle())
	if !a.terminal.present() {
		return fmt.Errorf("%s is completed: %s opens it again", title, shell.Quote("cortext", "status", e.Session.ID, "active"))
	}
	yes, err := a.terminal.ask(ctx, fmt.Sprintf("%s is completed. Resume it?", title))
	if err == nil && !yes {
		err = errSilent
	}
	return err
}
