package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
)

func (a *app) removeCommand() *cobra.Command {
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
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, list []string) error {
			e, err := w.Pick(strings.Join(list, " "))
			if err != nil {
				return err
			}
			title := oneLine(e.Session.DisplayTitle())
			if !yes {
				if !isTerminal(a.in) || !isTerminal(a.out) {
					return &usageError{"nobody can be asked whether to remove " + title, "--yes removes it without being asked"}
				}
				if yes, err = a.ask(cmd.Context(), fmt.Sprintf("Remove %s, %d messages, with the folder %s?", title, e.Session.MessageCount, visible(e.Path))); err != nil || !yes {
					return err
				}
			}
			if err := w.Remove(cmd.Context(), e); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "removed %s (%s)\n", title, visible(e.Path))
			return nil
		}),
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}
