package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func skipCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "skip",
		Short: "Stop capturing the current agent session",
		Long: `Stops capturing the agent session that runs this command, in every work tree and clone
on this machine. Capturing resumes if you type /workspace.stop-conversation or another
/workspace command in the session, or import it. Agents run skip when you ask them not
to save.`,
		Example: "  cortext skip",
		Args:    args(cobra.NoArgs),
		RunE: a.quietlyWithin(func(_ *cobra.Command, w *opened, _ []string) error {
			if err := w.caller().Skip(); err != nil {
				return err
			}
			fmt.Fprintln(a.screen.out, "this session is not saved until you type /workspace.stop-conversation")
			return nil
		}),
	}
}
