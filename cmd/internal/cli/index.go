package cli

import (
	"github.com/spf13/cobra"

	"cortext/cmd/internal/listing"
)

func indexCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "index",
		Short:   "Bring the index of cortext search up to date (called by cortext)",
		Long:    "Adds new text to the index that makes cortext search faster. cortext runs this command itself after a search.",
		Example: "  cortext index",
		Hidden:  true,
		Args:    args(cobra.NoArgs),
		RunE: a.quietlyWithin(func(cmd *cobra.Command, w *opened, _ []string) error {
			list, err := w.Listing(nil)
			if err != nil {
				return err
			}
			defer list.Close()
			source := sourceOf(w.Workspace, list, listing.Filter{All: true, Archived: true})
			defer source.Index.Close()
			return source.Index.Refresh(cmd.Context(), source)
		}),
	}
}
