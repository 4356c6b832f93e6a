package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/workspace"
)

func listCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List conversations, most recent first",
		Long: `Lists the conversations of the workspace, the most recently active first. A note on
standard error names each conversation that has messages waiting outside the work tree,
and says how to put them back.`,
		Example: "  cortext list",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(_ *cobra.Command, w *opened, _ []string) error {
			return runList(a, w, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array of JSON objects")
	return cmd
}

func runList(a *app, w *opened, asJSON bool) error {
	all, err := w.Store.List()
	if err != nil {
		return err
	}
	say := a.notices(w)
	say.damage(all)
	say.waiting(all...)
	say.twins(all...)
	unlisted := unlisted(w.Workspace)
	say.removed(w.Removed.LeftoversAmong(all...))
	if asJSON {
		return errors.Join(a.screen.json(rowsOf(w.Workspace, all)), unlisted)
	}
	if len(all) == 0 && unlisted == nil {
		fmt.Fprintln(a.screen.errw, "no conversations yet: cortext new begins one, cortext import captures one")
	}
	a.screen.table(all)
	return unlisted
}

// unlisted returns an error if a list lacks conversations because their folder cannot be
// read.
func unlisted(w *workspace.Workspace) error {
	damage, err := w.Store.Unlisted()
	if err != nil || len(damage) == 0 {
		return err
	}
	names := make([]string, len(damage))
	for i, d := range damage {
		names[i] = d.File
	}
	return fmt.Errorf("the conversations in %s are not listed, since it cannot be read: make it readable", strings.Join(names, ", "))
}
