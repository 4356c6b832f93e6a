package cli

import (
	"context"
	"fmt"
	"strings"

	"cortext/cmd/internal/flow"
	"cortext/store"
)

// sayWaiting lists the conversations with messages that wait to be moved into the work
// tree, one per line.
func (a *app) sayWaiting(w *flow.Workspace, entries ...store.Entry) {
	list, err := w.Waiting(entries...)
	for _, v := range list {
		fmt.Fprintf(a.errw, "cortext: waiting: %s\n", oneLine(v.String()))
	}
	if err != nil {
		a.warn(err.Error())
	}
}

// sayAllWaiting is sayWaiting for all conversations.
func (a *app) sayAllWaiting(w *flow.Workspace) error {
	if len(w.Store.WaitingPaths()) == 0 {
		return nil
	}
	all, err := w.Store.List()
	if err == nil {
		a.sayWaiting(w, all...)
	}
	return err
}

// sayTwins lists conversations with records in several folders.
func (a *app) sayTwins(w *flow.Workspace, entries ...store.Entry) {
	for _, e := range entries {
		if full := w.FullTwins(e); len(full) > 0 {
			a.warn(fmt.Sprintf("one conversation is in several folders, %s and %s: the next stop merges their logs into the first", e.Path, strings.Join(full, ", ")))
		}
	}
}

// warnLost prints how many messages of a conversation are missing, and where they can be
// found.
func (a *app) warnLost(ctx context.Context, w *flow.Workspace, e store.Entry) {
	lost, err := w.Lost(ctx, e)
	switch {
	case err != nil:
		a.warn(err.Error())
	case lost != nil:
		a.warn(lost.String())
	}
}
