package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/summarize"
	"cortext/store"
)

func titleCommand(a *app) *cobra.Command {
	var auto bool
	cmd := &cobra.Command{
		Use:   "title [<id>] <text>",
		Short: "Rename a conversation",
		Long: `Changes the title of a conversation; without an id, of the current one. Its folder keeps
its name, because links and commits refer to it.

With --auto, cortext makes titles for the conversations that you name. If the "summarizer"
setting is agent (the agent that the conversation was held in) or openai (an endpoint set in
the environment), it asks a model. Otherwise it uses the first prompt.`,
		Example: `  cortext title 1030-brainstorm-api-design-hv37 "API Design Discussion"
  cortext title --auto "api design"`,
		Args: args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			if auto {
				return runAutoTitle(cmd.Context(), a, w, list)
			}
			if len(list) == 0 {
				return &usageError{"the new title is missing", "name the conversation, then the title; or let --auto make one"}
			}
			return runTitle(a, w, list)
		}),
	}
	cmd.Flags().BoolVar(&auto, "auto", false, "make titles with the summarizer from the settings; takes several ids")
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversation as JSON; with --auto, a list")
	return cmd
}

func runTitle(a *app, w *opened, list []string) error {
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
	before := e.Session.Title
	if e.Session, err = w.SetTitle(e, text); err != nil {
		return err
	}
	a.notices(w).remade(e)
	a.notices(w).removed(w.Removed.LeftoversAmong(e))
	if a.screen.asJSON {
		return a.screen.json(rowOf(w.Workspace, e))
	}
	already := ""
	if before == e.Session.Title {
		already = "already called "
	}
	fmt.Fprintf(a.screen.out, "%s: %s%s\n", visible(e.Path), already, oneLine(e.Session.DisplayTitle()))
	a.notices(w).waiting(e)
	return nil
}

// runAutoTitle makes titles for conversations. It continues after a failure, unless the model
// does not answer at all.
func runAutoTitle(ctx context.Context, a *app, w *opened, queries []string) error {
	entries, err := pickMany(w, queries)
	if err != nil {
		return err
	}
	var errs []error
	rows := []row{}
	for i, e := range entries {
		a.screen.progress("making a title for conversation %d of %d", i+1, len(entries))
		before := e.Session.DisplayTitle()
		e, err = autoTitle(ctx, w, e)
		a.screen.clearLine()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			errs = append(errs, fmt.Errorf("no title for %s: %w", visible(e.Path), err))
		case a.screen.asJSON:
			rows = append(rows, rowOf(w.Workspace, e))
		case before == e.Session.DisplayTitle():
			fmt.Fprintf(a.screen.out, "%s: already called %s\n", visible(e.Path), oneLine(before))
		default:
			fmt.Fprintf(a.screen.out, "%s: %s (was %s)\n", visible(e.Path), oneLine(e.Session.DisplayTitle()), oneLine(before))
		}
		if left := len(entries) - i - 1; summarize.Away(err) && left > 0 {
			errs = append(errs, fmt.Errorf("%s not tried", count(left, "more conversation")))
			break
		}
	}
	return errors.Join(append(errs, showChanged(a, w, entries, rows))...)
}

// autoTitle makes a title for a conversation and sets it.
func autoTitle(ctx context.Context, w *opened, e store.Entry) (store.Entry, error) {
	title, err := w.compact.Title(ctx, e)
	if err != nil {
		return e, err
	}
	s, err := w.SetTitle(e, title)
	if err == nil {
		e.Session = s
	}
	return e, err
}
