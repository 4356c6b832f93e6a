package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func titleCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "title [<id>] <text>",
		Short: "Rename a conversation",
		Long: `Changes the title of a conversation; without an id, of the current one. Its folder keeps
its name, because links and commits refer to it.`,
		Example: "  cortext title 1030-brainstorm-api-design-hv37 \"API Design Discussion\"",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(_ *cobra.Command, w *opened, list []string) error {
			return runTitle(a, w, list, asJSON)
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func runTitle(a *app, w *opened, list []string, asJSON bool) error {
	query, text := list[0], strings.Join(list[1:], " ")
	if len(list) == 1 {
		if _, err := w.Pick(list[0]); err == nil {
			return &usageError{fmt.Sprintf("what is the new title of %q?", list[0]), "name the conversation, then the title"}
		}
		query, text = "", list[0]
	}
	e, err := w.caller().PickOrCurrent(query)
	if err != nil {
		return err
	}
	if e.Session, err = w.SetTitle(e, text); err != nil {
		return err
	}
	a.notices(w).removed(w.Removed.LeftoversAmong(e))
	if asJSON {
		return a.screen.json(rowOf(w.Workspace, e))
	}
	fmt.Fprintf(a.screen.out, "%s: %s\n", visible(e.Path), oneLine(e.Session.DisplayTitle()))
	a.notices(w).waiting(e)
	return nil
}
