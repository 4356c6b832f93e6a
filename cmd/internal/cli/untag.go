package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func untagCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "untag <tag>[,<tag>...] [<id>...]",
		Short:   "Remove tags from conversations",
		Long:    "Removes tags from conversations; without an id, from the current one.",
		Example: "  cortext untag urgent \"api design\"",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			tags, err := organise.ParseTags(list[0])
			if err != nil {
				return err
			}
			shown := oneLine(strings.Join(tags, ", "))
			return edit{organise.Untag(tags), "no longer tagged " + shown, "was not tagged " + shown}.applyTo(cmd.Context(), a, w, list[1:])
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversations as JSON")
	return cmd
}
