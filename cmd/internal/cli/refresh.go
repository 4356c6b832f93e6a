package cli

import (
	"github.com/spf13/cobra"
)

func refreshCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "refresh",
		Short:   "Make lists see edits made by hand (called by cortext)",
		Long:    "Checks the files of all conversations and updates the index for lists. cortext runs this command itself.",
		Example: "  cortext refresh",
		Hidden:  true,
		Args:    args(cobra.NoArgs),
		RunE: a.quietlyWithin(func(_ *cobra.Command, w *opened, _ []string) error {
			return w.RefreshListingAlone()
		}),
	}
}
