package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"cortext/cmd/internal/hook"
	"cortext/cmd/internal/lifecycle"
	"cortext/cmd/internal/workspace"
)

// Programs are the programs in a workspace's hooks folder.
type programs struct {
	screen   screen
	w        *opened
	register lifecycle.Register // records the user's decisions
}

func (a *app) programs(w *opened) programs {
	return programs{a.screen, w, lifecycle.RegisterIn(workspace.StateDir(a.Machine))}
}

// run runs the programs for the pending events, if the user allows them.
func (p programs) run(ctx context.Context) {
	happened := p.w.Events.Take()
	if len(happened) == 0 || hook.InLifecycle() || !p.allowed() {
		return
	}
	for _, err := range p.runFor(ctx, happened) {
		p.screen.warn(oneLine(err.Error()))
	}
}

// allowed reports whether the workspace's programs may run. It prints a note if there are
// programs that may not.
func (p programs) allowed() bool {
	yes, any, err := p.register.Allows(p.w.Store.Root())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.screen.warn(visible(p.w.Store.Root()) + " was moved or removed meanwhile: no program in " + lifecycle.Dir + " was run")
	case err != nil:
		p.screen.warn(err.Error())
	case any && !yes:
		p.screen.warn("the programs in " + lifecycle.Dir + " were not run: cortext trust shows and allows them")
	}
	return yes && err == nil
}

// runFor runs the programs for the given events.
func (p programs) runFor(ctx context.Context, happened []workspace.Event) (failed []error) {
	for _, h := range happened {
		id, err := p.w.ConversationID(h.Path)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		folder := filepath.Join(p.w.Store.Root(), filepath.FromSlash(h.Path))
		failed = append(failed, lifecycle.Run(ctx, p.register, p.w.Store.Root(), lifecycle.Event{
			Event: h.Name, Session: id, Folder: folder, ID: h.MessageID, Role: h.Role, Count: h.Count,
		})...)
	}
	return failed
}
