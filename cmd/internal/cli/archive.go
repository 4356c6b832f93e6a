package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func archiveCommand(a *app) *cobra.Command {
	var automatic bool
	cmd := &cobra.Command{
		Use:   "archive [<id>...]",
		Short: "Hide conversations from lists",
		Long: `Archives conversations; without an id, the current one. Lists and cortext resume
do not show archived conversations. Nothing is deleted, and their ids still work. cortext
unarchive undoes it.

With --automatic, it archives the conversations that the settings auto_archive_days and
max_conversations select. cortext archives these automatically, except those that are
unchanged in git, which may refuse a checkout or a pull because of an uncommitted change.`,
		Example: "  cortext archive \"api design\"",
		Args:    noneIf(&automatic, cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			if automatic {
				return archiveAll(cmd.Context(), a, w)
			}
			return edit{organise.SetArchived(true), "archived", "already archived"}.applyTo(cmd.Context(), a, w, list)
		}),
	}
	cmd.Flags().BoolVar(&automatic, "automatic", false, "archive the conversations that auto_archive_days and max_conversations select")
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversations as JSON")
	return cmd
}

// noneIf checks the arguments, of which there must be none if a flag is set.
func noneIf(flag *bool, check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if *flag {
			return args(cobra.NoArgs)(cmd, list)
		}
		return args(check)(cmd, list)
	}
}

// archiveAll archives what the settings select, even conversations that are committed unchanged.
func archiveAll(ctx context.Context, a *app, w *opened) error {
	auto := organise.AutoIn(w.Workspace)
	old, err := auto.Old()
	if err != nil {
		return err
	}
	if len(old) == 0 {
		fmt.Fprintln(a.screen.errw, "no conversation is old enough: nothing to do")
	} else if err := auto.Record(old); err != nil { // recorded first, so that a partial run can be undone
		return err
	}
	return edit{organise.SetArchived(true), "archived", "already archived"}.apply(ctx, a, w, old)
}
