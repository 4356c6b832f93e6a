package flow

import (
	"context"
	"fmt"

	"cortext/cmd/internal/git"
	"cortext/store"
)

// A CommitError says why a conversation could not be committed; it is saved all
// the same.
type CommitError struct {
	Path string
	Err  error
}

func (e *CommitError) Error() string {
	return fmt.Sprintf("%s is saved, but git did not commit it: %v", e.Path, e.Err)
}

func (e *CommitError) Unwrap() error { return e.Err }

// commit commits the folder of a conversation, if the workspace is set up so
// (commit: stop). It reports whether there was anything to commit.
func (w *Workspace) commit(ctx context.Context, e store.Entry) (done bool, err error) {
	if w.Config.Commit != CommitStop {
		return false, nil
	}
	s := e.Session
	message := fmt.Sprintf("cortext: %s / %s (%d messages)", plain(s.ConversationType), plain(s.DisplayTitle()), s.MessageCount)
	if done, err = git.Commit(ctx, w.Store.Root(), e.Path, message); err != nil {
		return false, &CommitError{e.Path, err}
	}
	return done, nil
}
