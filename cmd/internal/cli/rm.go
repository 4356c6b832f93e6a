package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/stop"
)

func rmCommand(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm <id>",
		Short: "Remove a conversation",
		Long: `Deletes the folder of a conversation, with its document and everything else in it.
cortext does not capture the conversation again, in any work tree or clone on this
machine, even if the agents still have its transcripts. Commit .workspace/removed to
make that hold on other machines. To get a conversation back, import its transcript.
Commits that contain the conversation stay in git.`,
		Example: "  cortext rm 1030-brainstorm-api-design-hv37",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runRm(cmd.Context(), a, w, strings.Join(list, " "), yes)
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

func runRm(ctx context.Context, a *app, w *opened, query string, yes bool) error {
	e, err := w.Pick(query)
	if err != nil {
		return err
	}
	title := oneLine(e.Session.DisplayTitle())
	if !yes {
		if !a.terminal.present() {
			return &usageError{"removing " + title + " has to be confirmed, and there is no terminal to ask on", "--yes removes it without asking"}
		}
		yes, err = a.terminal.ask(ctx, fmt.Sprintf("Remove %s, %s, with the folder %s?", title, count(e.Session.MessageCount, "message"), visible(e.Path)))
		if err != nil || !yes {
			return err
		}
	}
	if err := stop.Remove(ctx, w.Workspace, w.capture, e); err != nil {
		return err
	}
	fmt.Fprintf(a.screen.out, "removed %s (%s)\n", title, visible(e.Path))
	return nil
}
