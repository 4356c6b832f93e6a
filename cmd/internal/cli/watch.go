package cli

import (
	"context"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/capture"
	"cortext/cmd/internal/watch"
)

func watchCommand(a *app) *cobra.Command {
	var adopt bool
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Capture sessions as they grow, without hooks",
		Long: `Watches the agents' stores and captures this workspace's sessions as they grow, until
you press Ctrl-C. It first captures what it missed. It also pauses idle conversations.
It captures sessions that a /workspace command started; with --adopt, or with
"capture: all" in .workspace/config.yaml, it captures every session in this work tree.`,
		Example: "  cortext watch --adopt",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			return runWatch(cmd.Context(), a, w, adopt)
		}),
	}
	cmd.Flags().BoolVar(&adopt, "adopt", false, "also capture sessions that no /workspace command started")
	return cmd
}

func runWatch(ctx context.Context, a *app, w *opened, adopt bool) error {
	defer a.Interrupts.Finish()()
	failed := map[string]bool{} // show each failure once, not at every change
	return watch.Run(ctx, w.Workspace, w.capture, watch.Options{
		Adopt: adopt,
		Ready: func() { fmt.Fprintln(a.screen.errw, "watching; Ctrl-C ends it") },
		Done: func(out *capture.SyncResult, paused string) {
			printWatched(a.screen, w, out, paused, failed)
			a.screen.warn(w.capture.TakeWarnings()...)
			if err := archiveOld(ctx, a, w); err != nil {
				a.screen.warn(err.Error())
			}
			a.hooks().LifecycleLater(w.Workspace)
		},
	})
}

// printWatched prints the results of one look.
func printWatched(on screen, w *opened, out *capture.SyncResult, paused string, failed map[string]bool) {
	for _, got := range out.New {
		fmt.Fprintf(on.out, "new: %s\n", visible(got.Path))
	}
	for _, got := range out.Captured {
		name := got.Path
		if e, err := w.Entry(got.Path); err == nil {
			name = e.Session.ConversationType + " / " + e.Session.DisplayTitle()
		}
		fmt.Fprintf(on.out, "captured %s of %s (%s)\n", count(got.Messages, "message"), visible(name), got.Agent)
	}
	if paused != "" {
		fmt.Fprintf(on.out, "paused because idle: %s\n", visible(paused))
	}
	now := map[string]bool{}
	for _, err := range out.Errors {
		text := err.Error()
		if now[text] = true; !failed[text] {
			on.report(err)
		}
	}
	clear(failed)
	maps.Copy(failed, now)
}
