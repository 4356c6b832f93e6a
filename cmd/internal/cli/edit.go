package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"cortext/cmd/internal/organise"
	"cortext/store"
)

// An edit is a change that a command makes to several conversations.
type edit struct {
	change organise.Change
	done   string // past tense for a message, such as "tagged backend"
	had    string // what a conversation that it did not change was before
}

// progressFrom is the number of conversations that a command changes without showing progress.
const progressFrom = 20

// applyTo is apply for the conversations that arguments name, as in [pickMany].
func (c edit) applyTo(ctx context.Context, a *app, w *opened, queries []string) error {
	entries, err := pickMany(w, queries)
	if err != nil {
		return err
	}
	return c.apply(ctx, a, w, entries)
}

// wantsWords returns a usage error if words that belong before the conversations name one by its
// id or folder: other commands take the conversation first.
func wantsWords(w *opened, words, what string) error {
	e, err := w.Pick(words)
	if err != nil || !slices.Contains([]string{e.Session.ID, e.Path, path.Base(e.Path), shortName(e.Path)}, words) {
		return nil
	}
	return &usageError{fmt.Sprintf("%q is a conversation", words), "the " + what + " comes first, then the conversation"}
}

// apply makes the change to conversations and prints each. It continues if one cannot
// be changed.
func (c edit) apply(ctx context.Context, a *app, w *opened, entries []store.Entry) error {
	var errs []error
	rows := []row{}
	for i, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(entries) > progressFrom {
			a.screen.progress("%d of %d conversations", i, len(entries))
		}
		after, changed, err := organise.Apply(w.Workspace, e, c.change)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if changed {
			a.screen.clearLine()
			a.notices(w).remade(e)
		}
		if a.screen.asJSON {
			rows = append(rows, plainRow(after))
			continue
		}
		a.screen.clearLine()
		said := c.done
		if !changed {
			said = c.had
		}
		title := oneLine(after.Session.DisplayTitle())
		if width := widthOf(a.screen.out); width > 0 { // so that what happened is on the same line
			title = cutRight(title, max(width-textWidth(": "+said), leastTitle))
		}
		fmt.Fprintf(a.screen.out, "%s: %s\n", title, said)
	}
	a.screen.clearLine()
	return errors.Join(append(errs, showChanged(a, w, entries, rows))...)
}

// showChanged ends a command that changed some conversations: it prints what users should know
// about them, and their rows for --json.
func showChanged(a *app, w *opened, entries []store.Entry, rows []row) error {
	a.notices(w).removed(w.Removed.LeftoversAmong(entries...))
	if a.screen.asJSON {
		return a.screen.json(rows)
	}
	a.notices(w).waiting(entries...)
	return nil
}
