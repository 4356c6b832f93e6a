package cli

import (
	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func archiveCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "archive [<id>...]",
		Short: "Hide conversations from lists",
		Long: `Archives conversations; without an id, the current one. Archived conversations are left
out of lists and of what resume offers, but nothing is deleted, and their ids still
work. cortext unarchive undoes it.`,
		Example: "  cortext archive \"api design\"",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			entries, err := pickMany(w, list)
			if err != nil {
				return err
			}
			return a.apply(cmd.Context(), w, entries, edit{organise.Archive(true), "archived", asJSON})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversations as JSON")
	return cmd
}
