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
		Long: `Removes a conversation: its folder with its document and all else that lies in it.
What the agents' transcripts still have of it is not captured again, in any work tree
or clone on this machine, and once .workspace/removed is committed, on no other, until
you import one of them. What git has committed, git keeps.`,
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
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}
