package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/shell"
	"cortext/cmd/internal/watch"
	"cortext/cmd/internal/workspace"
)

type syncOptions struct {
	capture.SyncOptions
	json bool
}

func (a *app) syncCommand() *cobra.Command {
	var o syncOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Import sessions this workspace is missing",
		Long: `Searches the agents' stores on this machine for sessions of this workspace and imports
what is missing, including sessions that no /workspace command started. After a sync
you can delete the agents' stores without losing anything.

A session belongs to this workspace if it ran in its work tree, in another work tree or
clone of the same repository, or in a folder where the workspace used to be. sync does
not bring back conversations that you removed or skipped. Messages that git took out of
the work tree stay set aside; --restore puts them back.`,
		Example: "  cortext sync",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			return a.runSync(cmd.Context(), w, o)
		}),
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Agents, "agent", nil, "search only the store of `AGENT`")
	f.StringArrayVar(&o.Was, "was", nil, "also import sessions that ran in `DIR`, an earlier location of the work tree")
	f.BoolVar(&o.Restore, "restore", false, "put back conversations that git removed from the work tree")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	return cmd
}

func (a *app) runSync(ctx context.Context, w *flow.Workspace, o syncOptions) error {
	for i, dir := range o.Was {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		o.Was[i] = abs
	}
	o.Adopt, o.Clones = true, true
	show := isTerminal(a.errw)
	if show {
		o.Progress = func(agent string, done, total int) { fmt.Fprintf(a.errw, "\r\x1b[K%s: %d of %d", agent, done, total) }
	}
	out, err := w.Sync(ctx, o.SyncOptions)
	if show {
		fmt.Fprint(a.errw, "\r\x1b[K")
	}
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped: what was captured so far is kept, the same command goes on from there")
	}
	if err != nil {
		return err
	}
	if err := a.printSynced(w, out, o.json); err != nil {
		return err
	}
	var said []string
	for _, got := range out.New {
		said = append(said, got.Warnings...)
	}
	a.warnBeyond(w, said)
	removed, err := w.Removed.Leftovers()
	if err != nil {
		return err
	}
	a.sayRemoved(removed, nil)
	if err := a.pauseIdle(ctx, w); err != nil {
		return err
	}
	return a.syncFailed(out)
}

// waitingRow is an entry of waiting in sync --json.
type waitingRow struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	Messages int    `json:"messages"`
	Folder   string `json:"folder"`
	Why      string `json:"why"` // empty: nothing prevents moving them into the work tree
}

// printSynced prints the result of a sync.
func (a *app) printSynced(w *flow.Workspace, out *capture.SyncResult, asJSON bool) error {
	all, err := w.Store.List()
	if err != nil {
		return err
	}
	a.sayWaiting(w, all...)
	a.sayTwins(w, all...)
	if asJSON {
		waiting, _ := w.Waiting(all...)
		waits := []waitingRow{}
		for _, v := range waiting {
			waits = append(waits, waitingRow{v.Entry.Session.ID, v.Entry.Path, v.Messages, v.Folder, v.Why})
		}
		list := []imported{}
		for _, got := range out.New {
			list = append(list, importedOf(&got))
		}
		unsure := []string{}
		for _, n := range out.Unsure {
			unsure = append(unsure, n.Path)
		}
		return a.printJSON(map[string]any{"sessions": out.Sessions, "new": list, "grown": out.Grown, "appended": out.Appended, "unsure": unsure,
			"elsewhere": out.Elsewhere, "taken": out.Taken, "waiting": waits, "errors": messages(out.Errors)})
	}
	for _, got := range out.New {
		if err := a.printImported(&got, false); err != nil {
			return err
		}
	}
	fmt.Fprintf(a.out, "%d sessions of this workspace: %d new, %d with more than was captured (%d messages)\n", out.Sessions, len(out.New), out.Grown, out.Appended)
	if out.Elsewhere > 0 {
		fmt.Fprintf(a.out, "%d of them belong to conversations of other work trees, which capture them\n", out.Elsewhere)
	}
	if out.Taken > 0 {
		a.warn(fmt.Sprintf("git took %d messages from this work tree: they are kept in .workspace/local/kept/taken, and cortext sync --restore puts them back", out.Taken))
	}
	if len(out.Unsure) > 0 {
		dirs := map[string]int{}
		for _, n := range out.Unsure {
			dirs[n.Dir]++
		}
		for _, dir := range slices.Sorted(maps.Keys(dirs)) {
			a.warn(fmt.Sprintf("%d sessions were held in %s, which is gone: if that was this work tree, run %s", dirs[dir], dir, shell.Quote("cortext", "sync", "--was", dir)))
		}
	}
	return nil
}

func messages(errs []error) []string {
	list := []string{}
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}

// syncFailed reports what could not be captured.
func (a *app) syncFailed(out *capture.SyncResult) error {
	for _, err := range out.Errors {
		a.report(err)
	}
	if n := len(out.Errors); n > 0 {
		return fmt.Errorf("not everything was captured, see above (%d): all else was", n)
	}
	return nil
}

func (a *app) watchCommand() *cobra.Command {
	var adopt bool
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Capture sessions as they grow, without hooks",
		Long: `Watches the agents' stores and captures this workspace's sessions as they grow, until
you press Ctrl-C. It first captures what it missed, and it pauses idle conversations.
It captures sessions that a /workspace command started; with --adopt, or with
"capture: all" in .workspace/config.yaml, it captures every session in this work tree.`,
		Example: "  cortext watch --adopt",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			defer a.interrupts.finish()()
			failed := map[string]bool{} // each failure is shown once, not at every change
			return watch.Run(cmd.Context(), w.Workspace, w.Capture, watch.Options{
				Adopt: adopt,
				Ready: func() { fmt.Fprintln(a.errw, "watching; Ctrl-C ends it") },
				Done: func(out *capture.SyncResult, paused string) {
					a.sayWatched(w, out, paused, failed)
					a.warn(w.TakeWarnings()...)
					a.hooks().LifecycleLater(w)
				},
			})
		}),
	}
	cmd.Flags().BoolVar(&adopt, "adopt", false, "also capture sessions that no /workspace command started")
	return cmd
}

// sayWatched prints what a look of watch found.
func (a *app) sayWatched(w *flow.Workspace, out *capture.SyncResult, paused string, failed map[string]bool) {
	for _, got := range out.New {
		fmt.Fprintf(a.out, "new: %s\n", visible(got.Path))
	}
	for _, got := range out.Captured {
		name, messages := got.Path, "messages"
		if e, err := w.Entry(got.Path); err == nil {
			name = e.Session.ConversationType + " / " + e.Session.DisplayTitle()
		}
		if got.Messages == 1 {
			messages = "message"
		}
		fmt.Fprintf(a.out, "captured %d %s of %s (%s)\n", got.Messages, messages, visible(name), got.Agent)
	}
	if paused != "" {
		fmt.Fprintf(a.out, "paused, since idle: %s\n", visible(paused))
	}
	now := map[string]bool{}
	for _, err := range out.Errors {
		text := err.Error()
		if now[text] = true; !failed[text] {
			a.report(err)
		}
	}
	clear(failed)
	for text := range now {
		failed[text] = true
	}
}

// discover captures conversations that no hook has reported, before a command that may
// mean one of them. It reports what cannot be read.
func (a *app) discover(ctx context.Context, w *flow.Workspace) error {
	if w.Config.Autosave == workspace.AutosaveOff {
		return nil // only a stop captures
	}
	return a.discoverAll(ctx, w)
}

// discoverAll is discover regardless of the settings.
func (a *app) discoverAll(ctx context.Context, w *flow.Workspace) error {
	out, err := w.Discover(ctx)
	if err != nil {
		return err
	}
	if n := len(out.Errors); n > 0 {
		a.warn(strings.Join(messages(out.Errors[:min(n, 3)]), "; "))
	}
	return nil
}
