package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
	"cortext/store"
)

func unarchiveCommand(a *app) *cobra.Command {
	var automatic bool
	cmd := &cobra.Command{
		Use:   "unarchive <id>...",
		Short: "Show archived conversations in lists again",
		Long: `Undoes cortext archive. With --automatic, it undoes the last automatic
archiving, by the settings auto_archive_days and max_conversations.`,
		Example: "  cortext unarchive 1030-brainstorm-api-design-hv37",
		Args:    noneIf(&automatic, cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			find := func() ([]store.Entry, error) { return pickMany(w, list) }
			if automatic {
				find = organise.AutoIn(w.Workspace).Archived
			}
			entries, err := find()
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				fmt.Fprintln(a.screen.errw, "there is no automatic archiving to undo: nothing to do")
			}
			return edit{organise.SetArchived(false), "in lists again", "was not archived"}.apply(cmd.Context(), a, w, entries)
		}),
	}
	cmd.Flags().BoolVar(&automatic, "automatic", false, "undo the last automatic archiving")
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversations as JSON")
	return cmd
}
