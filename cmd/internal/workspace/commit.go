package workspace

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/settings"
	"cortext/store"
)

// A CommitError reports why a conversation could not be committed; it is saved anyway.
type CommitError struct {
	Path string
	Err  error
}

func (e *CommitError) Error() string {
	return fmt.Sprintf("%s is saved, but git did not commit it: %v", e.Path, e.Err)
}

func (e *CommitError) Unwrap() error { return e.Err }

// Commit commits the folder of a conversation if the workspace is configured to (commit:
// stop). It reports whether there was anything to commit.
func (w *Workspace) Commit(ctx context.Context, e store.Entry) (done bool, err error) {
	if w.Config.Commit != settings.CommitStop || e.Waiting {
		return false, nil
	}
	s := e.Session
	message := fmt.Sprintf("cortext: %s / %s (%d messages)", Plain(s.ConversationType), Plain(s.DisplayTitle()), s.MessageCount)
	if done, err = git.Commit(ctx, w.Store.Root(), e.Path, message); err != nil {
		return false, &CommitError{e.Path, err}
	}
	return done, nil
}

// Plain puts text on one line and removes control characters: titles and summaries are
// data.
func Plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
