package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/workspace"
)

func currentCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "current",
		Short: "Show the current conversation",
		Long: `Shows the conversation that commands use if you give no id: the one in
CORTEXT_SESSION, or else the one of the agent session that runs the command, or else
the only active one.`,
		Example: "  cortext current",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			return runCurrent(cmd.Context(), a, w)
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func runCurrent(ctx context.Context, a *app, w *opened) error {
	if err := discover(ctx, a.screen, w); err != nil {
		return err
	}
	if err := a.notices(w).allWaiting(); err != nil {
		return err
	}
	e, err := w.caller().Listed()
	if err != nil {
		return err
	}
	a.notices(w).twins(e)
	if a.screen.asJSON {
		return a.screen.json(rowOf(w.Workspace, e))
	}
	s := e.Session
	fmt.Fprintf(a.screen.out, "%s  %s  %s  %s  %s  %s\n", oneLine(strings.TrimPrefix(e.Path, "conversations/")), oneLine(workspace.ShownStatus(e)), a.screen.ago(s),
		count(s.MessageCount, "message"), oneLine(s.ConversationType), oneLine(s.DisplayTitle()))
	return nil
}
