package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/find"
	"cortext/cmd/internal/flow"
	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/store"
)

func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List conversations, most recent first",
		Long: `Lists the conversations of the workspace, the most recently active first. A note on
standard error names each conversation that has messages waiting outside the work tree,
and says how to put them back.`,
		Example: "  cortext list",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			all, err := w.Store.List()
			if err != nil {
				return err
			}
			a.warnDamage(all)
			a.sayWaiting(w, all...)
			a.sayTwins(w, all...)
			unlisted := unlisted(w)
			a.sayRemoved(w.Removed.LeftoversAmong(all...))
			if asJSON {
				return errors.Join(a.printJSON(rowsOf(w, all)), unlisted)
			}
			if len(all) == 0 && unlisted == nil {
				fmt.Fprintln(a.errw, "no conversations yet: cortext new begins one, cortext import captures one")
			}
			a.table(a.out, all)
			return unlisted
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array of JSON objects")
	return cmd
}

// unlisted returns an error if a list lacks conversations because their folder cannot be
// read.
func unlisted(w *flow.Workspace) error {
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

func (a *app) warnDamage(entries []store.Entry) {
	for _, e := range entries {
		for _, d := range e.Damage {
			a.warn(d.Error())
		}
	}
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status <id> [active|paused|completed]",
		Short:   "Show or set the status of a conversation",
		Long:    "Shows the status of a conversation, or sets it.",
		Example: "  cortext status \"api design\" completed",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			var words []string
			for _, s := range schema.Statuses() {
				words = append(words, string(s))
			}
			query, status := list, ""
			if last := list[len(list)-1]; len(list) > 1 {
				for _, word := range words {
					if last == word {
						query, status = list[:len(list)-1], last
					}
				}
				if word := find.NearestWord(words, last); status == "" && word != "" {
					return &usageError{fmt.Sprintf("there is no status %q: it is one of %s", last, strings.Join(words, ", ")), near("", word, "")}
				}
			}
			w, err := a.open(cmd)
			if err != nil {
				return err
			}
			defer a.close(cmd.Context(), w)
			e, err := w.Pick(strings.Join(query, " "))
			if err != nil {
				return err
			}
			if status != "" {
				paused, err := w.SetStatus(e, schema.Status(status))
				if err != nil {
					return err
				}
				e.Session.Status = schema.Status(status)
				a.sayPaused(paused)
			}
			a.sayRemoved(w.Removed.LeftoversAmong(e))
			if asJSON {
				return a.printJSON(rowOf(w, e))
			}
			fmt.Fprintf(a.out, "%s is %s\n", oneLine(e.Session.DisplayTitle()), workspace.ShownStatus(e))
			a.sayWaiting(w, e)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func (a *app) titleCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "title <id> <text>",
		Short:   "Rename a conversation",
		Long:    "Changes the title of a conversation. Its folder keeps its name, because links and commits refer to it.",
		Example: "  cortext title 1030-brainstorm-api-design-hv37 \"API Design Discussion\"",
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, list []string) error {
			e, err := w.Pick(list[0])
			if err != nil {
				return err
			}
			if e.Session, err = w.SetTitle(e, strings.Join(list[1:], " ")); err != nil {
				return err
			}
			a.sayRemoved(w.Removed.LeftoversAmong(e))
			if asJSON {
				return a.printJSON(rowOf(w, e))
			}
			fmt.Fprintf(a.out, "%s: %s\n", visible(e.Path), oneLine(e.Session.DisplayTitle()))
			a.sayWaiting(w, e)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func (a *app) currentCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "current",
		Short: "Show the current conversation",
		Long: `Shows the conversation that commands use if you give no id: the one in
CORTEXT_SESSION, or else the one of the agent session that runs the command, or else
the only active one.`,
		Example: "  cortext current",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			if err := a.discover(cmd.Context(), w); err != nil {
				return err
			}
			if err := a.sayAllWaiting(w); err != nil {
				return err
			}
			e, err := w.Current()
			if err != nil {
				return err
			}
			a.sayTwins(w, e)
			if asJSON {
				return a.printJSON(rowOf(w, e))
			}
			a.table(a.out, []store.Entry{e})
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func (a *app) stopCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stop [<id>]",
		Short: "Save a conversation and pause it",
		Long: `Captures the rest of the agent's transcript, pauses the conversation, and records its
counters, its plan and a summary of where it stopped in session.json. With
"commit: stop" in .workspace/config.yaml it also commits the conversation's folder,
and only that folder. Without an id, it stops the current conversation. If part of it
cannot be saved, stop saves the rest and exits with 1.`,
		Example: "  cortext stop \"api design\"",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, list []string) error {
			if err := a.discoverAll(cmd.Context(), w); err != nil {
				return err
			}
			e, err := w.PickOrCurrent(strings.Join(list, " "))
			if err != nil {
				return err
			}
			if err := a.fetched(cmd.Context(), w, e); err != nil {
				return err
			}
			saved := a.interrupts.finish()
			done := a.showSumming(w)
			stopped, err := w.Stop(cmd.Context(), e)
			done()
			saved()
			if err != nil {
				return err
			}
			if err := a.pauseIdle(cmd.Context(), w); err != nil {
				return err
			}
			for _, warning := range stopped.Warnings {
				a.warn(warning.Error())
			}
			if asJSON {
				err = a.printJSON(rowOf(w, stopped.Entry))
			} else {
				a.printStopped(stopped)
			}
			a.sayWaiting(w, stopped.Entry)
			return errors.Join(err, a.unsaved(stopped))
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func (a *app) printStopped(stopped *flow.StopResult) {
	s := stopped.Entry.Session
	if stopped.Unsaved == nil {
		fmt.Fprintf(a.out, "Saved: %s (%s, %d messages)\n", oneLine(s.DisplayTitle()), s.Status, s.MessageCount)
	}
	if stopped.Committed {
		fmt.Fprintln(a.out, "Committed to git")
	}
	if stopped.Summary != "" {
		fmt.Fprintf(a.out, "Summary: %s\n", oneLine(stopped.Summary))
	}
	if stopped.Unsaved == nil {
		fmt.Fprintln(a.out, "Take it up again with /workspace.resume")
	}
}

// unsaved returns the error for a stop that did not save everything.
func (a *app) unsaved(stopped *flow.StopResult) error {
	if stopped.Unsaved == nil {
		return nil
	}
	s := stopped.Entry.Session
	return fmt.Errorf("%q is not saved in full: %d messages are kept, what is new in the transcript is missing: %w; when that is mended, run cortext stop again",
		s.DisplayTitle(), s.MessageCount, stopped.Unsaved)
}
