package cli

import (
	"math"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func tidyCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "tidy",
		Short:   "Remove unused agent sessions, archive old conversations (called by cortext)",
		Long:    "Asks the agents to remove sessions that cortext started and that you never used, and archives\nold conversations if the settings say so. cortext runs this command itself.",
		Example: "  cortext tidy",
		Hidden:  true,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.openQuietly(cmd)
			if err != nil {
				return err
			}
			defer w.Close() // not a.close, which starts this command
			for _, err := range w.leftovers().RemoveUnused(cmd.Context()) {
				a.hooks().Failed(w.Workspace, "", "tidy", err)
			}
			if _, err := organise.AutoIn(w.Workspace).Run(cmd.Context(), math.MaxInt); err != nil {
				a.hooks().Failed(w.Workspace, "", "tidy", err)
			}
			return nil
		},
	}
}
