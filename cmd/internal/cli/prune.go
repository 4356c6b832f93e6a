package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func pruneCommand(a *app) *cobra.Command {
	var o pruneOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove old conversations",
		Long: `Removes the conversations that match all given criteria, as cortext rm does,
and asks first. It never removes an active conversation. Commits that contain a conversation
stay in git.`,
		Example: "  cortext prune --older-than 180d --archived --dry-run",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, _ []string) error {
			return runPrune(cmd, a, w, o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.olderThan, "older-than", "", "remove conversations without activity for this `TIME`, such as 12h, 90d, 8w")
	f.IntVar(&o.keep, "keep", 0, "keep the `N` most recently active of the selected conversations")
	f.BoolVar(&o.archived, "archived", false, "remove only archived conversations")
	f.BoolVar(&o.dryRun, "dry-run", false, "list what would be removed; changes nothing")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask for confirmation")
	return cmd
}

type pruneOptions struct {
	olderThan             string
	keep                  int
	archived, dryRun, yes bool
}

func runPrune(cmd *cobra.Command, a *app, w *opened, o pruneOptions) error {
	p := organise.Prune{Archived: o.archived, Keep: o.keep}
	if cmd.Flags().Changed("older-than") {
		age, ok := organise.ParseAge(o.olderThan)
		if !ok {
			return &usageError{fmt.Sprintf("--older-than %q is not a time such as 12h, 90d or 8w", o.olderThan), "run " + cmd.CommandPath() + " --help"}
		}
		p.Before = a.Now().Add(-age)
	}
	switch {
	case o.keep < 0:
		return &usageError{"--keep must not be negative", ""}
	case p.Before.IsZero() && !o.archived && !cmd.Flags().Changed("keep"):
		return &usageError{"say what to remove: --older-than, --archived or --keep", "run " + cmd.CommandPath() + " --help"}
	}
	all, err := w.Store.Outlines()
	if err != nil {
		return err
	}
	gone := p.Select(all)
	if len(gone) == 0 {
		fmt.Fprintln(a.screen.errw, "no conversation matches: nothing to remove")
		return nil
	}
	if o.dryRun {
		a.screen.table(gone)
		fmt.Fprintf(a.screen.errw, "%s would be removed\n", count(len(gone), "conversation"))
		return nil
	}
	yes := o.yes
	if !yes {
		if yes, err = confirmRemoval(cmd.Context(), a.terminal, gone); err != nil || !yes {
			return err
		}
	}
	return remove(cmd.Context(), a.screen, w, gone)
}
