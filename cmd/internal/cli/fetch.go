package cli

import (
	"context"
	"errors"
	"fmt"

	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/git"
	"cortext/store"
)

// fetched makes sure that a conversation can be read before a command reads it: in a
// partial clone git may not have its files yet. It fetches them only if the user at the
// terminal agrees; otherwise the error names the command.
func (a *app) fetched(ctx context.Context, w *flow.Workspace, e store.Entry) error {
	err := readable(w, e)
	var missing *git.NotFetchedError
	if !errors.As(err, &missing) || !isTerminal(a.in) || !isTerminal(a.out) {
		return err
	}
	yes, askErr := a.ask(ctx, fmt.Sprintf("%d files of %s are not on this machine. Fetch them (%s)?", len(missing.Paths), oneLine(e.Session.DisplayTitle()), visible(missing.Command())))
	if askErr != nil {
		return askErr
	}
	if !yes {
		return err
	}
	if err := git.Fetch(ctx, missing); err != nil {
		return err
	}
	return readable(w, e)
}

func readable(w *flow.Workspace, e store.Entry) error {
	c, err := w.Open(e)
	if c != nil {
		err = errors.Join(err, c.Close())
	}
	return err
}
