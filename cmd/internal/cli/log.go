package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/commits"
	"cortext/cmd/internal/git"
	"cortext/schema"
)

func logCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log [<id>]",
		Short: "List the commits of a conversation",
		Long: `Lists the commits, of all branches, that name a conversation: those made while it was
active, if cortext init --link-commits was run in the clone, and those of the conversation
itself. Commits that Gemini CLI makes do not name one: cortext why guesses it. Without an id,
log lists those of the current conversation.`,
		Example: "  cortext log \"api design\"",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runLog(cmd, a, w, strings.Join(list, " "))
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print JSON")
	return cmd
}

// loggedRow is the JSON of a commit; its fields are stable.
type loggedRow struct {
	ID      string      `json:"id"`
	At      schema.Time `json:"at"`
	Subject string      `json:"subject"`
}

func loggedRowOf(c git.Logged) loggedRow { return loggedRow{c.ID, schema.NewTime(c.At), c.Subject} }

func runLog(cmd *cobra.Command, a *app, w *opened, query string) error {
	e, err := w.caller().PickOrCurrent(query)
	if err != nil {
		return err
	}
	all, err := commits.Of(w.Workspace).Log(cmd.Context(), e)
	if err != nil {
		return err
	}
	if a.screen.asJSON {
		rows := []loggedRow{}
		for _, c := range all {
			rows = append(rows, loggedRowOf(c))
		}
		return a.screen.json(rows)
	}
	for _, c := range all {
		fmt.Fprintf(a.screen.out, "%.12s  %s  %s\n", c.ID, a.screen.agoTime(c.At), oneLine(c.Subject))
	}
	if len(all) == 0 {
		a.screen.hint("no commit names this conversation: after cortext init --link-commits new ones do, except those that Gemini CLI itself makes; for the others, cortext why guesses")
	}
	return nil
}
