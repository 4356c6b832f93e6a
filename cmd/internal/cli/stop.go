package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/stop"
	"cortext/store"
)

func stopCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stop [<id>]",
		Short: "Save a conversation and pause it",
		Long: `Captures the rest of the agent's transcript, pauses the conversation, and records its
counters, its plan and a summary of where it stopped in session.json. With
"commit: stop" in .workspace/config.yaml it also commits the conversation's folder,
and only that folder; with "commit: ref" it does so without changing a branch.

Without an id, it stops the current conversation. If part of it cannot be saved, stop saves
the rest and exits with 1.`,
		Example: "  cortext stop\n  cortext stop \"api design\"\n  cortext stop \"api design\" --json",
		Args:    args(cobra.ArbitraryArgs),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			return runStop(cmd.Context(), a, w, strings.Join(list, " "))
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

func runStop(ctx context.Context, a *app, w *opened, query string) error {
	if err := discoverAll(ctx, a.screen, w); err != nil {
		return err
	}
	e, err := w.caller().PickOrCurrent(query)
	if err != nil {
		return err
	}
	if err := fetched(ctx, a.terminal, w, e); err != nil {
		return err
	}
	saved := a.Interrupts.Finish()
	showCompacting(a.screen, w.compact)
	stopped, err := stop.New(w.Workspace, w.capture, w.compact).Stop(ctx, e)
	a.screen.clearLine()
	saved()
	if err != nil {
		return err
	}
	if err := pauseIdle(ctx, a, w); err != nil {
		return err
	}
	a.notices(w).remade(e)
	a.screen.warn(messages(stopped.Warnings)...)
	if a.screen.asJSON {
		err = a.screen.json(rowOf(w.Workspace, stopped.Entry))
	} else {
		printStopped(a.screen, stopped)
	}
	a.notices(w).waiting(stopped.Entry)
	return errors.Join(err, unsaved(stopped.Entry, stopped.Unsaved))
}

func printStopped(on screen, stopped *stop.Result) {
	s := stopped.Entry.Session
	if stopped.Unsaved == nil {
		fmt.Fprintf(on.out, "Saved: %s (%s, %s)\n", oneLine(s.DisplayTitle()), s.Status, count(s.MessageCount, "message"))
	}
	if stopped.Committed {
		fmt.Fprintln(on.out, "Committed to git")
	}
	if stopped.Summary != "" {
		fmt.Fprintf(on.out, "Summary: %s\n", oneLine(stopped.Summary))
	}
	if stopped.Unsaved == nil {
		how := "/workspace.resume" // an agent's shell is not a terminal
		if isTerminal(on.out) {
			how = commandToResume(s)
		}
		fmt.Fprintln(on.out, "Resume it with "+how)
	}
}

// unsaved returns the error for a conversation that could not be captured completely
// because of err.
func unsaved(e store.Entry, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%q is not saved in full: %d messages are kept, what is new in the transcript is missing: %w; when that is fixed, run cortext stop again",
		e.Session.DisplayTitle(), e.Session.MessageCount, err)
}
