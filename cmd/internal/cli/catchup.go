package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cortext/cmd/internal/git"
	"cortext/cmd/internal/organise"
	"cortext/cmd/internal/settings"
	"cortext/cmd/internal/workspace"
	"cortext/store"
)

// discover captures conversations that no hook has reported, before a command that may
// refer to one of them. It reports what cannot be read.
func discover(ctx context.Context, on screen, w *opened) error {
	if w.Config.Autosave == settings.AutosaveOff {
		return nil // only a stop captures
	}
	return discoverAll(ctx, on, w)
}

// discoverAll is discover regardless of the settings.
func discoverAll(ctx context.Context, on screen, w *opened) error {
	out, err := w.leftovers().Discover(ctx)
	if err != nil {
		return err
	}
	on.warnUnread(out.Errors)
	return nil
}

// warnUnread warns about sessions that cannot be read, and names the first few.
func (s screen) warnUnread(errs []error) {
	if n := len(errs); n > 0 {
		s.warn(strings.Join(messages(errs[:min(n, 3)]), "; "))
	}
}

// messages returns the texts of errors.
func messages(errs []error) []string {
	list := []string{}
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}

// pauseIdle pauses idle conversations and archives old ones according to the settings, and
// reports both.
func pauseIdle(ctx context.Context, a *app, w *opened) error {
	paused, err := w.Idle.Pause(ctx, "")
	for _, e := range paused {
		fmt.Fprintf(a.screen.errw, "paused \"%s\": it had no new message for %d minutes\n", oneLine(e.Session.DisplayTitle()), w.Config.IdleMinutes)
	}
	return errors.Join(err, archiveOld(ctx, a, w))
}

// archiveOld archives old conversations if the settings ask for it. It also reports what
// background processes have archived.
func archiveOld(ctx context.Context, a *app, w *opened) error {
	auto := organise.AutoIn(w.Workspace)
	more, err := auto.Run(ctx, organise.AutoFew)
	if more {
		err = errors.Join(err, a.hooks().Later(w.Workspace, "tidy"))
	}
	archived, left := auto.TakeUntold()
	if archived > 0 {
		fmt.Fprintf(a.screen.errw, "archived %s because of auto_archive_days or max_conversations; cortext unarchive --automatic undoes it\n", count(archived, "old conversation"))
	}
	if left > 0 {
		fmt.Fprintf(a.screen.errw, "%s not archived, because git has them unchanged and might refuse a checkout or a pull: run cortext archive --automatic, then commit them\n", count(left, "old conversation"))
	}
	return err
}

// fetched makes sure that a command can read a conversation: in a partial clone git may not
// have its files yet. It fetches them only if the user agrees at the terminal. Otherwise
// the error names the command to run.
func fetched(ctx context.Context, t terminal, w *opened, e store.Entry) error {
	err := readable(w.Workspace, e)
	var missing *git.NotFetchedError
	if !errors.As(err, &missing) || !t.present() {
		return err
	}
	yes, askErr := t.ask(ctx, fmt.Sprintf("%d files of %s are not on this machine. Fetch them (%s)?", len(missing.Paths), oneLine(e.Session.DisplayTitle()), visible(missing.Command())))
	if askErr != nil {
		return askErr
	}
	if !yes {
		return err
	}
	if err := git.Fetch(ctx, missing); err != nil {
		return err
	}
	return readable(w.Workspace, e)
}

func readable(w *workspace.Workspace, e store.Entry) error {
	c, err := w.Open(e)
	if c != nil {
		err = errors.Join(err, c.Close())
	}
	return err
}
