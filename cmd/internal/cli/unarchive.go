package cli

import (
	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func unarchiveCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "unarchive <id>...",
		Short:   "Show archived conversations in lists again",
		Long:    "Undoes cortext archive.",
		Example: "  cortext unarchive 1030-brainstorm-api-design-hv37",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			entries, err := pickMany(w, list)
			if err != nil {
				return err
			}
			return a.apply(cmd.Context(), w, entries, edit{organise.Archive(false), "in lists again", asJSON})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversations as JSON")
	return cmd
}
