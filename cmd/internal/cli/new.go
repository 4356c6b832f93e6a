package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "new <type> <title>",
		Short: "Start a conversation",
		Long: `Starts a conversation: creates its folder under conversations/, with a markdown
document. The type is brainstorm, debug, plan, learn, meeting, review, projectmanage,
chat, or the name of a file in .workspace/commands/.`,
		Example: "  cortext new brainstorm \"API design\"\n  cortext new plan the release\n  cortext new chat \"which cache?\" --json",
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runNew(cmd.Context(), a, w, list)
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func runNew(ctx context.Context, a *app, w *opened, list []string) error {
	e, paused, err := w.caller().New(list[0], strings.Join(list[1:], " "))
	if err != nil {
		return err
	}
	a.screen.paused(paused)
	if err := pauseIdle(ctx, a, w); err != nil {
		return err
	}
	if a.screen.asJSON {
		return a.screen.json(rowOf(w.Workspace, e))
	}
	fmt.Fprintln(a.screen.out, visible(e.Path))
	return nil
}
