package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
)

func statusCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status <id> [active|paused|completed]",
		Short:   "Show or set the status of a conversation",
		Long:    "Shows the status of a conversation, or sets it.",
		Example: "  cortext status \"api design\"\n  cortext status \"api design\" completed\n  cortext status \"api design\" paused --json",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return runStatus(a, cmd, list)
		},
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func runStatus(a *app, cmd *cobra.Command, list []string) error {
	query, status, err := statusIn(list)
	if err != nil {
		return err
	}
	w, err := a.open(cmd)
	if err != nil {
		return err
	}
	defer a.close(cmd.Context(), w)
	e, err := w.Pick(query)
	if err != nil {
		a.notices(w).oneSided(cmd.Context(), "") // git may have deleted some of its files
		return err
	}
	if status != "" {
		paused, err := w.Status.Set(e, status)
		if err != nil {
			return err
		}
		e.Session.Status = status
		a.screen.paused(paused)
	}
	a.notices(w).oneSided(cmd.Context(), e.Path)
	a.notices(w).removed(w.Removed.LeftoversAmong(e))
	if a.screen.asJSON {
		return a.screen.json(rowOf(w.Workspace, e))
	}
	fmt.Fprintf(a.screen.out, "%s is %s\n", oneLine(e.Session.DisplayTitle()), workspace.ShownStatus(e))
	a.notices(w).waiting(e)
	return nil
}

// statusIn splits the arguments into a query and the status to set, or "".
func statusIn(list []string) (query string, status schema.Status, err error) {
	last := len(list) - 1
	if last > 0 {
		known := names(schema.Statuses())
		if slices.Contains(known, list[last]) {
			return strings.Join(list[:last], " "), schema.Status(list[last]), nil
		}
		if word := find.NearestWord(known, list[last]); word != "" {
			return "", "", &usageError{fmt.Sprintf("there is no status %q: it is one of %s", list[last], strings.Join(known, ", ")), near("", word, "")}
		}
	}
	return strings.Join(list, " "), "", nil
}
