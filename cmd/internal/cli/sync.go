package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/shell"
	"cortext/inject"
	"cortext/store"
)

func syncCommand(a *app) *cobra.Command {
	var o capture.SyncOptions
	cmd := &cobra.Command{
		Use:   "sync",
		Short: "Import sessions this workspace is missing",
		Long: `Searches the agents' stores on this machine for sessions of this workspace and imports
what is missing, including sessions that no /workspace command started. After a sync
you can delete the agents' stores without losing anything.

A session belongs to this workspace if it ran in its work tree, in another work tree or
clone of the same repository, or in a folder where the workspace used to be. sync does
not bring back conversations that you removed or skipped. Messages that git, or an
agent's undo, took out of the work tree stay set aside; --restore puts them back, and
imports what was said in work trees that are gone.`,
		Example: "  cortext sync\n  cortext sync --json\n  cortext sync --restore",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			return runSync(cmd.Context(), a, w, o)
		}),
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.Agents, "agent", nil, "search only the store of `AGENT`")
	f.StringArrayVar(&o.Was, "was", nil, "also import sessions that ran in `DIR`, an earlier location of the work tree")
	f.BoolVar(&o.Restore, "restore", false, "put back conversations that git removed from the work tree")
	f.BoolVar(&a.screen.asJSON, "json", false, "print the result as JSON")
	return cmd
}

func runSync(ctx context.Context, a *app, w *opened, o capture.SyncOptions) error {
	for i, dir := range o.Was {
		abs, err := filepath.Abs(a.file(dir))
		if err != nil {
			return err
		}
		o.Was[i] = abs
	}
	o.Adopt, o.Clones = true, true
	if isTerminal(a.screen.errw) {
		o.Progress = func(agent string, done, total int) { a.screen.progress("%s: %d of %d", agent, done, total) }
	}
	out, err := w.leftovers().Sync(ctx, o)
	a.screen.clearLine()
	if errors.Is(err, context.Canceled) {
		return errors.New("stopped: what was captured so far is kept, run the same command to continue")
	}
	if err != nil {
		return err
	}
	all, err := w.Index.Written()
	if err != nil {
		return err
	}
	if err := printSynced(a.notices(w), out, all); err != nil {
		return err
	}
	var said []string
	for _, got := range out.New {
		said = append(said, got.Warnings...)
	}
	a.notices(w).captured(said)
	removed, err := w.Removed.LeftoversAmong(all...)
	if err != nil {
		return err
	}
	a.notices(w).removed(removed, nil)
	if err := pauseIdle(ctx, a, w); err != nil {
		return err
	}
	return syncFailed(a.screen, out)
}

// waitingRow is an entry of waiting in sync --json.
type waitingRow struct {
	ID       string `json:"id"`
	Path     string `json:"path"`
	Messages int    `json:"messages"`
	Folder   string `json:"folder"`
	Why      string `json:"why"` // empty if they can be moved into the work tree
}

// printSynced prints the result of a sync. all are the conversations there are after it.
func printSynced(say notices, out *capture.SyncResult, all []store.Entry) error {
	on := say.screen
	waiting := say.waiting(all...)
	say.twins(all...)
	if on.asJSON {
		waits := []waitingRow{}
		for _, v := range waiting {
			waits = append(waits, waitingRow{v.Entry.Session.ID, v.Entry.Path, v.Messages, v.Folder, v.Why})
		}
		list := []imported{}
		for _, got := range out.New {
			list = append(list, importedOf(&got))
		}
		unsure, gone := []string{}, []string{}
		for _, n := range out.Unsure {
			unsure = append(unsure, n.Path)
		}
		for _, n := range out.Gone {
			gone = append(gone, n.Path)
		}
		return on.json(map[string]any{"sessions": out.Sessions, "new": list, "grown": out.Grown, "appended": out.Appended, "unsure": unsure, "gone": gone,
			"elsewhere": out.Elsewhere, "taken": out.Taken, "waiting": waits, "errors": messages(out.Errors)})
	}
	for _, got := range out.New {
		if err := printImported(on, &got); err != nil {
			return err
		}
	}
	captured := 0
	for _, from := range out.Captured {
		captured += from.Messages
	}
	fmt.Fprintf(on.out, "%s of this workspace: %d new, %d with new messages (%s captured)\n", count(out.Sessions, "session"), len(out.New), out.Grown, count(captured, "message"))
	if out.Elsewhere > 0 {
		fmt.Fprintf(on.out, "%d of them belong to conversations of other work trees and are captured there\n", out.Elsewhere)
	}
	if out.Taken > 0 {
		on.warn(fmt.Sprintf("git, or an agent's undo, took %s from this work tree: cortext sync --restore puts back what is kept in .workspace/local/kept/taken", count(out.Taken, "message")))
	}
	eachFolder(out.Gone, func(dir string, n int) {
		on.warn(fmt.Sprintf("found %s held in %s, a work tree that is gone, and git does not have what was said there: cortext sync --restore brings it back", count(n, "session"), dir))
	})
	eachFolder(out.Unsure, func(dir string, n int) {
		on.warn(fmt.Sprintf("found %s held in %s, which is gone: if that was this work tree, run %s", count(n, "session"), dir, shell.Quote("cortext", "sync", "--was", dir)))
	})
	return nil
}

// eachFolder calls f for each folder in which sessions were held, with how many there are.
func eachFolder(list []inject.SessionRef, f func(dir string, n int)) {
	dirs := map[string]int{}
	for _, n := range list {
		dirs[n.Dir]++
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		f(dir, dirs[dir])
	}
}

// syncFailed reports what could not be captured.
func syncFailed(on screen, out *capture.SyncResult) error {
	for _, err := range out.Errors {
		on.report(err)
	}
	if n := len(out.Errors); n > 0 {
		return fmt.Errorf("%s, see above: everything else was captured", count(n, "failure"))
	}
	return nil
}
