package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/hook"
)

func happenedCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "happened -- [EVENT FOLDER MESSAGE ROLE COUNT]…",
		Short:   "Run the workspace's hooks for events (called by cortext)",
		Long:    "Runs the programs in .workspace/hooks for events that have happened. cortext runs this command itself.",
		Example: "  cortext happened -- session-message conversations/2025-11-22/1030-brainstorm-api-design-hv37 01kan assistant 2",
		Hidden:  true,
		RunE: a.quietlyWithin(func(cmd *cobra.Command, w *opened, list []string) error {
			return runHappened(cmd.Context(), a, w, list)
		}),
	}
}

func runHappened(ctx context.Context, a *app, w *opened, list []string) error {
	happened, err := hook.DecodeEvents(list)
	if err != nil {
		return &usageError{err.Error(), "cortext calls this command itself"}
	}
	unlock, err := w.Store.LockCache("happened", turnWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := errors.Join(a.programs(w).runFor(ctx, happened)...); err != nil {
		a.hooks().Failed(w.Workspace, "", "lifecycle", err)
	}
	return nil
}

// turnWait is how long the programs of one event wait for those of another.
const turnWait = time.Minute
